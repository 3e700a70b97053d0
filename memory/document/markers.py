"""Git's conflict markers in a document: a merge that is not done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory.base.patterns import late

if TYPE_CHECKING:
    from .model import Document

_MARKERS = late(rb"(?:\A|(?<=[\r\n]))(?:(<{7}) [^\r\n]*|(={7})|(>{7}) [^\r\n]*)(?=[\r\n]|\Z)")


def has_conflict_markers(document: Document) -> bool:
    """Tell whether git's conflict markers stand in the file: it is shown, but not written."""
    return conflict_at(document.dump()) is not None


def conflict_at(data: bytes) -> int | None:
    """Return the offset of the first `<<<<<<<` line that `=======` and `>>>>>>>` lines follow in this order."""
    # From the end: for a row of equal characters that search is three times as fast.
    if data.rfind(b">>>>>>>") < 0 or b"<<<<<<< " not in data:
        return None
    begin: int | None = None
    parted = False
    for mark in _MARKERS.finditer(data):
        if mark[1]:
            begin, parted = mark.start(), False
        elif mark[2]:
            parted = begin is not None
        elif parted:
            return begin
    return None
