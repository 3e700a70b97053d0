"""The meaning of a task typed in one line, part by part, to show below the line while it is typed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo

from memory.files.tasks.quick import QuickPart, QuickTask, read_quick
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
_WIDTH = 8
_BETWEEN = " · "
_IN_A_ROW = 3
HELP = "!high @name #tag anywhere; the date, and every … or daily, at its end"
"""The help shown below an empty line."""


def quick_words(text: str, now: datetime, zone: tzinfo, *, short: bool = False) -> str:
    """Each part of a typed line with its name, one per line; help for an empty one.

    `short`: priority, person and tags share one line with their signs, and the next runs are left out.
    """
    if not text.strip():
        return HELP
    found = read_quick(text, now, zone)
    lines: list[str] = []
    for name in _LABELS:
        if short and name in _SIGNS:
            continue
        lines.append(_line(name, [part for part in found.parts if part.name == name]))
        if name == "recurring" and found.recurring and not short:
            lines += _runs(next_run_words(found.recurring, now, zone))
    if short:
        lines.append(" ".join(f"{_SIGNS[part.name]}{part.meaning}" for part in found.parts if part.name in _SIGNS))
    if not found.title:
        lines.insert(0, _labelled("title", f"({found.error})"))
    return "\n".join(line for line in lines if line)


def _runs(words: str) -> list[str]:
    """The next runs, three per line, so that a terminal of 80 columns does not break them elsewhere."""
    runs = words.split(_BETWEEN)
    rows = [_BETWEEN.join(runs[start : start + _IN_A_ROW]) for start in range(0, len(runs), _IN_A_ROW)]
    return [f"{'next' if not number else '':<{_WIDTH}} {row}" for number, row in enumerate(rows)]


def _line(name: str, parts: Sequence[QuickPart]) -> str:
    if not parts:
        return ""
    # Of several parts of one name only the last one counts, except for tags.
    shown = (
        list(dict.fromkeys(part.error or part.meaning for part in parts))
        if name == "tags"
        else [parts[-1].error or parts[-1].meaning]
    )
    return _labelled(name, ", ".join(shown))


def _labelled(name: str, words: str) -> str:
    return f"{_LABELS[name]:<{_WIDTH}} {words}"


def quick_error(text: str, now: datetime, zone: tzinfo) -> str | None:
    """Why no task can be made from a line; None where one can."""
    found: QuickTask = read_quick(text, now, zone)
    return found.error or None
