"""The query language: any text is a query, and anything odd about it is reported in `notes`.

deploy staging        both words, in any order; words may be longer (`deployment`)
"deploy to staging"   these words in this order, none longer
deploy*               begins with it; also for words of one or two letters
-draft  -"old plan"   not with it
in:tasks,archive      only these kinds or files; `file:` is the same
tag:infra             with the tag
before:2026-02-01     earlier than that day
after:7d              on that day or later; seven days ago
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import date
from typing import Any, NamedTuple

from memory.base.dates import read_date
from memory.base.words import is_unspaced, tokens
from memory.registry import kinds

LONGEST = 2000
"""Maximum characters of a query; the rest is ignored."""
MOST_TERMS = 40
SHORT = 2
"""Words of up to this many letters are matched whole."""

_PART = re.compile(
    r"(?P<minus>-)?(?:(?P<key>[A-Za-z]+):)?(?:\"(?P<phrase>[^\"]*)(?P<end>\"?)(?P<phrase_star>\*?)|(?P<word>[^\s\"]+))"
)
_PLACES, _TAG, _BEFORE, _AFTER = frozenset({"in", "file"}), "tag", "before", "after"
_KEYS = _PLACES | {_TAG, _BEFORE, _AFTER}
_MONTH = re.compile(r"(\d{4})(?:-(\d{1,2}))?", re.ASCII)

ReadDate = Callable[[str], "date | None"]


class Term(NamedTuple):
    """Consecutive words to find: `text` as it was typed, `words` in the form in which they are compared.

    With `open` the last word may be longer. A `strict` term was quoted: entries without it are not found at all.
    """

    text: str
    words: tuple[str, ...]
    open: bool
    strict: bool = False


class Query(NamedTuple):
    """A parsed query: all of `terms` and none of `without`, in entries that pass every filter.

    `places` and `tags` are groups; one name of each group has to match. `before` is exclusive, `after` inclusive (ISO
    dates). `notes` are sentences for the user.
    """

    text: str = ""
    terms: tuple[Term, ...] = ()
    without: tuple[Term, ...] = ()
    places: tuple[tuple[str, ...], ...] = ()
    not_places: tuple[str, ...] = ()
    tags: tuple[tuple[str, ...], ...] = ()
    not_tags: tuple[str, ...] = ()
    before: str = ""
    after: str = ""
    notes: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether it searches for nothing at all."""
        return self == Query(self.text, notes=self.notes)

    @property
    def dated(self) -> bool:
        """Whether only entries with a date can match."""
        return bool(self.before or self.after)

    @property
    def placed(self) -> bool:
        """Whether it names kinds or files."""
        return bool(self.places or self.not_places)

    def within(self, kinds: tuple[str, ...]) -> Query:
        """Return the query for some kinds only."""
        return self._replace(places=(*self.places, kinds)) if kinds else self


