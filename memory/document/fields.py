"""Fields and bullets of a block's body: `- key: value` lines with their spans, read and edited as text.

A body is `str`, decoded with `surrogateescape`, so that every byte comes back as it was. Offsets are characters
of that body. What stands in a code fence or an HTML block is neither field nor bullet.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from memory.base.patterns import late
from memory.document.lines_and_headings import ESCAPES, heading_end
from memory.errors import UsageError
from memory.named_tuple import NamedTuple

KEY = late(r"[A-Za-z][A-Za-z0-9_-]*")
_REST = r"(?:(?:\r?\n[ \t]*+)++(?<=[ \t])[^ \t\r\n][^\r\n]*+)*+"
_REST_CR = r"(?:(?:(?>\r\n|\n|\r)[ \t]*)*(?>\r\n|\n|\r)[ \t]+[^ \t\r\n][^\r\n]*)*"
_FIELD_LINE = r"- {1,4}([A-Za-z][A-Za-z0-9_-]*):(?: ([^\r\n]*)|(?=[\r\n]|\Z))"
_BULLET_LINE = r"([-*+])(?: {1,4}([^\r\n]*)|(?=[\r\n]|\Z))"
# A pair of forms each: over a whole body without code, and at one line start, where a lone carriage return counts.
_FIELD = (late(rf"^{_FIELD_LINE}({_REST})", re.MULTILINE), late(rf"{_FIELD_LINE}({_REST_CR})"))
_BULLET = (late(rf"^{_BULLET_LINE}({_REST})", re.MULTILINE), late(rf"{_BULLET_LINE}({_REST_CR})"))
# Bodies without code, in one pass: the value comes stripped. Most have no continuation lines either.
_QUICK = r"\n- {1,4}+([A-Za-z][A-Za-z0-9_-]*+):(?: [ \t]*+((?:[^\r\n]*[^ \t\r\n])?+)[ \t]*+|(?=[\r\n]|\Z))"
_PAIR = late(_QUICK)
# Where no carriage return stands: `.` goes over a long line many times faster than a set does.
_PAIR_FEEDS = late(_QUICK.replace(r"[^\r\n]*", ".*"))
_LONG_PAIR = late(_QUICK + f"({_REST})")
# Too wide, for speed: what it does not find has no field.
_FIRST = late(rb"\n- ++[A-Za-z][A-Za-z0-9_-]*+:")
_ENDS = r"(?>\r\n|\n|\r)"
_INDENTED = late(rf"(?:(?:[ \t]*+{_ENDS})*+[ \t]+[^ \t\r\n][^\r\n]*(?:{_ENDS}|\Z))+")
_TAG = late(r"<[A-Za-z/!?]")
_HIDING = late(rb"<[A-Za-z/!?]|\r(?!\n)")
# A whole code fence in column 0. It opens there whatever stands above it, HTML apart; other fences are left to the
# block scanner.
_FENCE = late(r"\n(`{3,}+|~{3,}+)[^\r\n`~]*+(?:\n(?! {0,3}\1)[^\r\n]*+)*+\n {0,3}\1[ \t]*+(?=\n|\Z)")
_LINE = late(r"([^\r\n]*)(\r\n|\n|\r|\Z)")


class Field(NamedTuple):
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


class Bullet(NamedTuple):
    """One bullet of the top level: marker, text with dedented continuation lines, body line and span of lines."""

    marker: str
    text: str
    line: int
    start: int
    end: int


class FieldValues(dict[str, str]):
    """The fields of one body by key, in file order; of a key that stands twice the first counts.

    A value is stripped, its continuation lines are dedented and joined with a line feed. `nodes` has every field
    with its position, duplicates included. It is a dict for the speed of its look-ups, made by `read_fields`, and
    refuses every change.
    """

    # A source in bytes is an entry's, heading line and all; a text is a body.
    __slots__ = ("_nodes", "_source")
    _source: bytes | str
    _nodes: tuple[Field, ...]

    def __repr__(self) -> str:
        """Show the keys and values."""
        return f"Fields({dict.__repr__(self)})"

    @property
    def nodes(self) -> tuple[Field, ...]:
        """Every field of the body with its position, in order."""
        try:
            return self._nodes
        except AttributeError:
            source = self._source
            body = source if isinstance(source, str) else source[heading_end(source) :].decode("utf-8", ESCAPES)
            self._nodes = tuple([_field(body, line, match) for line, match in _matches(_FIELD, body)])
            return self._nodes

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("fields are read only; change them with set_field and unset_field of their block")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse


_EMPTY = FieldValues()
_EMPTY._source = ""


def read_fields(source: bytes | str) -> FieldValues:
    """Return the fields of an entry's whole source in bytes, or of a body as text."""
    if isinstance(source, bytes):
        if _FIRST.search(source) is None and (b"\r" not in source or source.count(b"\r") == source.count(b"\r\n")):
            return _EMPTY
        text = source.decode("utf-8", ESCAPES)
    else:
        text = "\n" + source
    if may_hide(text):
        # A line of text ends a value as the fence does.
        text = _FENCE.sub("\n.", text)
        if may_hide(text):
            return _placed(source)
    if "\n " in text or ("\t" in text and "\n\t" in text):
        values: dict[str, str] = {}
        for key, value, more in _LONG_PAIR.findall(text):
            if key not in values:
                values[key] = _join(value, more) if more else value
        fields = FieldValues(values)
    else:
        pairs = (_PAIR if "\r" in text else _PAIR_FEEDS).findall(text)
        fields = FieldValues(pairs)
        if len(fields) != len(pairs):
            return _placed(source)
    fields._source = source
    return fields


