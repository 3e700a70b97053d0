"""`memdeck search`: words in everything that the workspace holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from memory.errors import MemdeckError, UsageError
from memory.registry import KINDS

from .output import tell
from .session import Session
from .values import short
from .verbs import verb

if TYPE_CHECKING:
    from memory.recall import Hit

DEFAULT_LIMIT = 20
_PLACES = ", ".join(KINDS)


@verb(
    "search",
    examples=(
        "memdeck search redis cache",
        "memdeck search deploy --in tasks,journal --limit 5",
        "memdeck search 503 -o json",
    ),
)
@click.argument("query", nargs=-1, required=True)
@click.option("--in", "places", metavar="KINDS", help=f"Only these, with commas between them: {_PLACES}.")
@click.option(
    "--limit", type=click.IntRange(0), default=DEFAULT_LIMIT, metavar="N", help="The best N (default: 20, 0 is all)."
)
def search(session: Session, query: tuple[str, ...], places: str | None, limit: int) -> None:
    """Find what contains all the words, in any case, in the files and in the archive; the best finds come first.

    A file that cannot be read is left out, which is said on stderr.
    """
    from memory.recall import scan
    from memory.systems import records_of_all

    refused: dict[str, MemdeckError] = {}
    hits = scan(records_of_all(session.workspace, _kinds(places), refused), " ".join(query), limit)
    session.listing("results", lambda: map(as_json, hits), lambda: _lines(session, hits))
    for error in refused.values():
        tell(f"memdeck: {error.code}: {error.message}; it was not searched")


def _kinds(places: str | None) -> tuple[str, ...]:
    if places is None:
        return KINDS
    named = [place.strip().removesuffix(".md").casefold() for place in places.split(",") if place.strip()]
    kinds = tuple("plans" if place == "orchestration" else place for place in named)
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown or not kinds:
        raise UsageError(
            "usage.value", f"--in does not know {', '.join(unknown) or places!r}", f"name some of {_PLACES}"
        )
    return kinds


def as_json(hit: Hit) -> dict[str, Any]:
    """Return a find as programs get it."""
    record = hit.record
    return {
        "file": record.file,
        "line": record.line + 1,
        "ref": record.ref,
        "title": record.title,
        "snippet": hit.snippet,
        "score": hit.score,
    }


def _lines(session: Session, hits: list[Hit]) -> Iterator[str]:
    paint = session.paint
    if not hits:
        yield "nothing found"
    for hit in hits:
        record = hit.record
        where = short(record.ref) if record.ref else ""
        yield paint.line(f"{record.file}:{record.line + 1}  {where}  {record.title}")
        if record.title not in hit.snippet:
            yield paint.line(hit.snippet, indent="    ")
