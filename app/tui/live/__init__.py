"""What happens while the application is open: refresh, changes from outside, schedules, jobs."""

from __future__ import annotations
