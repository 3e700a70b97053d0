"""`memdeck search`: words in everything that the workspace contains."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from app.cli.declared import Whole, argument, option, verb
from app.cli.printing import tell
from app.cli.session import Session, short
from memory.errors import UsageError
from memory.registry import REGISTRY, kinds, system_name

if TYPE_CHECKING:
    from memory.search.hits import Hit, SearchAnswer
    from memory.search.query.query import Query

DEFAULT_LIMIT = 20
_PLACES = ", ".join(kind for system in REGISTRY for kind in system.kinds)
_UPDATE_SECONDS = 3.0
"""Seconds that an answer may wait for an index that is nearly up to date."""
_BUILD_SECONDS = 0.7
"""Seconds for which a search that had to read everything continues indexing after its answer."""
_NEARLY = 0.5
SOME, NONE = "these hold some of the words", "nothing holds all the words; these hold some"
"""The line above partial matches, with and without full matches above it."""
_FILES = {"plans": "orchestration"}
"""The words in the file names of a kind, if they differ from the kind."""


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
@option("--in", "places", metavar="KINDS", help=f"Only these, with commas between them: {_PLACES}.")
@option("--limit", type=Whole(0), default=DEFAULT_LIMIT, metavar="N", help="The best N (default: 20, 0 is all).")
@option("--explain", is_flag=True, help="Say on stderr how the answer came about.")
def search(session: Session, query: tuple[str, ...], places: str | None, limit: int, explain: bool) -> None:
    """Find what contains the words, in any case, in the files and in the archive; the best finds come first.

    What contains all words comes first; below a line comes what contains some of them, so a question can be asked as
    it is. Words may go on (deploy finds deployment); "words in quotes" stand together and are whole; -word is left
    out; in:, tag:, before: and after: narrow it. These hold below the line as well. Where a word stands nowhere,
    similar ones are taken, which is said.
    A file that cannot be read is left out, which is said on stderr.
    """
    from memory.systems import searcher_of

    started = time.monotonic()
    asked_kinds = kinds_of(places)
    asked = _read(session, query).within(asked_kinds)
    searcher = session.opened(searcher_of(session.workspace))
    coverage = searcher.coverage()

    def lasts() -> bool:
        return coverage >= _NEARLY and time.monotonic() - started < _UPDATE_SECONDS

    answer = searcher.search(asked, limit, patience=lasts)
    spent = time.monotonic() - started
    session.listing("results", lambda: map(as_json, answer.every), lambda: _lines(session, answer))
    for note in answer.notes:
        tell(f"memdeck: {note}")
    for file, error in searcher.refused.items():
        if not asked_kinds or _is_of(session, file, asked_kinds):
            tell(f"memdeck: {error.code}: {error.message}; it was not searched")
    if explain:
        _explain(answer, coverage, spent)
    if answer.source == "scan" and session.workspace.state is not None:
        session.writer.flush()
        end = time.monotonic() + _BUILD_SECONDS
        searcher.update(lambda: time.monotonic() < end)


def _read(session: Session, words: tuple[str, ...]) -> Query:
    from memory.search.query.query import read_day, read_query

    text = " ".join(words)
    # Only relative days need the zone, which is read from a file.
    return read_query(text, lambda day: read_day(day, session.now.astimezone(session.workspace.zone).date()))


def _is_of(session: Session, file: str, asked: tuple[str, ...]) -> bool:
    """Return whether a file that was not searched may contain some of the requested kinds."""

    for system in session.workspace.systems():
        held = system_name(system.name).kinds
        if system.owns(file):
            return bool(set(held) & set(asked)) and (
                len(held) == 1 or any(_FILES.get(kind, kind) in file for kind in asked)
            )
    return True


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


def _lines(session: Session, answer: SearchAnswer) -> Iterator[str]:
    paint = session.paint
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


def _explain(answer: SearchAnswer, coverage: float, seconds: float) -> None:
    tell(f"searched by {answer.source} in {seconds * 1000:.0f} ms; {coverage:.0%} of the files were indexed before")
    for line in answer.explained:
        tell(line)
    for number, hit in enumerate(answer.every, 1):
        why = "; ".join(f"{term!r} in the {where}" for term, where in hit.why)
        tell(f"{number}. {hit.score:.3f} {hit.entry.title[:60]}: {why or 'it passes the filters'}")
