"""`MEMORY.md`: one line for each memory of a folder, the newest at the top; hand-written lines are kept below."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from memory.base.told import why_not
from memory.curated.model import INDEX

INDEX_KIND = "curated"

_OURS = re.compile(r"- \[(?P<name>.*)\]\((?P<file>[A-Za-z0-9._-]+\.md)\)(?: (?:—|-) .*)?")


class IndexLine(NamedTuple):
    """The entry of one memory in the index."""

    name: str
    filename: str
    description: str


def line_of(line: IndexLine) -> str:
    """Return the line of a memory: `- [Name](file) — description`."""
    name = " ".join(line.name.split()).replace("[", "(").replace("]", ")")
    description = " ".join(line.description.split())
    return f"- [{name}]({line.filename})" + (f" — {description}" if description else "")


def suspicious_passages(text: str, own: Collection[str]) -> list[tuple[int, str]]:
    """Return the parts of an index that break the content scan, with their lines (from 0), but for the lines `own`.

    Those are lines; where only several together break it, all others are one part.
    """
    others = [(number, line) for number, line in enumerate(text.splitlines()) if line not in own]
    if not why_not(INDEX_KIND, INDEX, "\n".join(line for _, line in others)):
        return []
    bad = [(number, line) for number, line in others if why_not(INDEX_KIND, INDEX, line)]
    left = "\n".join(one[1] for one in others if one not in bad)
    return [*bad, (0, left)] if why_not(INDEX_KIND, INDEX, left) else bad


def rendered(data: bytes, lines: Iterable[IndexLine], gone: Sequence[str] = ()) -> bytes:
    """Return the index with these lines at the top, and below them all lines of `data` that memdeck did not write.

    A line counts as memdeck's if it has its form and links to a listed memory or to one of the files `gone`. Any other
    line belongs to a person and stays byte for byte.
    """
    made = list(lines)
    ours = {line.filename for line in made} | set(gone)
    # `surrogateescape`: bytes that are not UTF-8 stay as they are.
    kept = []
    for text in data.decode("utf-8", "surrogateescape").split("\n"):
        found = _OURS.fullmatch(text.rstrip("\r"))
        if found is None or found["file"] not in ours:
            kept.append(text)
    below = "\n".join(kept).strip("\n")
    parts = ["\n".join(line_of(line) for line in made)] if made else []
    if below.strip():
        parts.append(below)
    return ("\n\n".join(parts) + "\n").encode("utf-8", "surrogateescape") if parts else b""


def capped(text: str, max_lines: int, max_bytes: int) -> tuple[str, int]:
    """Return a text cut at a line to the limits, and how many lines are left out; a first line too long is cut too."""
    lines = text.splitlines()
    kept: list[str] = []
    size = 0
    for line in lines[:max_lines]:
        size += len(line.encode("utf-8", "surrogateescape")) + 1
        if size > max_bytes:
            break
        kept.append(line)
    if not kept and lines:
        cut = lines[0].encode("utf-8", "surrogateescape")[: max(max_bytes - 1, 0)].decode("utf-8", "ignore")
        return cut, len(lines) - 1
    return "\n".join(kept), len(lines) - len(kept)
