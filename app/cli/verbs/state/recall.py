"""`memdeck state recall`, `query`, `add` and `sync`: what events say, and their sources."""

from __future__ import annotations

import os
from collections.abc import Iterator

from app.cli.session import Session
from memory.errors import UsageError
from memory.operations import argument, option, under
from memory.operations.result import SHOWN, more
from memory.state.query import QueryAnswer
from memory.state.recall.recall import SHOWN_LINES, Recalled, RecallPreview, apply
from memory.state.sources import Synced, add_source, chosen
from memory.state.sources import sync as run
from memory.storage.own_folders import home

from .group import confirmed, diff_lines, group_lines, state, store_of, system_of, yes

_NO_SOURCES = "no sources; `memdeck state add` adds one"


@under(
    state,
    "recall",
    serves="change",
    examples=(
        "memdeck state recall",
        "memdeck state recall --source imports --section gotchas",
        "memdeck state recall --yes",
    ),
)
@option("--source", metavar="S", help="Which events: all, local or imports (default: the settings').")
@option("--section", metavar="S", help="Change one section only (default: the settings').")
@option("--policy", metavar="P", help="balanced, imports-only, local-only or project-map-protected.")
@option("--show-diff", is_flag=True, help="Show the changed sections line by line.")
@option("--no-diff", is_flag=True, help="Leave that out, whatever the settings say.")
@yes
def recall(
    session: Session,
    source: str | None,
    section: str | None,
    policy: str | None,
    show_diff: bool,
    no_diff: bool,
    yes: bool,
) -> None:
    """Take what unrecalled events say into the state; shows it first and asks.

    Without a terminal and without --yes it only shows. One that changes nothing still moves the cursor.
    """
    store = store_of(session)
    shown = system_of(session).preview(source, section, policy)
    diff = not no_diff and (show_diff or store.memory().config["recall"]["preview"]["showDiffByDefault"])
    if session.output == "human":
        session.writer.lines(_preview_lines(session, shown, diff))
    if not shown.events:
        if session.output != "human":
            session.writer.document({**shown.json(diff=diff), "outcome": "nothing"})
        return
    if not shown.changes and not shown.settles:
        if session.output != "human":
            session.writer.document({**shown.json(diff=diff), "outcome": "nothing"})
        return
    question = "Apply it?" if shown.changes else "Move the cursor past these events?"
    if not confirmed(session, yes, question, "nothing is written; `--yes` applies it"):
        if session.output != "human":
            session.writer.document({**shown.json(diff=diff), "outcome": "preview"})
        return
    done = apply(store, shown, actor=session.actor, now=session.now)
    session.answer_change(lambda: done.json(diff=diff), lambda: _done_lines(session, done))


def _preview_lines(session: Session, shown: RecallPreview, diff: bool) -> Iterator[str]:

    paint, scope = session.paint, shown.scope
    if shown.note:
        yield paint.notice(paint.line(shown.note))
    if not shown.events:
        yield f"Nothing to recall: no event of the source {scope.source} waits"
        return
    count = len(shown.events)
    events = "1 event" if count == 1 else f"{count:,} events"
    yield f"source {scope.source}, section {scope.section}, policy {scope.policy}: {events}"
    if shown.waiting:
        yield f"{shown.waiting:,} more wait for the next recall: one takes the oldest {count:,}"
    yield from group_lines(session, shown.groups)
    yield paint.line(f"engine: {shown.engine}")
    if not shown.changes:
        yield "the bundle stays as it is"
    for noun, verb, titles in shown.digest.titles():
        for title in titles[:SHOWN]:
            yield paint.line(f"{noun} {verb}: {title}", "  ")
        yield from more(len(titles))
    told = shown.told()
    yield from (paint.notice(paint.line(words, "  ")) for words in told[:SHOWN])
    yield from more(len(told))
    if shown.changes:
        yield f"changed sections: {', '.join(shown.digest.sections)}"
    if shown.digest.protected:
        yield f"protected: {', '.join(shown.digest.protected)}"
    if shown.left:
        yield paint.notice(
            f"these events also change {', '.join(shown.left)}, which this recall leaves; the events wait"
        )
    if diff:
        yield from diff_lines(session, shown.diff(), SHOWN_LINES)


def _done_lines(session: Session, done: Recalled) -> Iterator[str]:
    if done.change is not None:
        yield session.paint.line(done.change.summary)
        if done.outcome == "applied":
            yield f"{done.state['maintenance']['latestCheckpointId']}; `memdeck undo` takes it back"


