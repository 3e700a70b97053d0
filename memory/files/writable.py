"""Which files are shown, but not written, for what stands in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory.document.source import conflict_at
from memory.errors import MemdeckError, RefusedError

if TYPE_CHECKING:
    from memory.document import Document

_FOREIGN = (b"\xff\xfe", b"\xfe\xff", b"\0")


def refuse_unwritable(name: str, document: Document) -> None:
    """Raise MemdeckError `file.conflict_markers` for a merge that is not done, RefusedError `file.not_text` for what
    is in another encoding, or no text: UTF-8 in the middle of it would make it unreadable for everybody.
    """
    data = document.dump()
    if data.startswith(_FOREIGN):
        raise RefusedError(
            "file.not_text",
            f"{name} is not UTF-8 text: it begins with {' '.join(f'{byte:02x}' for byte in data[:2])}",
            "save it as UTF-8 (UTF-16 is what some editors call Unicode), or put back what it was",
            file=name,
        )
    if conflict_at(data) is not None:
        raise MemdeckError(
            "file.conflict_markers",
            f"git's conflict markers stand in {name}",
            "resolve them in an editor; until then memdeck only reads the file",
            file=name,
        )
