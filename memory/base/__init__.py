"""What every room of the core stands on: clock, dates, schedules, safe text, secrets."""

from __future__ import annotations
