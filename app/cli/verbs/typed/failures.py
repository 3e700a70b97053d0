"""`memdeck typed fail`, `failures` and `distill`: the notes that failed runs leave, and proposals made from them."""

from __future__ import annotations

from collections.abc import Iterator

from app.cli.printing import SHOWN, more, tell
from app.cli.session import Session
from memory.errors import MemdeckError
from memory.operations import Choice, Whole, argument, option, under
from memory.typed.failures import LESSONS, Summary, propose, summarise
from memory.typed.files import aidefile_of
from memory.typed.ops import write_failure
from memory.typed.reading import failures_of
from memory.typed.status import look_at
from memory.typed.stores import path_in
from memory.typed.writes import AgentWriter

from .group import AgentStores, one_agent, typed


@under(
    typed,
    "fail",
    serves="change",
    examples=("memdeck typed fail ada --status timeout --task 'Migrate the database' --tokens 90000",),
)
@argument("agent", metavar="AGENT")
@option("--status", "status_", required=True, type=Choice(("partial", "timeout")), help="How the run ended.")
@option("--task", required=True, metavar="TEXT", help="What the run was to do; the first 200 characters count.")
@option("--tokens", required=True, type=Whole(least=0), metavar="N", help="How many tokens it took.")
@option("--issue", default="local", metavar="I", show_default=True, help="The issue it was about.")
def fail(session: Session, agent: str, status_: str, task: str, tokens: int, issue: str) -> None:
    """Note in the agent's failures.md that a run failed.

    A note that cannot be written is said on stderr and is no error: it must not fail what the note is about.
    """

    place = AgentStores(session)
    (one,) = place.agents(agent)
    path, why = None, None
    try:
        path = write_failure(
            one, status_, task, tokens, issue, session.now, store=place.store(one), actor=session.actor
        )
        session.made = f"noted in {path}"
    except (MemdeckError, OSError) as error:
        why = error
        tell(f"memdeck: the failure was not noted: {error}")
    words = f"noted in {path}" if why is None else "not noted"
    session.answer(lambda: {"written": why is None, "path": path}, lambda: [session.paint.line(words)])


@under(
    typed, "failures", serves="look", examples=("memdeck typed failures", "memdeck typed failures --agent ada -o json")
)
@one_agent
def failures(session: Session, agent: str | None) -> None:
    """Sum up the agents' failure notes by reason, by issue and by week, similar tasks together."""

    agents = AgentStores(session).agents(agent, here=True)
    found = summarise(failure for one in agents for failure in failures_of(look_at(one)))
    document = {**found.json(), "failures": [one.json() for one in found.failures]}
    session.answer(lambda: document, lambda: _failure_lines(session, found))


def _failure_lines(session: Session, found: Summary) -> Iterator[str]:
    paint = session.paint
    if not found.failures:
        yield "no failures noted"
        return
    yield f"{len(found.failures):,} failures"
    for heading, counts in (("By reason", found.by_reason), ("By issue", found.by_issue)):
        yield ""
        yield heading
        yield from paint.columns((f"{count:>5,}", name) for name, count in list(counts.items())[:SHOWN])
    yield ""
    yield "By week"
    most = max(found.by_week.values())
    bars = ((week, f"{count:>5,}", "#" * max(1, round(30 * count / most))) for week, count in found.by_week.items())
    yield from paint.columns(bars)
    yield ""
    yield "Similar tasks"
    rows = []
    for one in found.groups[:SHOWN]:
        newest = one.failures[0]
        reasons = ", ".join(f"{name} {count}" for name, count in one.reasons.items())
        rows.append((f"{len(one.failures):>5,}", newest.at[:10], reasons, newest.snippet))
    yield from paint.columns(rows)
    yield from more(len(found.groups))


@under(typed, "distill", serves="change", examples=("memdeck typed distill ada", "memdeck typed distill ada --accept"))
@argument("agent", metavar="AGENT")
@option("--least", type=Whole(least=1), default=2, metavar="N", show_default=True, help="Similar failures.")
@option("--to", "target", metavar="PATH", help="The note, from the agent's folder on (default: lessons.md).")
@option("--accept", is_flag=True, help="Write the proposal to that note; blocks of the same heading are replaced.")
def distill(session: Session, agent: str, least: int, target: str | None, accept: bool) -> None:
    """Propose a procedural note about what failed repeatedly, for a person to read and accept."""

    place = AgentStores(session)
    (one,) = place.agents(agent)
    note = propose(summarise(failures_of(look_at(one))), least=least)
    store = place.store(one)
    path = path_in(store, target or f"{aidefile_of(one.folder).procedural_real}/{LESSONS}")
    change = None
    if accept and note:
        change = AgentWriter(store, session.now, session.actor).merge(path, note, "section_replace")
        session.made = f"written to {path}"
    document = {"agent": one.name, "path": path, "note": note, "accepted": change is not None}

    def lines() -> Iterator[str]:
        if not note:
            yield "nothing failed repeatedly"
            return
        yield from (session.paint.line(line) for line in note.splitlines())
        yield ""
        yield session.paint.line(f"written to {path}" if change else f"--accept writes this to {path}")

    session.answer(lambda: document, lines)
