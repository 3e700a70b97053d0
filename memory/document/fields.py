"""Fields and bullets of a block's body: `- key: value` lines with their spans, read and edited as text.

A body is `str`, decoded with `surrogateescape`, so that every byte comes back as it was. Offsets are characters
of that body. What stands in a code fence or an HTML block is neither field nor bullet.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from memory.errors import UsageError

KEY = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_REST = r"(?:(?:\r?\n[ \t]*)*\r?\n[ \t]+[^ \t\r\n][^\r\n]*)*"
_REST_CR = r"(?:(?:(?>\r\n|\n|\r)[ \t]*)*(?>\r\n|\n|\r)[ \t]+[^ \t\r\n][^\r\n]*)*"
_FIELD_LINE = r"- {1,4}([A-Za-z][A-Za-z0-9_-]*):(?: ([^\r\n]*)|(?=[\r\n]|\Z))"
_BULLET_LINE = r"([-*+])(?: {1,4}([^\r\n]*)|(?=[\r\n]|\Z))"
# A pair of forms each: over a whole body without code, and at one line start, where a lone carriage return counts.
_FIELD = (re.compile(rf"^{_FIELD_LINE}({_REST})", re.MULTILINE), re.compile(rf"{_FIELD_LINE}({_REST_CR})"))
_BULLET = (re.compile(rf"^{_BULLET_LINE}({_REST})", re.MULTILINE), re.compile(rf"{_BULLET_LINE}({_REST_CR})"))
_SUSPECT = re.compile(r"```|~~~|<[A-Za-z/!?]|\r(?!\n)")
_LINE = re.compile(r"([^\r\n]*)(\r\n|\n|\r|\Z)")


@dataclass(frozen=True, slots=True)
class Field:
    """One `- key: value`: the value as read, its body line (from 0), and the spans in the body.

    `start:end` covers the whole lines with their line ends, `value_start:value_end` what a new value replaces
    (continuation lines included, the last line end not).
    """

    key: str
    value: str
    line: int
    start: int
    end: int
    value_start: int
    value_end: int


@dataclass(frozen=True, slots=True)
class Bullet:
    """One bullet of the top level: marker, text with dedented continuation lines, body line and span of lines."""

    marker: str
    text: str
    line: int
    start: int
    end: int


class Fields(Mapping[str, str]):
    """The fields of one body by key, in file order; of a key that stands twice the first counts.

    A value is stripped, its continuation lines are dedented and joined with a line feed. `nodes` has every field
    with its position, duplicates included.
    """

    __slots__ = ("_body", "_nodes", "_values")

    def __init__(self, body: str) -> None:
        """Read the fields of `body`."""
        self._body = body
        self._nodes: tuple[Field, ...] | None = None
        values: dict[str, str] = {}
        if _SUSPECT.search(body) is None:
            for key, value, more in _FIELD[0].findall(body):
                if key not in values:
                    values[key] = _join(value, more) if more else value.strip(" \t")
        else:
            for node in self.nodes:
                values.setdefault(node.key, node.value)
        self._values = values

    def __getitem__(self, key: str) -> str:
        """Return the value of `key`."""
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the keys in file order."""
        return iter(self._values)

    def __len__(self) -> int:
        """Return the number of distinct keys."""
        return len(self._values)

    def get(self, key: str, default: str | None = None) -> str | None:  # type: ignore[override]
        """Return the value of `key`, or `default`; a plain lookup, for it is called for every entry."""
        return self._values.get(key, default)

    def __repr__(self) -> str:
        """Show the keys and values."""
        return f"Fields({self._values!r})"

    @property
    def nodes(self) -> tuple[Field, ...]:
        """Every field of the body with its position, in order."""
        if self._nodes is None:
            self._nodes = tuple(_field(self._body, match) for match in _matches(_FIELD, self._body))
        return self._nodes


def read_bullets(body: str) -> tuple[Bullet, ...]:
    """Return the top-level bullets of a body, fields among them."""
    found = []
    for match in _matches(_BULLET, body):
        text = _join(match.group(2) or "", match.group(3)) if match.group(3) else (match.group(2) or "").strip(" \t")
        start, end = match.start(), _behind_line(body, match.end())
        found.append(Bullet(match.group(1), text, count_lines(body, start), start, end))
    return tuple(found)


def hidden_lines(body: str) -> tuple[bool, ...]:
    """Tell for each line of a body whether it belongs to a code fence or an HTML block."""
    from .blocks import scan_blocks

    lines = [line for line, _ in split_lines(body)]
    if _SUSPECT.search(body) is None:
        return (False,) * len(lines)
    hidden: list[bool] = []
    while len(hidden) < len(lines):
        found = scan_blocks(lines[len(hidden) :])
        if not found.hidden:
            break
        hidden.extend(found.hidden)
    return tuple(hidden)


