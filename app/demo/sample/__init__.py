"""The sample workspace as Markdown templates; `app.demo.workspace` fills in the dates."""

from __future__ import annotations
