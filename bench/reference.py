"""What memdeck is compared with: floors that do the least possible, and readers in careful Python."""

from __future__ import annotations

import os
import re
from pathlib import Path

_HEADING = re.compile(r"^(?:(`{3,}|~{3,})[^\n]*\n(?s:.*?)^\1[`~]*[ \t]*$|(#{1,3})[ \t]+([^\n]*))", re.M)
_TOKEN = re.compile(
    r"^(?:(?P<fence>`{3,}|~{3,})[^\n]*\n(?s:.*?)^(?P=fence)[`~]*[ \t]*$"
    r"|(?P<marks>\#{1,3})[ \t]+(?P<title>[^\n]*)"
    r"|-[ ](?P<key>[A-Za-z][A-Za-z0-9_-]*):(?:[ \t]+(?P<value>[^\n]*)|[ \t]*$)"
    r"(?P<more>(?:\n[ \t]+\S[^\n]*)*))",
    re.M,
)
OPEN_TASK = re.compile(r"^### \[(HIGH|NORMAL|LOW)\] (.*)$", re.M)

BARE_TASKS = r"""
import json, re, sys
text = open(sys.argv[1], encoding="utf-8", errors="surrogateescape").read()
end = text.find("\n## Completed")
titles = re.findall(r"^### \[(HIGH|NORMAL|LOW)\] (.*)$", text[:end], re.M)
sys.stdout.write("\n".join(p + " " + t for p, t in titles))
"""
BARE_JOURNAL = r"""
import re, sys
text = open(sys.argv[1], encoding="utf-8", errors="surrogateescape").read()
heads = list(re.finditer(r"^##(#)? (.*)$", text, re.M))
day, out = "", []
for head in heads:
    if not head[1]:
        day = head[2]
    elif len(out) < 10:
        out.append(day + " " + head[2])
sys.stdout.write("\n".join(out))
"""


def write_bytes(data: bytes, target: Path) -> None:
    """Floor: read + write bytes (the reading is the caller's)."""
    target.write_bytes(data)


def split_and_join(data: bytes) -> bytes:
    """Floor: decode, cut into lines with their ends, join, encode."""
    lines = data.decode("utf-8", "surrogateescape").splitlines(keepends=True)
    return "".join(lines).encode("utf-8", "surrogateescape")


def decode_and_encode(data: bytes) -> bytes:
    """Floor for text: decode and encode."""
    return data.decode("utf-8", "surrogateescape").encode("utf-8", "surrogateescape")


def outline(data: bytes) -> list[tuple[int, int, str]]:
    """Return (offset in characters, level, title) of every heading outside fences, by one regex."""
    text = data.decode("utf-8", "surrogateescape")
    return [(found.start(), len(found[2]), found[3]) for found in _HEADING.finditer(text) if found[2]]


def eager_fields(data: bytes) -> list[dict[str, object]]:
    """Return every entry as a dict of its section, title and fields, in one regex pass over the file.

    Values are stripped, continuation lines dedented and joined, the first of duplicate keys counts.
    """
    text = data.decode("utf-8", "surrogateescape")
    entries: list[dict[str, object]] = []
    section = ""
    fields: dict[str, str] = {}
    for found in _TOKEN.finditer(text):
        marks, title, key, value, more = found.group("marks", "title", "key", "value", "more")
        if key is not None:
            if key not in fields:
                value = (value or "").strip()
                if more:
                    value = "\n".join([value, *(line.strip() for line in more.split("\n")[1:])])
                fields[key] = value
        elif marks == "###":
            fields = {}
            entries.append({"section": section, "title": title, "fields": fields})
        elif marks is not None:
            section = title
            fields = {}
    return entries


def durable_replace(path: Path, data: bytes) -> None:
    """Floor of a durable change: write a file beside, fsync, rename over, fsync the folder."""
    beside = path.with_name(path.name + ".floor")
    with beside.open("wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    beside.replace(path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
