"""The lines of a journal entry: read from its body, and written so that no line can become anything else."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory.document.fields import hidden_lines, split_lines
from memory.errors import UsageError
from memory.named_tuple import NamedTuple

_BULLET = re.compile(r"[-*+](?:[ \t]+|$)")


class EntryLine(NamedTuple):
    """One line of an entry: its text without the marker, and the lines of the body that it takes (from, behind)."""

    text: str
    start: int
    stop: int


def read_lines(body: str) -> list[EntryLine]:
    """Return the lines of a body: each bullet with what is indented below it, each paragraph, each block of code.

    Further lines of one are joined with a line feed, dedented by what they share.
    """
    lines = [text for text, _ in split_lines(body)]
    hidden = hidden_lines(body)
    found: list[EntryLine] = []
    start = 0
    bullet = False  # the part that begins at `start` is a bullet

    def close(stop: int) -> None:
        first, last = start, stop
        while last > first and not lines[last - 1].strip():
            last -= 1
        while first < last and not lines[first].strip():
            first += 1
        if last > first:
            found.append(EntryLine(_join(lines[first:last], bullet), first, last))

    for number, line in enumerate(lines):
        inside = number < len(hidden) and hidden[number]
        if inside and number and hidden[number - 1]:
            continue
        opens = _BULLET.match(line) is not None
        blank = not line.strip()
        ends = not bullet and (inside or blank or (number and hidden[number - 1]))
        leaves = bullet and not blank and not line.startswith((" ", "\t"))
        if opens or ends or leaves:
            close(number)
            start, bullet = number, opens
    close(len(lines))
    return found


def _join(lines: Sequence[str], bullet: bool) -> str:
    first = _BULLET.sub("", lines[0], count=1) if bullet else lines[0]
    rest = lines[1:]
    if bullet:
        indent = min((len(line) - len(line.lstrip(" \t")) for line in rest if line.strip()), default=0)
        rest = [line[indent:] for line in rest]
        first = first.strip(" \t")
    return "\n".join([first.rstrip(" \t"), *(line.rstrip(" \t") for line in rest)])


def clean_line(text: str) -> str:
    """Return a line as it will read: no space around it, no blank lines at its ends; empty for nothing."""
    lines = [line.rstrip(" \t") for line, _ in split_lines(text)]
    while lines and not lines[0]:
        lines.pop(0)
    while lines and not lines[-1]:
        lines.pop()
    if not lines:
        return ""
    rest = lines[1:]
    indent = min((len(line) - len(line.lstrip(" \t")) for line in rest if line), default=0)
    return "\n".join([lines[0].lstrip(" \t"), *(line[indent:] for line in rest)])


def write_line(text: str, newline: str) -> str:
    """Return a line as a bullet, further lines of it indented below, so that none of them is a heading."""
    first, *rest = clean_line(text).split("\n")
    written = [f"- {first}", *(f"  {line}" if line else "" for line in rest)]
    return "".join(line + newline for line in written)


def write_lines(lines: Sequence[str], newline: str) -> str:
    """Return the body that says these lines; raises UsageError `journal.line` for what cannot be said in one."""
    wanted = [line for line in map(clean_line, lines) if line]
    body = "".join(write_line(line, newline) for line in wanted)
    check_lines(body, wanted)
    return body


def check_lines(body: str, wanted: Sequence[str]) -> None:
    """Raise UsageError `journal.line` unless a body reads as the wanted lines."""
    read = [line.text for line in read_lines(body)]
    if read == list(wanted):
        return
    wrong = next((line for line, other in zip(wanted, read, strict=False) if line != other), wanted[-1:] or [""])
    raise UsageError(
        "journal.line",
        f"the line {wrong if isinstance(wrong, str) else wrong[0]!r} would not stay one line of the entry",
        "write code into a line of its own, with its fence closed",
    )