def _placed(source: bytes | str) -> FieldValues:
    """Return the fields by way of their positions: what stands in code is left out, the first of a key counts."""
    fields = FieldValues()
    fields._source = source
    for node in fields.nodes:
        dict.setdefault(fields, node.key, node.value)
    return fields


def may_hide(text: str) -> bool:
    """Tell, quickly, whether a text may hold code fences, HTML blocks or line ends of a lone carriage return."""
    return (
        ("`" in text and "```" in text)
        or ("~" in text and "~~~" in text)
        or ("<" in text and _TAG.search(text) is not None)
        or ("\r" in text and text.count("\r") != text.count("\r\n"))
    )


def bytes_may_hide(raw: bytes) -> bool:
    """Tell the same of the bytes of an entry."""
    # A single byte is looked for first, for that is faster than three, and those than a pattern.
    if (b"`" in raw and b"```" in raw) or (b"~" in raw and b"~~~" in raw):
        return True
    return (b"<" in raw or b"\r" in raw) and _HIDING.search(raw) is not None


def read_bullets(body: str) -> tuple[Bullet, ...]:
    """Return the top-level bullets of a body, fields among them."""
    found = []
    for line, match in _matches(_BULLET, body):
        text = _join(match.group(2) or "", match.group(3)) if match.group(3) else (match.group(2) or "").strip(" \t")
        start, end = match.start(), _behind_line(body, match.end())
        found.append(Bullet(match.group(1), text, line, start, end))
    return tuple(found)


def hidden_lines(body: str) -> tuple[bool, ...]:
    """Tell for each line of a body whether it belongs to a code fence or an HTML block."""
    from memory.document.scan.blocks import scan_blocks

    lines = [line for line, _ in split_lines(body)]
    if not may_hide(body):
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
    are indented by two spaces. Raises `UsageError`: `field.key` for a key that is none, `field.place` where the
    text around would change what this or another field says.
    """
    if not KEY.fullmatch(key):
        raise UsageError("field.key", f"{key!r} is not a field name", "use letters, digits, - and _, a letter first")
    written = _written(value, newline)
    nodes = read_fields(body).nodes
    for number, node in enumerate(nodes):
        if node.key == key:
            gap = "" if body[node.value_start - 1 : node.value_start] == " " or not written else " "
            new = body[: node.value_start] + gap + written + body[node.value_end :]
            return _checked(new, nodes, nodes[:number], key, nodes[number + 1 :])
    line = f"- {key}:" + (f" {written}" if written else "")
    if nodes:
        last = nodes[-1]
        style = body[last.start : body.index(last.key, last.start)]
        new = insert_line(body, last.end, style + line[2:], newline)
    else:
        # Indented lines on top would become a part of the new value: it goes behind them.
        indented = _INDENTED.match(body)
        new = insert_line(body, indented.end() if indented else 0, line, newline)
    return _checked(new, nodes, nodes, key, ())


def unset_field(body: str, key: str) -> str:
    """Return the body without the lines of `key`, every one where it stands several times.

    Raises `UsageError` (`field.place`) where the text around would change what another field says.
    """
    nodes = read_fields(body).nodes
    new = body
    for node in reversed(nodes):
        if node.key == key:
            behind = new[node.end :]
            if new[: node.start].endswith("\r") and behind.startswith("\n"):
                behind = "\r" + behind[1:]  # Else the two would be one line end, and a blank line gone.
            new = new[: node.start] + behind
    return new if new == body else _checked(new, nodes, [node for node in nodes if node.key != key], None, ())


def _checked(new: str, old: Sequence[Field], before: Sequence[Field], key: str | None, after: Sequence[Field]) -> str:
    """Return an edited body when its fields are those of before, the edited one and those of after."""
    wanted = [(node.key, node.value) for node in before]
    at = len(wanted)
    wanted += [(node.key, node.value) for node in after]
    found = [(node.key, node.value) for node in read_fields(new).nodes]
    edited = found.pop(at)[0] if key is not None and at < len(found) else None
    if found != wanted or edited != key:
        what = key if key is not None else ", ".join(sorted({node.key for node in old} - {node.key for node in before}))
        raise UsageError(
            "field.place",
            f"the field {what!r} cannot change without changing how the text around it reads",
            "close code fences and HTML blocks, or edit the whole entry",
        )
    return new


def insert_line(body: str, position: int, line: str, newline: str) -> str:
    """Return the body with `line` put at `position`, a line start or the body's end."""
    before, after = body[:position], body[position:]
    if newline == "\r" and after.startswith("\n"):
        newline = "\n"  # Else the two would be one line end, and a blank line gone.
    if before and not before.endswith(("\n", "\r")):
        return before + newline + line + after
    return before + line + newline + after


