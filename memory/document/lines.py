"""The lines of a source: lossless decoding, line ends, conflict markers, headings, fields and bullets.

A structural heading is a CommonMark ATX heading in column 0 of level 1 to 3. `scan` finds them: one compiled pattern
walks over the bytes from line start to line start. Where something could hide a heading, the region since the last
heading goes to the block scanner.

Fields and bullets are read and edited in the body of a block: `str`, decoded with `surrogateescape`, so that every byte
is preserved. Offsets are characters of that body. Lines in a code fence or an HTML block are neither of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from memory.errors import UsageError

ESCAPES = "surrogateescape"
LINE_END = re.compile(rb"\r\n|\n|\r")
_NO_BYTE = re.compile("[\ud800-\udc7f\udd00-\udfff]")


def decode(data: bytes) -> str:
    """Return bytes as text; bytes that are not UTF-8 become lone surrogates."""
    return data.decode("utf-8", ESCAPES)


def encode(text: str) -> bytes:
    """Return text as the bytes it was read from; lone surrogates that represent no byte become `?`."""
    try:
        return text.encode("utf-8", ESCAPES)
    except UnicodeEncodeError:
        return _NO_BYTE.sub("?", text).encode("utf-8", ESCAPES)


def is_blank(data: bytes) -> bool:
    """Return whether bytes hold nothing but white space, without copying them."""
    return not data or data.isspace()


def heading_end(raw: bytes) -> int:
    """Return the offset after the first line and its line end."""
    feed = raw.find(b"\n")
    stop = feed if feed >= 0 else len(raw)
    carriage = raw.find(b"\r", 0, stop)
    if carriage >= 0 and carriage + 1 != feed:
        return carriage + 1
    return feed + 1 if feed >= 0 else stop


def heading_title(line: str) -> str:
    """Return the title of an ATX heading line as CommonMark reads it, without closing hashes."""
    content = line.lstrip("#").strip(" \t")
    if content[-1:] == "#":
        without = content.rstrip("#")
        if not without or without[-1] in " \t":
            content = without
    return content.strip()


def heading_line(title: str, level: int) -> str:
    """Return the line of a heading that reads back as `title`; raises `UsageError` for more than one line."""
    clean = title.strip()
    if "\n" in clean or "\r" in clean:
        raise UsageError("document.title", "a title is one line", "put further lines into a field or the text")
    line = f"{'#' * level} {clean}".rstrip()
    # A title that ends in hashes would lose them when it is read again.
    return line if heading_title(line) == clean else f"{line} {'#' * level}"


def newline_of(raw: bytes, default: str = "\n") -> str:
    """Return the line end that occurs most often in a source, or `default` where there is none."""
    returns = raw.count(b"\r")
    if not returns:
        return "\n" if b"\n" in raw else default
    feeds = raw.count(b"\n")
    pairs = raw.count(b"\r\n")
    counts = {"\n": feeds - pairs, "\r\n": pairs, "\r": returns - pairs}
    return max(counts, key=lambda end: counts[end])


def count_line_ends(raw: bytes) -> int:
    """Return the number of line ends in a source."""
    lines = raw.count(b"\n")
    if b"\r" in raw:
        lines += raw.count(b"\r") - raw.count(b"\r\n")
    return lines


def ends_line(raw: bytes) -> bool:
    """Return whether a source ends with a line end, or is empty."""
    return not raw or raw.endswith((b"\n", b"\r"))


def ended(raw: bytes, newline: str) -> bytes:
    """Return a source that ends with a line end, or is empty."""
    return raw if ends_line(raw) else raw + newline.encode()


def with_line_end(raw: bytes, newline: str) -> bytes:
    """Return a source with one more line end appended, which must not merge with the last one."""
    return raw + (b"\r" if newline == "\n" and raw.endswith(b"\r") else newline.encode())


def blank_end(raw: bytes) -> bool:
    """Return whether a source ends with a blank line."""
    end = raw[len(raw.rstrip(b" \t\r\n")) :]
    return end.count(b"\n") >= 2 or (b"\r" in end and count_line_ends(end) >= 2)


def without_blank_end(raw: bytes) -> bytes:
    """Return a source without the blank lines at its end; the last line keeps its line end."""
    stripped = raw.rstrip(b" \t\r\n")
    found = LINE_END.search(raw, len(stripped))
    return raw[: found.end()] if found else raw


_MARKERS = re.compile(rb"(?:\A|(?<=[\r\n]))(?:(<{7}) [^\r\n]*|(={7})|(>{7}) [^\r\n]*)(?=[\r\n]|\Z)")


def conflict_at(data: bytes) -> int | None:
    """Return the offset of the first `<<<<<<<` line that is followed by `=======` and `>>>>>>>` lines, in this order.

    They mark an unfinished git merge; None where there is none.
    """
    # From the end: for a run of equal characters that search is three times as fast.
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


_CANDIDATE = r"(?:(#{1,3})(?=[ \t\r\n]|\Z)| {0,3}(?:`{3}|~{3}|<[A-Za-z/!?]))"
_FIRST = re.compile(_CANDIDATE.encode())
# A literal line feed in front lets the search skip from line to line, and the lookahead rejects most lines at once; a
# lone carriage return needs the slower form.
_NEXT = re.compile(rb"\n(?=[# `~<])" + _CANDIDATE.encode())
_NEXT_CR = re.compile(rb"(?:\n|\r(?!\n))" + _CANDIDATE.encode())
_LINE = re.compile(rb"([^\r\n]*)(\r\n|\n|\r|\Z)")


class Outline(NamedTuple):
    """The headings of a text, in order: byte offset and level of each, and whether its end is open.

    `open_end` says that a code fence or HTML block is still open at the end of the text, so that a heading appended to
    it would not be one.
    """

    starts: list[int]
    levels: list[int]
    open_end: bool


def scan(data: bytes, start: int = 0, stop: int | None = None) -> Outline:
    """Return the headings of `data[start:stop]`; `start` is a line start where no block is open.

    Offsets count from the beginning of `data`. Any bytes are accepted; the cost is linear in the length.
    """
    end = len(data) if stop is None else stop
    starts: list[int] = []
    levels: list[int] = []
    following = _NEXT_CR if has_lone_cr(data, start, end) else _NEXT
    clean = start  # the last offset where no block was open: the block scanner may begin there
    first = _FIRST.match(data, start, end)
    candidates = chain([first] if first else [], following.finditer(data, start, end))
    while True:
        for match in candidates:
            mark, behind = match.span(1)
            if mark >= 0:
                starts.append(mark)
                levels.append(behind - mark)
                clean = mark
                continue
            heading, level, is_open = _careful(data, line_end(data, clean, end) if starts else clean, end)
            if heading < 0:
                return Outline(starts, levels, is_open)
            starts.append(heading)
            levels.append(level)
            clean = heading
            break
        else:
            return Outline(starts, levels, False)
        candidates = chain(following.finditer(data, clean + level, end))


def has_lone_cr(data: bytes, start: int = 0, stop: int | None = None) -> bool:
    """Return whether the range contains a carriage return without a following line feed."""
    end = len(data) if stop is None else stop
    if data.find(b"\r", start, end) < 0:
        return False
    return data.count(b"\r", start, end) != data.count(b"\r\n", start, end)


def line_end(data: bytes, position: int, end: int) -> int:
    """Return the offset after the line end of the line that contains `position`."""
    match = _LINE.match(data, position, end)
    assert match is not None  # It matches an empty line too.
    return match.end()


def _careful(data: bytes, begin: int, end: int) -> tuple[int, int, bool]:
    """Return the first heading at or after `begin` by the block scanner: offset (-1: none), level, open end."""
    offsets: list[int] = []

    def lines() -> Iterator[str]:
        position = begin
        while position < end:
            match = _LINE.match(data, position, end)
            assert match is not None
            offsets.append(position)
            yield match.group(1).decode("utf-8", "surrogateescape")
            position = match.end()

    from .blocks import scan_blocks  # few texts need it

    found = scan_blocks(lines())
    if found.heading is None:
        return -1, 0, found.open
    offset = offsets[found.heading]
    level = len(data[offset : offset + 3]) - len(data[offset : offset + 3].lstrip(b"#"))
    return offset, level, False


# -- fields and bullets ------------------------------------------------------------------------------------------

KEY = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
# Indented lines that continue a value, blank lines between them included, and the line end.
_REST = r"((?:(?:\r?\n[ \t]*)*\r?\n[ \t]+[^ \t\r\n][^\r\n]*)*)(\r?\n|\Z)"
_FIELD = re.compile(rf"^- {{1,4}}([A-Za-z][A-Za-z0-9_-]*):(?: ([^\r\n]*)|(?=[\r\n]|\Z)){_REST}", re.MULTILINE)
_BULLET = re.compile(rf"^([-*+])(?: {{1,4}}([^\r\n]*)|(?=[\r\n]|\Z)){_REST}", re.MULTILINE)
_TAG = re.compile(r"<[A-Za-z/!?]")
_LONE_CR = re.compile(r"\r(?!\n)")
_NOT_BLANK = re.compile(r"[^ \t]")
_BODY_LINE = re.compile(r"([^\r\n]*)(\r\n|\n|\r|\Z)")


class Field(NamedTuple):
    """One `- key: value`: the value as read, its body line (from 0), and the spans in the body.

    `start:end` covers the whole lines with their line ends, `value_start:value_end` the text that a new value replaces
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
    """One top-level bullet: marker, text with dedented continuation lines, body line and span of lines."""

    marker: str
    text: str
    line: int
    start: int
    end: int


