"""Signals: the lines of a session that state their kind by a marker at their start."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory.state.files.model import SIGNALS

MOST = 200
"""How many texts of a kind one session gives; of more, the last ones are kept."""

MOST_CHARACTERS = 1000
"""The most characters of one text; a longer one is cut."""

_MARKERS = {
    "DECISION": "decisions",
    "GOTCHA": "gotchas",
    "NEXT": "nextStepHints",
    "DONE": "nextStepHints",
    "PATH": "keyPaths",
    "VALIDATION": "validationObservations",
}
_LINE = re.compile(
    rf"[ \t]{{0,3}}(?:(?:[-*+]|\d{{1,3}}[.)])[ \t]{{1,4}})?(\*\*|__)?({'|'.join(_MARKERS)}):(?:\1)?[ \t]*(.*?)[ \t]*\Z",
    re.DOTALL,
)
_FENCE = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})(.*)\Z", re.DOTALL)
_LINES = re.compile(r"\r\n|\n|\r")


def find_signals(text: str) -> Iterator[tuple[str, str]]:
    """Yield the kind and the text of each signal in a message, in order.

    A marker begins its line, in capitals; only spaces, a bullet or a number, and bold marks may precede it. `NEXT:` and
    `DONE:` stay part of their text. Markers in a code fence are quotations and do not count. A fence that is never
    closed hides nothing.
    """
    lines = _LINES.split(text)
    quoted = _fenced(lines)
    for number, line in enumerate(lines):
        found = None if number in quoted else _LINE.match(line)
        if found is None or not found[3].strip():
            continue
        marker, said = found[2], " ".join(found[3].split())[:MOST_CHARACTERS]
        kind = _MARKERS[marker]
        yield kind, f"{marker}: {said}" if kind == "nextStepHints" else said


def _fenced(lines: list[str]) -> set[int]:
    """Return the numbers of the lines in code fences that are closed."""
    quoted: set[int] = set()
    opened, fence = -1, ""
    for number, line in enumerate(lines):
        found = _FENCE.match(line)
        if found is None:
            continue
        if opened < 0:
            if found[1][0] == "~" or "`" not in found[2]:
                opened, fence = number, found[1]
        elif found[1].startswith(fence) and not found[2].strip():
            quoted.update(range(opened, number + 1))
            opened = -1
    return quoted


class Signals:
    """The five lists of a session; each keeps only the last texts of its kind."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._texts: dict[str, dict[str, None]] = {kind: {} for kind in SIGNALS}

    def add(self, kind: str, text: str) -> None:
        """Add a text; a repeated text moves to its last position."""
        texts = self._texts[kind]
        texts.pop(text, None)
        texts[text] = None
        if len(texts) > MOST:
            del texts[next(iter(texts))]

    def lists(self) -> dict[str, list[str]]:
        """Return the five lists."""
        return {kind: list(texts) for kind, texts in self._texts.items()}
