"""What a list says of each task, read off the bytes of the usual entry: a list may have thousands of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory.document.fields import bytes_may_hide
from memory.document.lines_and_headings import ESCAPES
from memory.named_tuple import NamedTuple

from .values import NO_DUE, PRIORITIES, DueValue, Head, read_due, read_progress, text_or_none, usual_heading

if TYPE_CHECKING:
    from memory.document import Entry


class TaskRow(NamedTuple):
    """The cells of a task; each value is what the property of `Task` with that name has."""

    priority: str | None
    title: str
    due: DueValue = NO_DUE
    assigned: str | None = None
    progress: int | None = None


def read_row(entry: Entry) -> TaskRow:
    """Return the row of a task; its other fields are not read, as long as nothing in the entry is unusual."""
    raw = entry.raw
    heading = usual_heading(raw)
    if heading is not None:
        priority, title = _PRIORITIES[heading[0]], heading[1].decode("utf-8", ESCAPES)
    else:
        head = entry.memo(Head)
        priority, title = head.priority, head.title
    try:
        # A second blank or another line end would make a field that is not looked for.
        if b"\n-  " in raw or b"\r" in raw or bytes_may_hide(raw):
            raise _Unusual
        due, assigned, progress = _value(raw, _DUE), _value(raw, _ASSIGNED), _value(raw, _PROGRESS)
    except _Unusual:
        fields = entry.fields
        due, assigned, progress = fields.get("due"), fields.get("assigned"), fields.get("progress")
    return TaskRow(
        priority,
        title,
        read_due(due) if due else NO_DUE,
        text_or_none(assigned) if assigned else None,
        read_progress(progress) if progress else None,
    )


_PRIORITIES: dict[bytes | None, str | None] = {None: None, **{name.encode(): name for name in PRIORITIES}}
_DUE, _ASSIGNED, _PROGRESS = b"\n- due:", b"\n- assigned:", b"\n- progress:"


class _Unusual(Exception):
    """A value that only a look at all fields finds."""


def _value(raw: bytes, key: bytes) -> str | None:
    """Return the value of the first line with a key, None without one; raises _Unusual for one that may go on."""
    at = raw.find(key)
    if at < 0:
        return None
    start = at + len(key)
    end = raw.find(b"\n", start)
    if end < 0:
        end = len(raw)
    elif raw[end + 1 : end + 2] in b" \t\n" and raw[end:].strip(b" \t\n"):
        raise _Unusual
    if start < end and raw[start] != 32:
        raise _Unusual
    return raw[start:end].strip(b" \t").decode("utf-8", ESCAPES)