@under(
    state,
    "query",
    serves="look",
    examples=(
        "memdeck state query 'Why do we use SQLite?'",
        "memdeck state query 'what should I do next' --scope state -o json",
    ),
)
@argument("question", nargs=-1, required=True)
@option("--mode", metavar="M", help="answer, changes, next or traps (default: by the words of the question).")
@option("--scope", default="all", metavar="S", help="state, history or all (the default).")
def query(session: Session, question: tuple[str, ...], mode: str | None, scope: str) -> None:
    """Answer a question from the state and its history, with citations; no model is asked.

    The first line is the best answer, with its source. Where nothing is about the question, it says so.
    """
    memory = store_of(session).memory()
    found = system_of(session).ask(" ".join(question), mode=mode, scope=scope)
    if session.form is None and memory.config["query"]["defaultOutput"] == "json":
        session.writer.document(found.json())
        return
    session.answer(found.json, lambda: _answer_lines(session, found))


def _answer_lines(session: Session, found: QueryAnswer) -> Iterator[str]:
    paint = session.paint
    rows = ((hit.item.id, f"{hit.score:.2f}", hit.item.place, hit.item.file) for hit in found.hits)
    yield from map(paint.line, found.answer.split("\n"))
    yield from ("", f"mode: {found.mode}", paint.line(f"why: {found.why}"), "citations:")
    yield from paint.columns(rows, empty="  none")


@under(
    state,
    "add",
    serves="person",
    examples=(
        "memdeck state add --type claude-local --path ~/.claude",
        "memdeck state add --type codex-local --path ~/.codex --name codex",
    ),
)
@option("--type", "kind", required=True, metavar="T", help="claude-local or codex-local.")
@option("--path", required=True, metavar="P", help="The folder of the agent, or one file with a session.")
@option("--name", metavar="N", help="What the source is called (default: by its type and path).")
def add(session: Session, kind: str, path: str, name: str | None) -> None:
    """Add a source of sessions; `memdeck state sync` imports them."""
    source, change = add_source(
        store_of(session),
        kind,
        path,
        name=name,
        home=home(os.environ),
        folder=os.getcwd(),
        actor=session.actor,
        now=session.now,
    )
    system_of(session).unattended.take([source], session.now)
    session.answer_change(
        lambda: {"source": source, "change": change.id},
        lambda: [session.paint.line(f"added {source['id']}: {source['path']}")],
    )


@under(state, "sources", serves="look", examples=("memdeck state sources",))
def sources(session: Session) -> None:
    """List the sources, and how their last sync ended."""
    found = store_of(session).memory().sources
    rows = (
        (one["id"], one["type"], one["lastSyncStatus"], f"{one['lastImportedCount']:,}", one["path"]) for one in found
    )
    session.listing("sources", lambda: found, lambda: session.paint.columns(rows, empty=_NO_SOURCES))


@under(state, "sync", serves="change", examples=("memdeck state sync --all", "memdeck state sync claude"))
@argument("source", metavar="[ID]", required=False)
@option("--all", "every", is_flag=True, help="All sources.")
def sync(session: Session, source: str | None, every: bool) -> int:
    """Import the sessions of a source, or of all, as events; those that are imported already are skipped.

    A session that grew is imported again. One that cannot be read stops no other; the exit code is then 1.
    """
    if (source is None) == (not every):
        raise UsageError("usage.arguments", "name one ID, or --all", "`memdeck state sources` lists them")
    store = store_of(session)
    wanted = chosen(store.memory().sources, source)
    system_of(session).unattended.take(wanted, session.now)
    ids = [one["id"] for one in wanted]
    done = run(store, ids, home=home(os.environ), actor=session.actor, now=session.now)
    document = {
        "imported": done.imported,
        "sources": [one.json() for one in done.results],
        "change": None if done.change is None else done.change.id,
    }
    session.answer_change(lambda: document, lambda: _sync_lines(session, done))
    return 1 if any(one.failed for one in done.results) else 0


def _sync_lines(session: Session, done: Synced) -> Iterator[str]:
    if not done.results:
        yield _NO_SOURCES
    for one in done.results:
        yield session.paint.line(one.text())
        for words in (*one.failed[:SHOWN], *one.warnings[:SHOWN]):
            yield session.paint.notice(session.paint.line(words, "    "))
