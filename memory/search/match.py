"""Whether an entry matches a query: the reference definition, with which the index has to agree."""

from __future__ import annotations

from datetime import date

from .hits import FoundEntry, body_of
from .query.query import Query, Term, fits_place
from .query.words import fold, tokens

_EPOCH = date(1970, 1, 1).toordinal()


def day_number(text: str) -> int:
    """Return the days since 1970 of an ISO date, 1 for earlier dates, 0 if it is no date."""
    try:
        return max(date.fromisoformat(text[:10]).toordinal() - _EPOCH, 1)
    except ValueError:
        return 0


def spelled(title: str, text: str) -> str:
    """Return the words of title and text between single spaces; the line end between the two keeps phrases apart."""
    return f" {' '.join(tokens(title))} \n {' '.join(tokens(body_of(title, text)))} "


def holds(words: str, term: Term) -> bool:
    """Return whether a term occurs in `spelled` words."""
    if f" {' '.join(term.words)}{'' if term.open else ' '}" in words:
        return True
    return any(f" {other} " in words for other in term.instead)


def tags_of(tags: tuple[str, ...]) -> tuple[str, ...]:
    """Return tags in the form in which they are compared."""
    return tuple(word for word in ("".join(tokens(tag)) for tag in tags) if word)


def has_tag(wanted: str, tags: tuple[str, ...]) -> bool:
    """Return whether a tag of a query (`tag_word`) is among those of `tags_of`."""
    if wanted.endswith("*"):
        return any(tag.startswith(wanted[:-1]) for tag in tags)
    return wanted in tags


class Matcher:
    """Matches entries against one query."""

    def __init__(self, query: Query) -> None:
        """Prepare what is the same for all entries."""
        self._query = query
        self._needed = [word for term in query.terms if not term.instead for word in term.words]
        self._before = day_number(query.before) or None
        self._after = day_number(query.after)

    def filters(self, entry: FoundEntry) -> bool:
        """Return whether the entry passes the filters."""
        query = self._query
        for places in query.places:
            if not any(fits_place(place, entry.kind, entry.file) for place in places):
                return False
        if any(fits_place(place, entry.kind, entry.file) for place in query.not_places):
            return False
        if query.tags or query.not_tags:
            tags = tags_of(entry.tags)
            if not all(any(has_tag(tag, tags) for tag in group) for group in query.tags):
                return False
            if any(has_tag(tag, tags) for tag in query.not_tags):
                return False
        if query.dated:
            day = day_number(entry.date)
            if not day or day < self._after or (self._before is not None and day >= self._before):
                return False
        return True

    def words(self, entry: FoundEntry) -> str | None:
        """Return the `spelled` words of an entry that matches; None if it does not."""
        query = self._query
        if not self.filters(entry):
            return None
        if self._needed:
            # Most entries lack a word altogether; splitting them into words would take longer than this check.
            folded = fold(f"{entry.title}\n{entry.text}")
            if not all(word in folded for word in self._needed):
                return None
        words = spelled(entry.title, entry.text)
        if all(holds(words, term) for term in query.terms) and not any(holds(words, term) for term in query.without):
            return words
        return None
