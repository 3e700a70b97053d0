"""The verbs on all workspaces of a person: list, search, look, check and keep them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from app.cli.lazy_groups import group, under
from app.cli.output.printing import tell
from app.cli.session import Session

if TYPE_CHECKING:
    from memory.fleet import EmbeddedFleet, FleetHit, Kept, Overview
    from memory.fleet.model import Progress

FAILED, FOUND = 1, 4

fleet = group("fleet", "All workspaces of a person: list, search, look at, check and maintain them.")
_dir = click.argument("folder", metavar="DIR", required=False)


def _fleet(session: Session) -> EmbeddedFleet:
    """Return the workspaces of this person on this machine, which `MEMDECK_HOST` may name."""
    import socket

    from app.places import config_home, home, state_home
    from memory.fleet import EmbeddedFleet

    del session
    host = os.environ.get("MEMDECK_HOST") or socket.gethostname()
    where = state_home(os.environ)
    return EmbeddedFleet(
        where, host=host, home=home(os.environ), config_home=config_home(os.environ), environ=os.environ
    )


def _progress(session: Session, what: str) -> Progress | None:
    """Return what shows on stderr how far long work is; nothing where nobody looks."""
    if session.output != "human" or sys.stderr is None or not sys.stderr.isatty():
        return None

    def show(done: int, total: int) -> None:
        end = "\r" if not total or done < total else "\r\x1b[K"
        words = f"{what}: {done:,}" + (f" of {total:,}" if total else "")
        sys.stderr.write(f"\r{words}{end}" if done != total else end)
        sys.stderr.flush()

    return show


@under(fleet, "add", examples=("memdeck fleet add", "memdeck fleet add ~/src/shop"))
@_dir
def add(session: Session, folder: str | None) -> None:
    """List the workspace that contains DIR (default: the current folder)."""
    path = _fleet(session).add(_folder(session, folder), session.now)
    _told(session, [path] if path is not None else [], "listed", "it is listed already")


@under(fleet, "remove", examples=("memdeck fleet remove ~/src/shop",))
@_dir
def remove(session: Session, folder: str | None) -> None:
    """Take the workspace that contains DIR off the list; its files stay, and opening it does not list it again."""
    path = _fleet(session).remove(_folder(session, folder))
    _told(session, [path] if path is not None else [], "not listed any more", "it was not listed")


@under(fleet, "list", examples=("memdeck fleet list", "memdeck fleet list -o jsonl"))
def list_fleet(session: Session) -> None:
    """List the workspaces by their paths."""
    found = _fleet(session)
    paths = found.paths()
    rows = [{"path": str(path), "host": found.host} for path in paths]
    session.listing("workspaces", lambda: rows, lambda: _path_lines(session, paths, "no workspace is listed"))


@under(fleet, "scan", examples=("memdeck fleet scan ~/src",))
@_dir
def scan(session: Session, folder: str | None) -> None:
    """List all workspaces beneath DIR (default: the current folder); links and hidden folders are not followed."""
    new = _fleet(session).scan(_folder(session, folder), session.now, _progress(session, "folders"))
    _told(session, new, "listed", "nothing new beneath it")


@under(fleet, "search", examples=("memdeck fleet search deploy staging", "memdeck fleet search 'redis' -o json"))
@click.argument("query", nargs=-1, required=True)
@click.option("--in", "places", metavar="KINDS", help="Only these kinds, as in memdeck search.")
@click.option("--limit", type=click.IntRange(0), default=20, metavar="N", help="The best N (default: 20, 0 is all).")
def search(session: Session, query: tuple[str, ...], places: str | None, limit: int) -> int:
    """Find words in all workspaces; what contains all of them comes first, wherever it is."""
    from .search import kinds_of

    hits, failed = _fleet(session).search(
        " ".join(query), session.now, limit, kinds_of(places), _progress(session, "workspaces")
    )
    session.listing("results", lambda: [hit.json() for hit in hits], lambda: _hit_lines(session, hits))
    return _tell_failures(failed)


@under(fleet, "status", examples=("memdeck fleet status", "memdeck fleet status -o json"))
def status(session: Session) -> int:
    """Say how each workspace stands: overdue, alerts, approvals, problems, last maintenance, size."""
    rows = _fleet(session).overview(session.now, _progress(session, "workspaces"))
    session.listing("workspaces", lambda: [row.json() for row in rows], lambda: _status_lines(session, rows))
    return FAILED if any(row.error for row in rows) else 0


@under(fleet, "check", examples=("memdeck fleet check", "memdeck fleet check -o jsonl"))
def check(session: Session) -> int:
    """Report what is wrong in the memory files of each workspace; exit code 4 when there is an error in any."""
    rows = tuple(_fleet(session).check(_progress(session, "workspaces")))

    def lines() -> Iterator[str]:
        for row in rows:
            for one in (row.result or {}).get("problems", ()):
                words = f"{row.path}/{one['file']}:{one['line']}: {one['level']} {one['code']} {one['message']}"
                yield session.paint.line(words)
        if not any((row.result or {}).get("problems") for row in rows):
            yield "no problems"

    session.listing("workspaces", lambda: [row.json() for row in rows], lines)
    wrong = any(one["level"] == "error" for row in rows for one in (row.result or {}).get("problems", ()))
    return _tell_failures([row for row in rows if row.error]) or (FOUND if wrong else 0)


@under(fleet, "maintain", examples=("memdeck fleet maintain --dry-run", "memdeck fleet maintain"))
@click.option("--dry-run", is_flag=True, help="Only say what would move.")
def maintain(session: Session, dry_run: bool) -> int:
    """Apply the maintenance rules to each workspace, by its own settings; monitors are not run."""
    actor = session.actor if session.actor_option or os.environ.get("MEMDECK_ACTOR") else "maintain"
    kept = _fleet(session).maintain(
        session.now, actor=actor, dry_run=dry_run, progress=_progress(session, "workspaces")
    )
    rows = tuple(kept)
    if any((row.result or {}).get("change") for row in rows):
        session.made = "moved entries"

    def lines() -> Iterator[str]:
        for row in rows:
            moved = sum(rule["archived"] + rule["cleared"] for rule in (row.result or {}).get("rules", ()))
            if row.error is None:
                yield session.paint.line(f"{row.path}  {'would move' if dry_run else 'moved'} {moved:,}")

    session.listing("workspaces", lambda: [row.json() for row in rows], lines)
    return _tell_failures([row for row in rows if row.error])


def _folder(session: Session, folder: str | None) -> Path:
    return Path(os.path.abspath(folder or session.folder or "."))


def _told(session: Session, paths: Iterable[Path], done: str, nothing: str) -> None:
    listed = list(paths)
    rows = [{"path": str(path)} for path in listed]

    def lines() -> Iterator[str]:
        yield from (session.paint.line(f"{done}: {path}") for path in listed)
        if not listed:
            yield nothing

    session.listing("workspaces", lambda: rows, lines)


def _path_lines(session: Session, paths: Iterable[Path], nothing: str) -> Iterator[str]:
    shown = [session.paint.line(str(path)) for path in paths]
    yield from shown or [nothing]


def _hit_lines(session: Session, hits: Iterable[FleetHit]) -> Iterator[str]:
    shown = list(hits)
    if not shown:
        yield "nothing found"
    yield from session.paint.columns(
        [(hit.workspace.name, hit.entry.kind, hit.entry.title, hit.entry.ref or hit.entry.file) for hit in shown]
    )


def _status_lines(session: Session, rows: Iterable[Overview]) -> Iterator[str]:
    from memory.base.clock import format_utc

    shown = list(rows)
    if not shown:
        yield "no workspace is listed; see memdeck fleet scan"
        return
    head = ("workspace", "overdue", "alerts", "waiting", "problems", "size", "last maintenance")
    table = [head] + [
        (str(row.path), row.error["code"], "", "", "", "", "")
        if row.error is not None
        else (
            str(row.path),
            f"{row.overdue:,}",
            f"{row.alerts:,}",
            f"{row.waiting:,}",
            f"{row.problems:,}",
            f"{row.size / 1000:,.0f} kB",
            "never" if row.last_maintenance is None else format_utc(row.last_maintenance),
        )
        for row in shown
    ]
    yield from session.paint.columns(table)


def _tell_failures(failed: Iterable[Kept]) -> int:
    """Say on stderr which workspaces could not be worked on, and return the exit code."""
    code = 0
    for one in failed:
        assert one.error is not None
        tell(f"memdeck: {one.error['code']}: {one.path}: {one.error['message']}")
        code = FAILED
    return code
