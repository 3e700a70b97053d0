"""`memdeck typed`: the core, procedural and episodic memory of registered agents; its status, and pruning it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from app.cli.printing import first
from app.cli.session import Session
from memory.base.clock import format_utc
from memory.operations import option, under
from memory.typed import AgentStatus
from memory.typed.files import TYPES
from memory.typed.prune import prune as run
from memory.typed.sizes import age_text, bytes_text
from memory.typed.status import AgentPrune, status_of

from .group import AgentStores, files, one_agent, typed


@under(
    typed, "status", serves="look", examples=("memdeck typed status", "memdeck typed status --agent builder -o json")
)
@one_agent
def status(session: Session, agent: str | None) -> None:
    """Say per agent how large each type is, the oldest file, tokens against compact_after, and the next prune."""
    place = AgentStores(session)
    may = place.may_prune()
    found = [status_of(one, session.now, may) for one in place.agents(agent, here=True)]
    session.listing("agents", lambda: (one.json() for one in found), lambda: _status_lines(session, found))


def _status_lines(session: Session, found: list[AgentStatus]) -> Iterator[str]:

    paint = session.paint
    if not found:
        yield "no agents; list them under [[agents]] in ~/.aide/config.toml"
    for number, one in enumerate(found):
        if number:
            yield ""
        note = "" if one.agent.registered else "  (not registered, so never pruned by itself)"
        yield paint.line(f"{one.agent.name}  {one.agent.folder}{note}")
        if one.look.error is not None:
            yield paint.alert(paint.line(f"{one.look.error.code}: {one.look.error.message}", "  "))
            continue
        rows = []
        for kind in TYPES:
            oldest = one.oldest(kind)
            age = "" if oldest is None else f"oldest {age_text(oldest)}"
            rows.append((kind, files(len(one.found.of(kind))), bytes_text(one.found.size(kind)), age))
        yield from paint.columns(rows)
        yield _fill_line(session, one)
        if one.prune.error is not None:
            yield paint.notice(paint.line(one.prune.error.message, "  "))
        if one.prune.deleted:
            yield f"  the next prune takes {files(len(one.prune.deleted))}, {bytes_text(one.prune.freed)}"
        for path in one.found.missing:
            yield paint.notice(paint.line(f"the core file {path} is not there", "  "))
        for holder in one.look.locks:
            line = paint.line(f"{holder.path} is locked by {holder.text()}", "  ")
            yield paint.notice(line) if holder.dead else line


def _fill_line(session: Session, one: AgentStatus) -> str:
    text = f"  {one.found.tokens:,} tokens"
    if one.limit is None or one.fill is None:
        return text
    text += f" of {one.limit:,} ({one.fill:.0%})"
    return session.paint.alert(f"{text}: compact it") if one.fill > 1 else text


@under(
    typed,
    "prune",
    serves="change",
    examples=("memdeck typed prune --dry-run", "memdeck typed prune", "memdeck typed prune --agent ada"),
)
@option("--dry-run", is_flag=True, help="Only say what would be deleted.")
@one_agent
def prune(session: Session, dry_run: bool, agent: str | None) -> int:
    """Delete episodic files older than 7 days and procedural ones older than 90, of every registered agent.

    Core files, locks and locked files are never touched, links are not followed, and a file that fails does not stop
    the others. `memdeck undo` in the agent's folder brings the files back. Folders that an Aidefile chose by itself
    need an approval (`memdeck trust list` in the agent's folder); until then the exit code is 3.
    """
    place = AgentStores(session)
    agents = place.agents(agent)
    may = place.may_prune()
    found = [run(one, place.store, session.now, actor=session.actor, dry_run=dry_run, may=may) for one in agents]
    if not dry_run and not any(one.error or one.errors for one in found) and any(one.deleted for one in found):
        session.made = "pruned"

    def document() -> dict[str, Any]:
        total = {
            "deleted": sum(len(one.deleted) for one in found),
            "kept": sum(one.kept for one in found),
            "skipped": sum(len(one.skipped) for one in found),
            "errors": sum(len(one.errors) for one in found),
            "bytes_freed": sum(one.freed for one in found),
        }
        agents = [one.json() for one in found]
        return {"dry_run": dry_run, "now": format_utc(session.now), "agents": agents, "total": total}

    session.answer(document, lambda: _prune_lines(session, found, dry_run))
    return next((one.error.exit_code for one in found if one.error is not None), 0)


def _prune_lines(session: Session, found: list[AgentPrune], dry_run: bool) -> Iterator[str]:

    paint = session.paint
    if not found:
        yield "no agents; list them under [[agents]] in ~/.aide/config.toml"
    for one in found:
        if one.error is not None:
            yield paint.alert(paint.line(f"{one.agent.name}: {one.error.code}: {one.error.message}"))
            if not one.deleted:
                continue
        verb = "would delete" if dry_run else "deleted"
        yield paint.line(
            f"{one.agent.name}: {verb} {files(len(one.deleted))} ({bytes_text(one.freed)}), kept {one.kept:,}, "
            f"skipped {len(one.skipped):,}, errors {len(one.errors):,}"
        )
        if dry_run:
            yield from first(one.deleted, lambda file: paint.line(f"{file.type}  {file.path}", "    "))
        yield from first(one.skipped, lambda left: paint.line(f"skipped: {left.path}: {left.reason}", "    "))
        yield from first(
            one.errors, lambda left: paint.notice(paint.line(f"error: {left.path}: {left.reason}", "    "))
        )


# The other verbs are added to the group when their modules are imported.
from . import failures as typed_failures  # noqa: E402, F401
from . import operations as typed_operations  # noqa: E402, F401

__all__ = ["typed"]