def split_lines(text: str) -> list[tuple[str, str]]:
    """Cut a text into (line, line end) pairs at line feed, carriage return or both, and nowhere else."""
    pairs = []
    for match in _LINE.finditer(text):
        if match.end() == match.start():
            break
        pairs.append((match.group(1), match.group(2)))
    return pairs


def count_lines(text: str, stop: int | None = None) -> int:
    """Return how many line ends stand before `stop`."""
    end = len(text) if stop is None else stop
    lines = text.count("\n", 0, end)
    if text.find("\r", 0, end) >= 0:
        lines += text.count("\r", 0, end) - text.count("\r\n", 0, end)
    return lines


def set_field(body: str, key: str, value: str, newline: str = "\n") -> str:
    """Return the body with `key` set: the first such field's value is replaced, else a field is added.

    A new field goes behind the last one, in its bullet style, or on top of the body. Further lines of a value
    are indented by two spaces. Raises `UsageError` (`field.key`) for a key that is none.
    """
    if not KEY.fullmatch(key):
        raise UsageError("field.key", f"{key!r} is not a field name", "use letters, digits, - and _, a letter first")
    written = _written(value, newline)
    nodes = Fields(body).nodes
    for node in nodes:
        if node.key == key:
            gap = "" if body[node.value_start - 1 : node.value_start] == " " or not written else " "
            return body[: node.value_start] + gap + written + body[node.value_end :]
    line = f"- {key}:" + (f" {written}" if written else "")
    if nodes:
        last = nodes[-1]
        style = body[last.start : body.index(last.key, last.start)]
        return insert_line(body, last.end, style + line[2:], newline)
    return insert_line(body, 0, line, newline)


def unset_field(body: str, key: str) -> str:
    """Return the body without the lines of `key`, every one where it stands several times."""
    for node in reversed(Fields(body).nodes):
        if node.key == key:
            body = body[: node.start] + body[node.end :]
    return body


def insert_line(body: str, position: int, line: str, newline: str) -> str:
    """Return the body with `line` put at `position`, a line start or the body's end."""
    before, after = body[:position], body[position:]
    if before and not before.endswith(("\n", "\r")):
        return before + newline + line + after
    return before + line + newline + after


def _written(value: str, newline: str) -> str:
    lines = [line.rstrip(" \t") for line, _ in split_lines(value.strip(" \t\r\n"))]
    return newline.join(line if index == 0 else (f"  {line}" if line else "") for index, line in enumerate(lines))


def _matches(forms: tuple[re.Pattern[str], re.Pattern[str]], body: str) -> Iterator[re.Match[str]]:
    """Iterate over the matches at line starts outside code."""
    if _SUSPECT.search(body) is None:
        yield from forms[0].finditer(body)
        return
    hidden = hidden_lines(body)
    position = line = 0
    while position < len(body) and line < len(hidden):
        match = None if hidden[line] else forms[1].match(body, position)
        behind = _behind_line(body, position if match is None else match.end(), whole=match is None)
        if match is not None:
            yield match
        line += count_lines(body[position:behind]) or 1
        position = behind


def _behind_line(body: str, position: int, whole: bool = False) -> int:
    """Return the offset behind the line end at `position`, or, for a whole line, behind the line it starts."""
    match = _LINE.match(body, position)
    assert match is not None
    return match.end() if whole or match.end(1) == position else position


def _field(body: str, match: re.Match[str]) -> Field:
    key, value, more = match.group(1), match.group(2), match.group(3)
    value_start = match.end(1) + 1
    if value is not None:
        value_start = match.start(2) + (len(value) - len(value.lstrip(" \t")) if value.strip(" \t") else 0)
    end = _behind_line(body, match.end())
    read = _join(value or "", more) if more else (value or "").strip(" \t")
    line = count_lines(body, match.start())
    return Field(key, read, line, match.start(), end, value_start, match.end())


def _join(value: str, more: str) -> str:
    """Return a value with its continuation lines, dedented by what they share and joined with line feeds."""
    lines = [line for line, _ in split_lines(more.lstrip("\r\n") if more[:1] in "\r\n" else more)]
    indent = min((len(line) - len(line.lstrip(" \t")) for line in lines if line.strip(" \t")), default=0)
    return "\n".join([value.strip(" \t"), *(line[indent:].rstrip(" \t") for line in lines)]).strip("\n")