class FieldValues(dict[str, str]):
    """The fields of one body by key, in file order; of a duplicate key the first counts.

    A value is stripped, its continuation lines are dedented and joined with a line feed. `repeated` is whether a key
    occurs twice. It is made by `read_fields`; `set_field` changes a body.
    """

    __slots__ = ("body", "repeated")
    body: str
    repeated: bool

    @property
    def nodes(self) -> tuple[Field, ...]:
        """Every field with its position, duplicates included."""
        return field_nodes(self.body)


def field_nodes(body: str) -> tuple[Field, ...]:
    """Return every field of a body with its position, duplicates included."""
    found = []
    for line, match in _matches(_FIELD, body):
        text = match[2] or ""
        start = match.end(1) + 1 + (match[2] is not None) + text.index(text.strip(" \t"))
        found.append(Field(match[1], _value(body, match), line, match.start(), match.end(), start, match.start(4)))
    return tuple(found)


def read_fields(body: str) -> FieldValues:
    """Return the fields of a body."""
    fields = FieldValues()
    fields.body, fields.repeated = body, False
    for match in _FIELD.finditer(_shown(body)):
        if match[1] in fields:
            fields.repeated = True
        else:
            fields[match[1]] = _value(body, match)
    return fields


def may_hide(text: str) -> bool:
    """Return, quickly, whether a text may hold code fences, HTML blocks or lone carriage returns as line ends."""
    return (
        ("`" in text and "```" in text)
        or ("~" in text and "~~~" in text)
        or ("<" in text and _TAG.search(text) is not None)
        or ("\r" in text and text.count("\r") != text.count("\r\n"))
    )


