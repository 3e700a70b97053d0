"""The guard of front matter: its limits, what it refuses, and the keys that it lets through."""

from __future__ import annotations

from memory.base.limits import MAX_BYTES, MAX_DEPTH
from memory.named_tuple import NamedTuple

MAX_LINES = 512

_REFUSED = {
    "size": f"the front matter is larger than {MAX_BYTES // 1024} KB",
    "lines": f"the front matter has more than {MAX_LINES} lines",
    "nesting": f"the front matter is nested deeper than {MAX_DEPTH} levels",
    "anchor": "the front matter uses an anchor (&)",
    "alias": "the front matter uses an alias (*)",
    "tag": "the front matter uses a tag (!)",
    "merge": "the front matter uses a merge key (<<)",
    "documents": "the front matter holds more than one YAML document",
    "mapping": "the front matter is not a list of `key: value` lines",
    "key": "a key in the front matter is not plain text",
    "character": "the front matter holds a character that YAML does not allow",
}


class FrontRefused(Exception):
    """The guard stops here; `problem` is (line in the front matter, code, sentence)."""

    def __init__(self, what: str, line: int, message: str = "") -> None:
        """Name what was found, and say it in the usual sentence unless another is given."""
        super().__init__(what)
        self.problem = (line, f"front.{what}", message or _REFUSED[what])


class FrontKey(NamedTuple):
    """One key at the top and where its value stands: lines of the front matter from 0, columns in characters.

    `value` is text, a list or a mapping; `style` is the quote of a scalar, or empty.
    """

    key: str
    value: object
    column: int
    line: int
    start: int
    end_line: int
    end: int
    style: str = ""


def duplicate(line: int, key: str) -> tuple[int, str, str]:
    """Return the problem of a key that stands twice in one mapping."""
    return line, "front.duplicate", f"the key {key[:40]!r} stands in the front matter twice; the first counts"
