"""A look at what was found: the lines around the words, for the room that the list of finds leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memory.search import Hit

LEAST, MOST = 3, 8
"""Lines of a look; with less room there is none."""
LONGEST = 400
"""Characters of a line that are looked at."""


def lines_around(hit: Hit, room: int) -> list[str]:
    """At most so many lines of an entry, those around the line that fits; none where nothing more stands in it."""
    texts = [text.strip()[:LONGEST] for text in hit.entry.text.splitlines() if text.strip()]
    most = min(room, MOST)
    if most < LEAST or len(texts) < 2:
        return []
    found = hit.snippet.strip("… ").removeprefix("- ")[:40]
    at = next((number for number, text in enumerate(texts) if found and found in text), 0)
    start = max(0, min(at - most // 2, len(texts) - most))
    return texts[start : start + most]
