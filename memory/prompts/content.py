"""The content of an entry on one line, as a prompt has it."""

from __future__ import annotations

import re
from itertools import zip_longest

_UNTOLD = re.compile(
    r"(?:created|started|lastUpdate|lastCheck|cronJobId|orchestrationId|planId|tags|id|ref|line|file|kind|section)\s*:",
)
"""Fields that help no agent to act."""
_MARKS = " \t#*[]|-—–:."
_INSIDE = re.compile(r"\*\*|#{2,} |\]")
_RULER = re.compile(r"[\s|:+-]*")
_EMPTY = frozenset({"", "-", "none", "Not recorded."})


def content_of(kind: str, title: str, text: str) -> str:
    """Return what an entry says besides its title: its lines joined by semicolons, without what helps no agent.

    What surrounds the title in its own line is kept, such as the priority of a task; lines before it only if they are
    dates.
    """
    if kind == "facts":
        return ""  # The text of a fact is its title; the rest are its id and its tags.
    lines = _without_front_matter(text)
    at = next((number for number, line in enumerate(lines) if title and title in line), -1)
    found = [line for line in lines[: max(at, 0)] if line[:1].isdigit()]
    if at >= 0:
        before, _, after = lines[at].partition(title)
        # The name of the field that the title is from says nothing.
        found += ["" if before.rstrip().endswith(":") else before.replace("[NORMAL]", ""), after]
    found += lines[at + 1 :]
    # The heading of a table is the line before its ruler.
    found = [
        line
        for line, below in zip_longest(found, found[1:], fillvalue="x")
        if "|" not in line or not _RULER.fullmatch(below)
    ]
    clean = (_cleaned(line) for line in found if not _UNTOLD.match(line.lstrip(" -*")) and not _RULER.fullmatch(line))
    return "; ".join(line for line in clean if line not in _EMPTY and line != title)


def _without_front_matter(text: str) -> list[str]:
    lines = text.strip().splitlines()
    if lines[:1] == ["---"] and "---" in lines[1:]:
        return lines[lines.index("---", 1) + 1 :]
    return lines


def _cleaned(line: str) -> str:
    """Return a line without the marks of Markdown around it; the cells of a row are joined by commas."""
    if line.lstrip().startswith("|"):
        line = ", ".join(cell.strip() for cell in line.split("|") if cell.strip())
    return " ".join(_INSIDE.sub("", line).strip(_MARKS).split())


def shortened(content: str, most: int, snippet: str = "") -> str:
    """Return about `most` characters of a content: its beginning, and the line that fits if that comes later."""
    if len(content) <= most:
        return content
    snippet = _cleaned(snippet.strip("…"))
    if snippet and snippet[:40] not in content[:most]:
        return f"{content[: most // 2].rsplit(' ', 1)[0]} … {snippet[: most // 2]}"
    return f"{content[:most].rsplit(' ', 1)[0]} …"