def read_bullets(body: str) -> tuple[Bullet, ...]:
    """Return the top-level bullets of a body, fields among them."""
    found = []
    for line, match in _matches(_BULLET, body):
        found.append(Bullet(match[1], _value(body, match), line, match.start(), match.end()))
    return tuple(found)


@lru_cache(maxsize=8)
def hidden_lines(body: str) -> tuple[bool, ...]:
    """Return for each line of a body whether it belongs to a code fence or an HTML block.

    An edit asks several times for the same body.
    """
    lines = [line for line, _ in split_lines(body)]
    if not may_hide(body):
        return (False,) * len(lines)
    from .blocks import scan_blocks

    hidden: list[bool] = []
    while len(hidden) < len(lines):
        hidden.extend(scan_blocks(lines[len(hidden) :]).hidden)
    return tuple(hidden)


def split_lines(text: str) -> list[tuple[str, str]]:
    """Split a text into (line, line end) pairs at line feed, carriage return or both, and nowhere else."""
    pairs = []
    for match in _BODY_LINE.finditer(text):
        if match.end() == match.start():
            break
        pairs.append((match.group(1), match.group(2)))
    return pairs


def count_lines(text: str, stop: int | None = None) -> int:
    """Return the number of line ends before `stop`."""
    end = len(text) if stop is None else stop
    lines = text.count("\n", 0, end)
    if text.find("\r", 0, end) >= 0:
        lines += text.count("\r", 0, end) - text.count("\r\n", 0, end)
    return lines


