"""Search without an index: one pass over all records, every word has to be somewhere in one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import nsmallest

from memory.registry import KINDS

from .records import Record

_BEFORE, _LENGTH = 30, 160
# What a word is worth where it is found, best first; a find that has the words as they were typed gains the last.
_WHOLE_WORD, _IN_TITLE, _IN_TEXT, _PHRASE = 6, 4, 1, 3


@dataclass(frozen=True, slots=True)
class Hit:
    """A record that holds all the words; `score` is over 0 and at most 1, `snippet` one line around the first find."""

    record: Record
    score: float
    snippet: str


def words_of(query: str) -> tuple[str, ...]:
    """Return the words of a query in the case in which they are compared, each once."""
    return tuple(dict.fromkeys(query.casefold().split()))


def scan(records: Iterable[Record], query: str, limit: int = 0) -> list[Hit]:
    """Return the records that hold every word of the query anywhere and in any case, the best first.

    A word counts most as a whole word of the title, less inside the title, least in the text; the query as it was
    typed adds to it. Equal finds: the order of `KINDS`, then the later date, then the order of the records. `limit` 0
    is all. A query without words finds nothing.
    """
    words = words_of(query)
    if not words:
        return []
    phrase = " ".join(query.casefold().split())
    best = (_WHOLE_WORD * len(words) + _PHRASE) or 1
    found: list[tuple[int, int, tuple[int, ...], int, Record]] = []
    for number, record in enumerate(records):
        text = record.text.casefold()
        missing = [word for word in words if word not in text]
        # The text of a record holds its title nearly always.
        if missing and not all(word in record.title.casefold() for word in missing):
            continue
        title = record.title.casefold()
        points = sum(_worth(word, title) for word in words) + (_PHRASE if phrase in title else 0)
        found.append((-points, KINDS.index(record.kind), _newest(record.date), number, record))
    chosen = nsmallest(limit, found) if limit else sorted(found)
    return [Hit(record, round(-points / best, 3), snippet(record, words)) for points, _, _, _, record in chosen]


def _worth(word: str, title: str) -> int:
    at = title.find(word)
    if at < 0:
        return _IN_TEXT
    end = at + len(word)
    whole = not (at and title[at - 1].isalnum()) and not (end < len(title) and title[end].isalnum())
    return _WHOLE_WORD if whole else _IN_TITLE


def _newest(date: str) -> tuple[int, ...]:
    """Return what sorts later dates first and no date last."""
    return tuple(-ord(char) for char in date) or (0,)


def snippet(record: Record, words: Sequence[str]) -> str:
    """Return the part of a line around the first word that is found in the text, without line ends."""
    for line in record.text.splitlines():
        folded = line.casefold()
        at = min((place for word in words if (place := folded.find(word)) >= 0), default=-1)
        if at >= 0:
            start = max(0, at - _BEFORE)
            part = line[start : start + _LENGTH].strip()
            return ("…" if start else "") + part + ("…" if start + _LENGTH < len(line) else "")
    return record.title[:_LENGTH]