class _Reader:
    """Reads a query part by part; `found` holds what each part adds, by the field of the query."""

    def __init__(self, read_date: ReadDate) -> None:
        self.read_date = read_date
        self.found: dict[str, list[Any]] = defaultdict(list)

    def part(self, found: re.Match[str]) -> None:
        minus, key = bool(found["minus"]), (found["key"] or "").casefold()
        quoted = found["phrase"] is not None
        value = found["phrase"] if quoted else found["word"]
        if not key and not quoted and value.endswith(":") and value[:-1].casefold() in _KEYS:
            key, value = value[:-1].casefold(), ""
        if key in _KEYS:
            self.filter(key, value.strip(), minus)
            return
        text = f"{found['key']}:{value}" if key else value
        if quoted and not found["end"]:
            self.note(f"the quote before {value[:40]!r} is not closed; it extends to the end of the query")
        star = bool(found["phrase_star"]) if quoted else text.endswith("*")
        self.word(text, quoted, star, minus)

    def word(self, text: str, quoted: bool, star: bool, minus: bool) -> None:
        words = tokens(text)
        if not words:
            if text.strip():
                self.note(f"{text[:40]!r} has no letter or digit; it was ignored")
            return
        short = len(words[-1]) <= SHORT and words[-1].isascii()
        whole = not star and (quoted or short)
        if is_unspaced(words[-1]):
            # The last character of a run has no partner: the pairs before it suffice.
            words, whole = (words[:-1], True) if len(words) > 1 else (words, False)
        term = Term(text if quoted else text.rstrip("*"), tuple(words), not whole, strict=quoted)
        self.found["without" if minus else "terms"].append(term)

    def filter(self, key: str, value: str, minus: bool) -> None:
        if not value:
            self.note(f"{key}: has no value; it was ignored")
        elif key in (_BEFORE, _AFTER):
            day = self.read_date(value)
            if day is None:
                self.note(
                    f"{key}: does not understand {value[:40]!r}; "
                    'write 7d, yesterday, mon, 5nov, "2 Dec 2025" or YYYY-MM-DD'
                )
                return
            # "Not before a day" means on it or after it.
            self.found[_BEFORE if (key == _BEFORE) != minus else _AFTER].append(day.isoformat())
        else:
            values = tuple(one for one in (part.strip().casefold() for part in value.split(",")) if one)
            if key == _TAG:
                values = tuple(tag for tag in map(tag_word, values) if tag)
            name = "tags" if key == _TAG else "places"
            if not values:
                self.note(f"{key}: has nothing to look for; it was ignored")
            elif minus:
                self.found[f"not_{name}"].extend(values)
            else:
                self.found[name].append(values)

    def note(self, text: str) -> None:
        self.found["notes"].append(text)


def read_query(text: str, read_date: ReadDate) -> Query:
    """Parse a text into a query; never fails. `read_date` returns the day that a text means, None for none."""
    reader = _Reader(read_date)
    if len(text) > LONGEST:
        reader.note(f"only the first {LONGEST} characters of the query are used")
    for number, found in enumerate(_PART.finditer(text[:LONGEST])):
        if number == MOST_TERMS:
            reader.note(f"only the first {MOST_TERMS} parts of the query are used")
            break
        reader.part(found)
    values: dict[str, Any] = {name: tuple(dict.fromkeys(held)) for name, held in reader.found.items()}
    # Of several days the strictest counts.
    values[_BEFORE] = min(values.get(_BEFORE, ()), default="")
    values[_AFTER] = max(values.get(_AFTER, ()), default="")
    return Query(text, **values)


def plain_query(text: str) -> Query:
    """Return the query for a text of a person: each of its words, none of it read as a filter."""
    terms = []
    for part in text[:LONGEST].split():
        words = tuple(tokens(part))
        if words:
            terms.append(Term(part, words, len(words[-1]) > SHORT))
    return Query(text, tuple(dict.fromkeys(terms)))


def tag_word(tag: str) -> str:
    """Return a tag in the form for comparison: its letters and digits; a star at the end stays."""
    return "".join(tokens(tag)) + ("*" if tag.endswith("*") and tokens(tag) else "")


def fits_place(wanted_place: str, kind: str, file: str) -> bool:
    """Return whether `in:` or `file:` names the kind; else whether it is a part of the file's name or begins a kind's.

    `archive` names all archives; `memory` is a kind, and not every file below a folder of that name.
    """
    place = "plans" if wanted_place == "orchestration" else wanted_place
    if place in kinds():
        return place == kind
    return wanted_place in file.casefold() or (len(place) > SHORT and kind.startswith(place))


def unknown_places(query: Query, held: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return the names in `in:` and `file:` that match nothing; `held` are the existing kinds and files."""
    named = dict.fromkeys(place for group in (*query.places, query.not_places) for place in group)
    if not named:
        return ()
    pairs = [*((kind, "") for kind in kinds()), *held]
    return tuple(place for place in named if not any(fits_place(place, kind, file) for kind, file in pairs))


def read_day(text: str, today: date) -> date | None:
    """Return the day that `before:` or `after:` names: the first of `2024-01` or `2024`, or a date as typed elsewhere
    (`7d`: seven days ago, `yesterday`, `fri`, `5 Nov`: the latest). None for other texts.
    """
    month = _MONTH.fullmatch(text.strip())
    if month is None:
        return read_date(text.strip(), today, past=True)
    try:
        return date(int(month[1]), int(month[2] or 1), 1)
    except ValueError:
        return None
