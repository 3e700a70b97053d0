"""The operation `search`: words in everything that the workspace contains."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from memory.errors import UsageError
from memory.operations import Context, Whole, argument, option, verb
from memory.operations.result import Paint, Result, listing, short
from memory.registry import REGISTRY, kinds
from memory.systems import searcher_of

from .hits import Hit, SearchAnswer
from .query import Query, read_day, read_query

DEFAULT_LIMIT = 20
_PLACES = ", ".join(kind for system in REGISTRY for kind in system.kinds)
_UPDATE_SECONDS = 10.0
"""Seconds that an answer may wait for the index; after them it says that more may come."""
SOME, NONE = "these have some of the words", "no entry has all the words; these have some"
"""The line above partial matches, with and without full matches above it."""


@verb(
    "search",
    serves="look",
    examples=(
        "memdeck search redis cache",
        "memdeck search deploy --in tasks,journal --limit 5",
        "memdeck search '\"deploy to staging\" tag:infra -draft after:7d'",
        "memdeck search 503 -o json",
    ),
)
@argument("query", nargs=-1, required=True)
@option("--in", "places", metavar="KINDS", help=f"Only these, separated by commas: {_PLACES}.")
@option("--limit", type=Whole(0), default=DEFAULT_LIMIT, metavar="N", help="The best N (default: 20, 0 is all).")
@option("--explain", is_flag=True, help="Explain the ranking on stderr.")
def search(context: Context, query: tuple[str, ...], places: str | None, limit: int, explain: bool) -> Result:
    """Find entries that contain the words, in all memory and the archive; the best come first.

    Entries with some of the words follow below a line, so you can ask a question. A word also finds its other forms
    (deploy finds deployment) and, if no entry has it, similar words; "words in quotes" are a phrase; -word excludes;
    in:, tag:, before: and after: narrow the search.
    """
    started = time.monotonic()
    asked = _read(context, query).within(kinds_of(places))
    searcher = context.opened(searcher_of(context.workspace))
    answer = searcher.search(asked, limit, patience=lambda: time.monotonic() - started < _UPDATE_SECONDS)
    notes = [
        *answer.notes,
        *(f"{error.code}: {error.message}; it was not searched" for error in searcher.refused.values()),
        *(_explained(answer, time.monotonic() - started) if explain else ()),
    ]
    return listing("results", lambda: map(as_json, answer.every), lambda paint: _lines(paint, answer), notes)


def _read(context: Context, words: tuple[str, ...]) -> Query:
    # Only relative days need the zone, which is read from a file.
    return read_query(" ".join(words), lambda day: read_day(day, context.now.astimezone(context.workspace.zone).date()))


def kinds_of(places: str | None) -> tuple[str, ...]:
    """Return the kinds that `--in` names, empty without it; UsageError `usage.value`."""
    if places is None:
        return ()
    named = [place.strip().removesuffix(".md").casefold() for place in places.split(",") if place.strip()]
    asked = tuple("plans" if place == "orchestration" else place for place in named)
    known = kinds()
    unknown = [kind for kind in asked if kind not in known]
    if unknown or not asked:
        raise UsageError(
            "usage.value", f"--in does not know {', '.join(unknown) or places!r}", f"name some of {', '.join(known)}"
        )
    return asked


def as_json(hit: Hit) -> dict[str, Any]:
    """Return a hit as JSON for programs."""
    entry = hit.entry
    return {
        "file": entry.file,
        "line": entry.line + 1,
        "ref": entry.ref,
        "title": entry.title,
        "snippet": hit.snippet,
        "score": hit.score,
        "why": [{"term": term, "in": where} for term, where in hit.why],
        "fits_all": hit.fits_all,
    }


def _lines(paint: Paint, answer: SearchAnswer) -> Iterator[str]:
    if not answer.every:
        yield "nothing found"
    for number, hit in enumerate(answer.every):
        if number == len(answer.hits):
            yield f"--- {SOME if number else NONE} ---"
        entry = hit.entry
        where = f"{entry.file}:{entry.line + 1}  {short(entry.ref) if entry.ref else ''}  "
        yield paint.marked(where + entry.title, [(len(where) + a, len(where) + b) for a, b in hit.title_marks])
        if entry.title not in hit.snippet:
            yield paint.marked(hit.snippet, hit.marks, indent="    ")


def _explained(answer: SearchAnswer, seconds: float) -> Iterator[str]:
    yield f"searched in {seconds * 1000:.0f} ms"
    yield from answer.explained
    for number, hit in enumerate(answer.every, 1):
        why = "; ".join(f"{term!r} in the {where}" for term, where in hit.why)
        yield f"{number}. {hit.score:.3f} {hit.entry.title[:60]}: {why or 'it passes the filters'}"
