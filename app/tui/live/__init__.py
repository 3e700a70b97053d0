"""What happens while the application is open: refresh, outside changes, schedules, jobs."""

from __future__ import annotations