def set_field(body: str, key: str, value: str, newline: str = "\n", nodes: Sequence[Field] | None = None) -> str:
    """Return the body with `key` set: the first such field's value is replaced, else a field is added.

    A new field goes after the last one, in its bullet style, or at the top of the body. Further lines of a value are
    indented by two spaces. `nodes` are the fields of the body, where they are known. Raises `UsageError`: `field.key`
    for an invalid key, `field.place` where the text around it would change the value of this or another field.
    """
    if not KEY.fullmatch(key):
        raise UsageError("field.key", f"{key!r} is not a field name", "use letters, digits, - and _, a letter first")
    written = _written(value, newline)
    nodes = field_nodes(body) if nodes is None else nodes
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
        # Indented lines at the top would become part of the new value, so it goes after them.
        new = insert_line(body, _indented_end(body), line, newline)
    return _checked(new, nodes, nodes, key, ())


def _indented_end(body: str) -> int:
    """Return the offset after the indented lines at the top of a body, with the blank lines between them."""
    position = end = 0
    for line, line_end in split_lines(body):
        position += len(line) + len(line_end)
        if line.strip(" \t"):
            if line[0] not in " \t":
                break
            end = position
    return end


def unset_field(body: str, key: str) -> str:
    """Return the body without the lines of `key`, all of them where the key is repeated.

    Raises `UsageError` (`field.place`) where the text around it would change the value of another field.
    """
    nodes = field_nodes(body)
    new = body
    for node in reversed(nodes):
        if node.key == key:
            behind = new[node.end :]
            if new[: node.start].endswith("\r") and behind.startswith("\n"):
                behind = "\r" + behind[1:]  # Else the two would be one line end, and a blank line gone.
            new = new[: node.start] + behind
    return new if new == body else _checked(new, nodes, [node for node in nodes if node.key != key], None, ())


def _checked(new: str, old: Sequence[Field], before: Sequence[Field], key: str | None, after: Sequence[Field]) -> str:
    """Return an edited body if its fields are `before`, the edited one and `after`; else raise `UsageError`."""
    wanted = [(node.key, node.value) for node in before]
    at = len(wanted)
    wanted += [(node.key, node.value) for node in after]
    found = [(node.key, node.value) for node in field_nodes(new)]
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
    """Return the body with `line` inserted at `position`, a line start or the body's end."""
    before, after = body[:position], body[position:]
    if newline == "\r" and after.startswith("\n"):
        newline = "\n"  # Else the two would be one line end, and a blank line gone.
    if before and not before.endswith(("\n", "\r")):
        return before + newline + line + after
    return before + line + newline + after


def _written(value: str, newline: str) -> str:
    lines = [line.rstrip(" \t") for line, _ in split_lines(value.strip(" \t\r\n"))]
    return newline.join(line if index == 0 else (f"  {line}" if line else "") for index, line in enumerate(lines))


def _matches(form: re.Pattern[str], body: str) -> list[tuple[int, re.Match[str]]]:
    """Return (line, match) at each line start outside code; the offsets are those of the body."""
    shown, found = _shown(body), []
    position = line = 0
    for match in form.finditer(shown):
        # Counted from the last match: a body may be long, with many matches.
        line += shown.count("\n", position, match.start())
        position = match.start()
        found.append((line, match))
    return found


def _shown(body: str) -> str:
    """Return a body with dots in place of code and line feeds in place of lone carriage returns; offsets stay."""
    if not may_hide(body):
        return body
    lines = zip(split_lines(body), hidden_lines(body), strict=True)
    return _LONE_CR.sub(
        "\n", "".join([(_NOT_BLANK.sub(".", line) if hidden else line) + end for (line, end), hidden in lines])
    )


def _value(body: str, match: re.Match[str]) -> str:
    """Return the value of a field, or the text of a bullet."""
    _, value, more, _ = match.groups("")
    return _join(value, body[match.start(3) : match.end(3)]) if more else value.strip(" \t")


def _join(value: str, more: str) -> str:
    """Return a value with its continuation lines, dedented by their common indent and joined with line feeds."""
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
