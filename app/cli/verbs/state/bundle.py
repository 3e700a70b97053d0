"""`memdeck state`: creating, updating, showing and editing the state of a project, and its status."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path

from app.cli.session import Session
from memory.errors import ConflictError, MemdeckError, UsageError
from memory.operations import Whole, argument, option, under
from memory.operations.result import SHOWN, more
from memory.registry import workspace_of
from memory.state.analysis import analyse
from memory.state.analysis.analyse import FOREIGN
from memory.state.files.json_text import canonical
from memory.state.files.model import KEYS
from memory.state.look import checkpoint_lines, diff_of
from memory.state.operations import StateChange, key_of
from memory.state.projections.files import render_projections
from memory.state.status import Status, status_of
from memory.storage.own_folders import home, state_home
from memory.workspace import Workspace

from .group import (
    SECTIONS,
    diff_lines,
    group_lines,
    json_of,
    state,
    store_of,
    system_of,
)


@under(
    state, "init", serves="change", examples=("memdeck state init", "memdeck state init --provider codex -w ~/src/shop")
)
@option("--provider", default="claude", metavar="P", help="Whose agent works here: claude (the default) or codex.")
@option("--force", is_flag=True, help="Put what is there into the archive, and begin again.")
def init(session: Session, provider: str, force: bool) -> None:
    """Make the state from the repository as it is: manifests, entry points, README, tree, test commands, git.

    No model is asked and nothing of the repository is run. Where anything of it is there already, this says what, and
    changes nothing.
    """
    from memory.state.operations import init as run

    _begin(session)
    store = system_of(session).store
    made = run(
        store,
        lambda: analyse(store.root, now=session.now),
        provider=provider,
        actor=session.actor,
        now=session.now,
        force=force,
    )
    _say_written(session, made)


def _begin(session: Session) -> None:
    """Use the repository around the folder as the workspace if it has no memory yet."""

    folder = os.path.abspath(session.folder or ".")
    if not os.path.isdir(folder):
        raise UsageError("workspace.no_folder", f"{session.folder!r} is not a folder", "name a folder")
    root = _repository(folder)
    known = workspace_of(folder)
    # A workspace above the repository is a different one: the state belongs to the repository.
    if known is None or (root is not None and not (known + "/").startswith(root.rstrip("/") + "/")):
        known = root or folder
    session.use(Workspace(Path(known), state_home=state_home(os.environ), home=home(os.environ)))


def _repository(folder: str) -> str | None:
    """Return the nearest folder upwards that contains a git repository, None if there is none."""
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder


def _say_written(session: Session, made: StateChange) -> None:

    def lines() -> Iterator[str]:
        paint = session.paint
        yield paint.line(made.summary)
        if made.change is None:
            return
        bundle, maintenance = made.state["bundle"], made.state["maintenance"]
        if made.archived is not None:
            yield paint.line(f"what was there is in {made.archived}")
        yield paint.line(bundle["project"]["summary"])
        yield from (paint.line(one) for one in bundle["currentFocus"]["currentState"] if one == FOREIGN)
        yield f"{maintenance['latestCheckpointId']}, bundle {made.state['bundleHash'][:12]}"
        yield paint.line(f"docs/agent-memory/README.md shows it, {bundle['project']['recommendedEntryFile']} names it")

    session.answer_change(made.json, lines)


@under(state, "update", serves="change", examples=("memdeck state update",))
def update(session: Session) -> None:
    """Renew the state from the repository as it is; what recalls and people put into it stays."""
    from memory.state.operations import update as run

    store = store_of(session)
    made = run(store, lambda: analyse(store.root, now=session.now), actor=session.actor, now=session.now)
    _say_written(session, made)


@under(
    state,
    "status",
    serves="look",
    examples=("memdeck state status", "memdeck state status --checkpoint chk-000003 -o json"),
)
@option("--checkpoint", metavar="ID", help="Tell the drift against this one, not against the latest.")
def status(session: Session, checkpoint: str | None) -> None:
    """Say how things stand: events that wait, sources, drift, retention, and the one thing to do next."""

    found = status_of(store_of(session).memory(), session.now, checkpoint=checkpoint, work=True)
    session.answer(found.json, lambda: _status_lines(session, found))


def _status_lines(session: Session, found: Status) -> Iterator[str]:
    paint = session.paint
    waiting = ", ".join(f"{count:,} {scope}" for scope, count in found.unrecalled.items() if scope != "all")
    rows = [
        ("bundle", f"{found.state['bundleHash'][:12]}, of {found.state['generatedAt']}"),
        ("events", f"{found.totals['all']:,}, {found.unrecalled['all']:,} not yet recalled ({waiting})"),
        ("checkpoints", f"{found.checkpoints:,}, the latest is {found.state['maintenance']['latestCheckpointId']}"),
        ("drift", _drift(found)),
        ("retention", found.retention.text()),
        ("archive", f"{found.batches:,} {'batch' if found.batches == 1 else 'batches'}"),
    ]
    work = found.work
    if work is not None:
        rows.insert(0, ("branch", work.branch or "none"))
        rows[1:1] = [("" if place else "commits", one) for place, one in enumerate(work.subjects)]
    yield from paint.columns(rows)
    for source in found.sources:
        when = source["lastSyncedAt"] or "never synced"
        error = f": {source['lastSyncError']}" if source["lastSyncError"] else ""
        line = f"source {source['id']}  {source['lastSyncStatus']}, {when}{error}"
        yield paint.notice(paint.line(line)) if error else paint.line(line)
    yield from group_lines(session, found.groups)
    command = f"{found.next.command}  " if found.next.command else ""
    yield paint.line(f"next: {command}({found.next.why})")


def _drift(found: Status) -> str:
    if found.drift_why:
        return found.drift_why
    changed = ", ".join(one.section for one in found.drift)
    return f"{changed} differ from {found.against}" if changed else f"none against {found.against}"


@under(
    state,
    "show",
    serves="look",
    examples=("memdeck state show", "memdeck state show gotchas", "memdeck state show project -o json"),
)
@argument("section", metavar="[SECTION]", required=False)
def show(session: Session, section: str | None) -> None:
    """Show the bundle or one section of it, as Markdown for people and as JSON for programs."""

    bundle = store_of(session).memory().bundle
    if section is not None:
        key = key_of(section)
        if session.output != "human":
            session.writer.document({key: bundle[key]})
            return
    elif session.output != "human":
        session.writer.document({"bundle": bundle})
        return
    texts = render_projections(bundle, "0" * 64)
    names = {"project": "project-map", "validation-commands": "current-focus"}
    chosen = [section] if section else [name for name in KEYS if name not in names]
    lines = [line for name in chosen for line in [*texts[names.get(name, name)].split("\n")[2:]]]
    session.writer.lines(session.paint.line(line) if line else "" for line in lines)


@under(
    state,
    "edit",
    serves="change",
    examples=(
        "memdeck state edit gotchas",
        "memdeck state edit next-steps --json steps.json",
        "cat gotchas.json | memdeck state edit gotchas --json -",
    ),
)
@argument("section")
@option("--json", "source", metavar="FILE|-", help="Take the section from this file, or from stdin.")
def edit(session: Session, section: str, source: str | None) -> None:
    """Edit a section of the bundle as JSON in $EDITOR; it is checked before anything is written.

    What does not pass can be edited again; a text that is not saved in the end is kept, and you are told where.

    Sections: project, project-map, current-focus, gotchas, next-steps, validation-commands.
    """
    from memory.state.operations import edit as run

    store = store_of(session)
    base = store.memory().bundle[key_of(section)]
    if source is not None:
        value = json_of(
            source if session.served else _text_of(source), "the text" if session.served or source == "-" else source
        )
        made = run(store, section, value, base=None, actor=session.actor, now=session.now)
    elif session.asks_person:

        def save(text: str) -> StateChange:
            return run(store, section, json_of(text, section), base=base, actor=session.actor, now=session.now)

        made = _edited(session, canonical(base) + "\n", f"{section}.json", save)
    else:
        raise UsageError("state.edit", "there is no terminal for an editor", "give the section with --json FILE")
    _say_written(session, made)


def _edited(session: Session, text: str, name: str, save: Callable[[str], StateChange]) -> StateChange:
    """Let the user edit a text until it is saved; if it is not, it is kept in a file that the error names."""
    from app.tui.forms.editor import edit_text, keep_text

    before = text
    while True:
        text = edit_text(text, os.environ, nullcontext, name, outside=str(session.workspace.root))
        try:
            return save(text)
        except MemdeckError as error:
            session.writer.lines([session.paint.alert(session.paint.line(str(error)))])
            if not isinstance(error, ConflictError) and session.agreed("Edit your text again?"):
                continue
            hint = error.hint if text == before else f"your text is in {keep_text(text, name)}"
            raise type(error)(error.code, error.message, hint, **error.details) from None


def _text_of(source: str) -> str:
    try:
        data = sys.stdin.buffer.read() if source == "-" and sys.stdin is not None else Path(source).read_bytes()
    except OSError as error:
        raise UsageError("state.edit", f"{source!r} cannot be read ({error.strerror})", "check its name") from None
    return data.decode("utf-8", "replace")


@under(
    state, "export", serves="look", examples=("memdeck state export > ~/state.json", "memdeck state export --bundle")
)
@option("--bundle", is_flag=True, help="The bundle alone, in the form whose SHA-256 is its hash.")
def export(session: Session, bundle: bool) -> None:
    """Print the whole of it as one JSON document: state, events, checkpoints, sources and settings."""

    memory = store_of(session).memory()
    if bundle:
        session.writer.text(canonical(memory.bundle))
        return
    checkpoints = [memory.checkpoint(name) for name in memory.checkpoint_ids]
    whole = {
        "state": memory.state,
        "events": list(memory.events),
        "checkpoints": checkpoints,
        "sources": memory.sources,
        "config": memory.config,
    }
    session.writer.text(canonical(whole) + "\n")


@under(state, "checkpoints", serves="look", examples=("memdeck state checkpoints", "memdeck state checkpoints -o json"))
def checkpoints(session: Session) -> None:
    """List the checkpoints, the newest first."""

    found = checkpoint_lines(store_of(session).memory())
    rows = [
        {
            "id": one.id,
            "createdAt": one.created,
            "eventId": one.event,
            "summary": one.summary,
            "problem": one.why or None,
        }
        for one in found
    ]
    session.listing(
        "checkpoints",
        lambda: rows,
        lambda: session.paint.columns((one.id, one.created[:16], one.why or one.summary) for one in found),
    )


@under(
    state,
    "events",
    serves="look",
    examples=("memdeck state events", "memdeck state events --unrecalled --limit 0 -o jsonl"),
)
@option("--unrecalled", is_flag=True, help="Only those that no recall has looked at.")
@option("--limit", type=Whole(0), default=50, metavar="N", help="The newest N (default: 50, 0 is all).")
def events(session: Session, unrecalled: bool, limit: int) -> None:
    """List the events, the newest first."""
    memory = store_of(session).memory()
    found = list(reversed(memory.unrecalled() if unrecalled else memory.events))
    found = found[:limit] if limit else found
    session.listing(
        "events",
        lambda: found,
        lambda: session.paint.columns(
            (one["id"], one["createdAt"][:16], one["sourceId"], one["summary"]) for one in found
        ),
    )


@under(
    state,
    "diff",
    serves="look",
    examples=("memdeck state diff chk-000001 chk-000004", "memdeck state diff chk-000004 state -o json"),
)
@argument("before", metavar="A")
@argument("after", metavar="B")
@option("--section", metavar="S", help=f"One section only: {SECTIONS}.")
def diff(session: Session, before: str, after: str, section: str | None) -> None:
    """Say what is apart between two checkpoints, section by section; `state` stands for the bundle as it is now."""

    if section is not None:
        key_of(section)
    found = diff_of(store_of(session).memory(), before, after)
    found = tuple(one for one in found if section in (None, one.section))

    def lines() -> Iterator[str]:
        changed = [one for one in found if one.changed]
        if not changed:
            yield f"nothing is apart between {before} and {after}"
        for one in changed:
            for sign, entries in (("added", one.added), ("removed", one.removed)):
                for place, entry in entries[:SHOWN]:
                    yield session.paint.line(f"{one.section}: {sign} {entry}" + (f" ({place})" if place else ""))
                yield from more(len(entries))
        yield from diff_lines(session, changed)

    rows = [one.json() for one in found]
    session.answer(lambda: {"before": before, "after": after, "sections": rows}, lines, lambda: rows)


# The other verbs are added to the group when their modules are imported.
from . import recall as state_recall  # noqa: E402, F401
from . import upkeep as state_upkeep  # noqa: E402, F401

__all__ = ["state"]
