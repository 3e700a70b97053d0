"""The meaning of a task typed in one line, part by part, to show below the line while it is typed."""

from __future__ import annotations

from datetime import datetime, tzinfo

from memory.files.tasks.quick import read_quick
from widgets.input.date_fields import next_run_words

_LABELS = {
    "title": "title",
    "due": "due",
    "recurring": "recurs",
    "priority": "priority",
    "assigned": "assigned",
    "tags": "tags",
}
_SIGNS = {"priority": "!", "assigned": "@", "tags": "#"}
HELP = "!high @name #tag anywhere; the date, and every … or daily, at its end"
"""The help shown below an empty line."""


def quick_words(text: str, now: datetime, zone: tzinfo, *, short: bool = False) -> str:
    """Return what a line means, a part a line; `short`: priority, assignee and tags share one line."""
    if not text.strip():
        return HELP
    found = read_quick(text, now, zone)
    lines: list[str] = [] if found.title else [f"{'title':<8} ({found.error})"]
    signs: list[str] = []
    for name, label in _LABELS.items():
        parts = [part for part in found.parts if part.name == name]
        # Of several parts of one name only the last one counts, except for tags.
        words = dict.fromkeys(part.error or part.meaning for part in (parts if name == "tags" else parts[-1:]))
        if short and name in _SIGNS:
            signs += [f"{_SIGNS[name]}{word}" for word in words]
        elif words:
            lines.append(f"{label:<8} {', '.join(words)}")
        if name == "recurring" and found.recurring and not short:
            lines.append(f"{'next':<8} {next_run_words(found.recurring, now, zone)}")
    return "\n".join([*lines, *([" ".join(signs)] if signs else [])])
