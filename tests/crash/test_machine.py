"""A short life of a workspace in which anything may happen next; `python -m tests.crash machine` runs long ones."""

from __future__ import annotations

import pytest

from tests.crash.machine import FEW, Machine

pytestmark = pytest.mark.thorough

Machine.TestCase.settings = FEW
TestMachine = Machine.TestCase
