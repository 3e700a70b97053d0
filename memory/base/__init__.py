"""What all packages of the core build on: clock, dates, schedules, safe text, secrets."""

from __future__ import annotations
