"""The base of all packages of the core: clock, dates, schedules, safe text, secrets."""

from __future__ import annotations
