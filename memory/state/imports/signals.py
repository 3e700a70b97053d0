"""Signals: what a session states as a decision, gotcha, next step, thing done, path or validation, by a marker."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import groupby

from memory.document.lines import hidden_lines

MOST = 200
"""How many texts of a kind one session gives; of more, the last ones are kept."""

MOST_CHARACTERS = 1000
"""The most characters of one text; a longer one is cut."""

_MARKERS = {
    "decisions?": ("decisions", ""),
    "gotchas?|pitfalls?|traps?": ("gotchas", ""),
    "next(?: steps?)?|todos?|follow[- ]?ups?": ("nextStepHints", "NEXT: "),
    "done|completed": ("nextStepHints", "DONE: "),
    "(?:key )?paths?": ("keyPaths", ""),
    "validations?": ("validationObservations", ""),
}
"""The words of a marker, in any case; the signal that they give, and the text before its own there."""

_LEAD = r"[ \t]{0,3}(?P<quote>(?:>[ \t]?)*)(?P<heading>\#{1,6}[ \t]+)?(?P<item>(?:[-*+]|\d{1,3}[.)])[ \t]{1,4})?"
_BOLD = r"(?:\*\*|__|`)?"
_LINE = re.compile(
    rf"{_LEAD}(?:\[[ xX]\][ \t]+)?(?P<mark>{_BOLD})(?P<word>{'|'.join(_MARKERS)})"
    rf"{_BOLD}(?:(?P<colon>[:：]){_BOLD}|(?=[ \t]*\Z))(?P<text>.*)\Z",
    re.IGNORECASE | re.DOTALL,
)
_ITEM = re.compile(r"[ \t]*(?:>[ \t]?)*(?:[-*+]|\d{1,3}[.)])[ \t]{1,4}(?:\[[ xX]\][ \t]+)?(?P<text>\S.*)\Z", re.DOTALL)
_DECIDED = re.compile(
    r"(?:\A|(?<=[.!?]\s))((?:we|I)(?: have|['’]ve)? decided\b[^?]*?)(?=[.!](?:\s|\Z)|\Z)", re.IGNORECASE
)
_PLACEHOLDER = re.compile(r"<[^>]*>|\[[^\]]*\]|\{[^}]*\}|\.{3}|…")
_EXPLAINING = frozenset(
    """
    a an and avoid be begin cause command decided decision did do done file goes gotcha happened happens how is it
    learned line next of one or path reason result short step text that the thing title to trap validation was we
    what where which why with wrong you your
    """.split()  # noqa: SIM905
)
_TELLS_OF_MARKERS = re.compile(r"\bmarkers?\b.*[:：]\s*\Z", re.IGNORECASE)
_LINES = re.compile(r"\r\n|\n|\r")


def find_signals(text: str) -> Iterator[tuple[str, str]]:
    """Yield the kind and the text of each signal in a message, in order.

    A marker begins its line, in any case, with a colon: as `Decision: x`, `**Gotcha:** x`, a heading, a quoted line, an
    item or a checkbox. A marker without a text counts for the list or the line below it. A sentence that begins with
    "We decided" is a decision. The text of a next step begins with `NEXT:`, that of a thing done with `DONE:`. Code,
    quotes with other lines, and explanations of the markers do not count.
    """
    lines = _LINES.split(text)
    hidden = {number for number, is_code in enumerate(hidden_lines(text)) if is_code}
    hidden |= _quoted(lines) | _explained(lines)
    ticked = Counter(kind_of(found) for line in lines if (found := _LINE.match(line)) and found["mark"] == "`")
    place = 0
    while place < len(lines):
        line, here = lines[place], place
        place += 1
        if here in hidden:
            continue
        found = _LINE.match(line)
        if found is None or not (found["colon"] or found["heading"]):
            yield from (("decisions", _whole(said)) for said in _DECIDED.findall(line.strip(" \t->+*")))
            continue
        if found["mark"] == "`" and len(ticked) > 1:
            continue
        kind, lead = kind_of(found)
        texts = [found["text"]]
        if not found["text"].strip(" *_"):
            texts, place = _below(lines, place, hidden)
        yield from ((kind, lead + _whole(one)) for one in texts if _says(one))


def kind_of(found: re.Match[str]) -> tuple[str, str]:
    """Return the signal of a marker, and the text before its own."""
    return next(kind for words, kind in _MARKERS.items() if re.fullmatch(words, found["word"], re.IGNORECASE))


def _whole(text: str) -> str:
    return " ".join(text.split())[:MOST_CHARACTERS]


def _says(text: str) -> bool:
    """Return whether a text says more than the placeholder behind a marker."""
    words = re.findall(r"\w+", _PLACEHOLDER.sub(" ", text).lower())
    return bool(words) and (len(words) == 1 or not set(words) <= _EXPLAINING)


def _below(lines: list[str], place: int, hidden: set[int]) -> tuple[list[str], int]:
    """Return the items of the list at a place, or the one line there, and the place behind them."""
    while place < len(lines) and not lines[place].strip():
        place += 1
    texts: list[str] = []
    while place < len(lines) and place not in hidden and (item := _ITEM.match(lines[place])):
        if _LINE.match(lines[place]):
            return texts, place
        texts.append(item["text"])
        place += 1
    if texts or place >= len(lines) or place in hidden or _LINE.match(lines[place]) or lines[place].startswith("#"):
        return texts, place
    return [lines[place].strip()], place + 1


def _quoted(lines: list[str]) -> set[int]:
    """Return the numbers of the lines of quotes in which any line has no marker: they quote a document."""
    found: set[int] = set()
    for quoted, block in groupby(enumerate(lines), lambda one: one[1].lstrip(" ").startswith(">")):
        numbers = dict(block)
        if quoted and not all(map(_LINE.match, numbers.values())):
            found.update(numbers)
    return found


def _explained(lines: list[str]) -> set[int]:
    """Return the numbers of the lines below one that announces the markers, up to a line of another kind."""
    found: set[int] = set()
    explaining = False
    for number, line in enumerate(lines):
        if _TELLS_OF_MARKERS.search(line):
            explaining = True
        elif explaining and line.strip() and not _LINE.match(line) and not _ITEM.match(line):
            explaining = False
        if explaining:
            found.add(number)
    return found
