"""Forms, fields, editors and the filter bar."""

from __future__ import annotations