def _written(value: str, newline: str) -> str:
    lines = [line.rstrip(" \t") for line, _ in split_lines(value.strip(" \t\r\n"))]
    return newline.join(line if index == 0 else (f"  {line}" if line else "") for index, line in enumerate(lines))


def _matches(forms: tuple[re.Pattern[str], re.Pattern[str]], body: str) -> Iterator[tuple[int, re.Match[str]]]:
    """Iterate over (line, match) at line starts outside code."""
    position = line = 0
    if not may_hide(body):
        for match in forms[0].finditer(body):
            # Counted on from the last match: a body may be long, and hold many.
            line += body.count("\n", position, match.start())
            position = match.start()
            yield line, match
        return
    hidden = hidden_lines(body)
    while position < len(body) and line < len(hidden):
        found = None if hidden[line] else forms[1].match(body, position)
        behind = _behind_line(body, position if found is None else found.end(), whole=found is None)
        if found is not None:
            yield line, found
        line += count_lines(body[position:behind]) or 1
        position = behind


def _behind_line(body: str, position: int, whole: bool = False) -> int:
    """Return the offset behind the line end at `position`, or, for a whole line, behind the line it starts."""
    match = _LINE.match(body, position)
    assert match is not None
    return match.end() if whole or match.end(1) == position else position


def _field(body: str, line: int, match: re.Match[str]) -> Field:
    key, value, more = match.group(1), match.group(2), match.group(3)
    value_start = match.end(1) + 1
    if value is not None:
        value_start = match.start(2) + (len(value) - len(value.lstrip(" \t")) if value.strip(" \t") else 0)
    end = _behind_line(body, match.end())
    read = _join(value or "", more) if more else (value or "").strip(" \t")
    return Field(key, read, line, match.start(), end, value_start, match.end())


def _join(value: str, more: str) -> str:
    """Return a value with its continuation lines, dedented by what they share and joined with line feeds."""
    if (
        more.count("\n") == more.count("\n  ")
        and more[-1] != " "
        and not ("\n   " in more or " \n" in more or "\t" in more or "\r" in more)
    ):  # every line is indented by two spaces and nothing else
        return (value.strip(" \t") + more.replace("\n  ", "\n")).strip("\n")
    if "\r" in more:
        more = more.replace("\r\n", "\n").replace("\r", "\n")
    lines = more.split("\n")
    del lines[0]  # `more` begins with the line end of the value's own line.
    if len(lines) == 1:
        rest = lines[0].strip(" \t")
    else:
        bare = [line.lstrip(" \t") for line in lines]
        indent = min([len(line) - len(text) for line, text in zip(lines, bare, strict=True) if text], default=0)
        rest = "\n".join([line[indent:].rstrip(" \t") for line in lines])
    return (value.strip(" \t") + "\n" + rest).strip("\n")
