"""Front matter: read behind a guard, with every scalar as text, and changed one line at a time.

YAML can be made to crash, to run for minutes and to turn `10:30` into 630. So only a small, flat part of it is read: no
anchors, aliases, tags or merge keys, one document, a mapping at the top, little nesting, a bounded size. Refused front
matter stays opaque, byte for byte, with a problem that says why. The usual `key: value` lines do not load YAML.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from memory.base.values import MAX_BYTES
from memory.errors import MemdeckError, UsageError

from .guarded_yaml import MAX_LINES, FrontKey, FrontRefused, duplicate, read_yaml

_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
# The plain scalars that need no YAML: words of harmless characters with single spaces between them, colons only inside
# a word.
_PLAIN = r"[{word}./](?:[{word}./@+()',-]|:(?=[{word}/])| (?=[{word}./@+()',-]))*"
_FLAT_LINE = re.compile(
    r"(?:([A-Za-z_][A-Za-z0-9_-]{0,99}):(?: +(" + _PLAIN.format(word="A-Za-z0-9_") + r"))? *|#[ -~]*)?",
    re.ASCII,
)
_PLAIN_VALUE = re.compile(_PLAIN.format(word=r"\w"))
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,99}", re.ASCII)
_UNWRITABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")
# Plain scalars that other YAML readers take for a number of another base, minutes and seconds, or a boolean.
_MISREAD = re.compile(
    r"(?i:[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?|[-+]?0[0-9_]+|0[xbo][0-9a-f_]+|[-+]?[0-9_]*_[0-9_.]*"
    r"|[-+]?[0-9.]+e[-+]?[0-9]+|[-+]?\.(?:inf|nan)|yes|no|on|off|y|n)"
)


class FrontMatter(NamedTuple):
    """The parsed front matter; of equal keys the first counts.

    `data` holds text, lists and mappings (text as written, unquoted: dates, numbers and `true` are text). `opaque` says
    that the guard refused it: then `data` is empty. `problems` are (line from 0, code, sentence).
    """

    items: tuple[FrontKey, ...] = ()
    opaque: bool = False
    problems: tuple[tuple[int, str, str], ...] = ()
    data: Mapping[str, object] = {}

    @classmethod
    def read(cls, front: str) -> FrontMatter:
        """Read front matter with its opening and closing lines; never fails; YAML is loaded only where needed."""
        lines = _LINES.findall(front)[1:-1]
        try:
            if len(lines) > MAX_LINES:
                raise FrontRefused("lines", MAX_LINES + 1)
            inner = "".join(lines)
            if len(inner) > MAX_BYTES or len(inner.encode("utf-8", "surrogatepass")) > MAX_BYTES:
                raise FrontRefused("size", 0)
            items = _read_flat(lines)
            problems: list[tuple[int, str, str]] = []
            if items is None:
                items, problems = read_yaml(inner)
        except FrontRefused as refused:
            return cls(opaque=True, problems=(refused.problem,))
        data: dict[str, object] = {}
        for item in items:
            if item.key in data:
                problems.append(duplicate(item.line, item.key))
            data.setdefault(item.key, item.value)
        return cls(tuple(items), problems=tuple(sorted(set(problems))), data=data)

    def get(self, key: str) -> str | None:
        """Return the text of a scalar, "" where nothing follows the colon; None if there is none."""
        value = self.data.get(key)
        return value if isinstance(value, str) else None

    def line_of(self, key: str) -> int | None:
        """Return the line (from 0, the opening line is 0) of a key's value; None if the key is not there."""
        return next((item.line for item in self.items if item.key == key), None)


@lru_cache(16)
def read_front(front: str) -> FrontMatter:
    """Return what `FrontMatter.read` returns, cached: files of one folder often have the same front matter."""
    return FrontMatter.read(front)


def _read_flat(lines: list[str]) -> list[FrontKey] | None:
    """Read front matter of plain `key: value` lines and comments; None if it holds anything else."""
    items = []
    for number, line in enumerate(lines, 1):
        found = _FLAT_LINE.fullmatch(line.rstrip("\r\n"))
        if found is None:
            return None
        if found[1]:
            start, end = found.span(2) if found[2] else (found.end(1) + 1,) * 2
            items.append(FrontKey(found[1], found[2] or "", 0, number, start, number, end))
    return items


def set_key(front: str, key: str, value: str, newline: str = "\n") -> str:
    """Return the front matter with one key set to a text; exactly one line changes or is added.

    The line keeps its comment, spacing, quoting style and line end; a text that YAML would misread is quoted. A new key
    goes before the closing line; where `front` is empty, front matter is created with `newline`. Of equal keys the
    first changes. Raises UsageError `front.key` or `front.value` for a key or value that cannot be written,
    MemdeckError `front.opaque` where the guard refused the front matter, `front.multiline` where the value has several
    lines.
    """
    if not (key.isascii() and key.isalpha() and len(key) <= 100) and not _KEY.fullmatch(key):
        raise UsageError("front.key", f"{key[:40]!r} cannot be a key of the front matter")
    if not (value.isascii() and value.isprintable()) and _UNWRITABLE.search(value):
        raise UsageError("front.value", f"the value of {key} holds a line end or a control character")
    before = FrontMatter.read(front)
    if before.opaque:
        _, code, message = before.problems[0]
        raise MemdeckError("front.opaque", message, "change it by hand", reason=code)
    if not front:
        front = f"---{newline}---{newline}"
    item = next((item for item in before.items if item.key == key), None)
    if item is not None and item.line != item.end_line:
        raise MemdeckError("front.multiline", f"the value of {key} has several lines", "change it by hand")
    expected = {**before.data, key: value}
    for form in _forms(value, item.style if item else ""):
        changed = _replace(front, item, form) if item else _insert(front, before, f"{key}: {form}")
        after = FrontMatter.read(changed)
        if after.data == expected and len(after.problems) == len(before.problems):
            return changed
    raise MemdeckError("front.opaque", f"the front matter cannot take the key {key} in one line", "change it by hand")


def _replace(front: str, item: FrontKey, form: str) -> str:
    lines = _LINES.findall(front)
    line = lines[item.line]
    space = " " if line[item.start - 1 : item.start] == ":" else ""
    lines[item.line] = line[: item.start] + space + form + line[item.end :]
    return "".join(lines)


def _insert(front: str, before: FrontMatter, text: str) -> str:
    lines = _LINES.findall(front)
    indent = " " * before.items[0].column if before.items else ""
    end = lines[0][len(lines[0].rstrip("\r\n")) :]
    lines.insert(len(lines) - 1, indent + text + end)
    return "".join(lines)


def _forms(value: str, style: str) -> list[str]:
    """Return the ways to write a text, the one in the style of the old value first."""
    single = "'" + value.replace("'", "''") + "'"
    double = '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if style == "'":
        return [single, double]
    if style or _MISREAD.fullmatch(value) or not _PLAIN_VALUE.fullmatch(value):
        return [double, single]
    return [value, double]
