"""`MEMORY.md`: one line for each memory of a folder, the newest on top; lines written by hand are kept below."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memory.base.patterns import late
from memory.named_tuple import NamedTuple

_OURS = late(r"- \[(?P<name>.*)\]\((?P<file>[A-Za-z0-9._-]+\.md)\)(?: (?:—|-) .*)?")


class IndexLine(NamedTuple):
    """What the index says about a memory."""

    name: str
    filename: str
    description: str


def line_of(line: IndexLine) -> str:
    """Return the line of a memory: `- [Name](file) — description`."""
    name = " ".join(line.name.split()).replace("[", "(").replace("]", ")")
    description = " ".join(line.description.split())
    return f"- [{name}]({line.filename})" + (f" — {description}" if description else "")


def rendered(data: bytes, lines: Iterable[IndexLine], gone: Sequence[str] = ()) -> bytes:
    """Return the index with these lines on top and all others of `data` below that no memory made.

    A line of the form of ours that links to a memory listed, or to one of the files `gone`, is ours; any other one is
    a person's, and stays byte for byte.
    """
    made = list(lines)
    ours = {line.filename for line in made} | set(gone)
    # `surrogateescape`: bytes of a person that are no UTF-8 stay as they are.
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


def renewed(data: bytes, line: IndexLine | None, gone: Sequence[str]) -> bytes | None:
    """Return an index that memdeck rendered with the lines of some files taken out and one put on top.

    The index lists other memories too. None where a line is to go from what a person wrote below: then the whole is
    rendered.
    """
    for name in gone:
        at = -1
        while (at := data.find(f"]({name})".encode("utf-8", "surrogateescape"), at + 1)) != -1:
            start, stop = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
            found = _OURS.fullmatch(data[start:stop].decode("utf-8", "surrogateescape").rstrip("\r"))
            if found is None or found["file"] != name:
                continue
            if data.find(b"\n\n", 0, start) != -1:
                return None
            data = data[:start] + data[stop + 1 :]
            at = start - 1
    if line is not None:
        data = f"{line_of(line)}\n".encode("utf-8", "surrogateescape") + data
    return data


def capped(text: str, max_lines: int, max_bytes: int) -> tuple[str, int]:
    """Return a text cut at a line to the caps, and how many lines are left out; a first line too long is cut too."""
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
