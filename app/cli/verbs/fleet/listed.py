"""The verbs that go over many workspaces: list, search, look, check and keep them."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from app.cli.declared import OneOf, Whole, argument, option, under
from app.cli.printing import tell
from app.cli.session import Session

from .group import FAILED, FOUND, embedded, fleet, fleet_of, on_database, progress_of

if TYPE_CHECKING:
    from memory.fleet import FleetHit, FleetWorkspace, WorkResult, WorkspaceOverview

__all__ = ["fleet"]

PUBLISHED = ("full", "names", "none")
_dir = argument("folder", metavar="DIR", required=False)


@under(
    fleet, "add", examples=("memdeck fleet add", "memdeck fleet add ~/src/shop", "memdeck fleet add --publish names")
)
@_dir
@option(
    "--publish",
    type=OneOf(PUBLISHED),
    help="What an agent tells a catalogue of it: all (full, the default), titles only (names), nothing (none).",
)
def add(session: Session, folder: str | None, publish: str | None) -> None:
    """List the workspace that contains DIR (default: the current folder)."""
    found = embedded()
    path = found.add(_folder(session, folder), session.now, publish)
    how = "" if publish is None else f", and published from now on: {publish}"
    _told(session, [path] if path is not None else [], "listed", f"it is listed already{how}")


@under(fleet, "remove", examples=("memdeck fleet remove ~/src/shop",))
@_dir
def remove(session: Session, folder: str | None) -> None:
    """Take the workspace that contains DIR off the list; its files stay, and opening it does not list it again."""
    path = embedded().remove(_folder(session, folder))
    _told(session, [path] if path is not None else [], "not listed any more", "it was not listed")


@under(fleet, "list", examples=("memdeck fleet list", "memdeck fleet list -o jsonl"))
@on_database
def list_fleet(session: Session, database: str | None) -> None:
    """List the workspaces by host and path."""
    rows = fleet_of(session, database).listed()
    session.listing("workspaces", lambda: [row.json() for row in rows], lambda: _listed_lines(session, rows))


@under(fleet, "scan", examples=("memdeck fleet scan ~/src",))
@_dir
def scan(session: Session, folder: str | None) -> None:
    """List all workspaces beneath DIR (default: the current folder); links and hidden folders are not followed."""
    new = embedded().scan(_folder(session, folder), session.now, progress_of(session, "folders"))
    _told(session, new, "listed", "nothing new beneath it")


@under(fleet, "search", examples=("memdeck fleet search deploy staging", "memdeck fleet search 'redis' -o json"))
@argument("query", nargs=-1, required=True)
@option("--in", "places", metavar="KINDS", help="Only these kinds, as in memdeck search.")
@option("--limit", type=Whole(0, 1000), default=20, metavar="N", help="The best N (default: 20, 0: all).")
@option("--deep", is_flag=True, help="Ask the files themselves instead of the index or the catalogue.")
@on_database
def search(
    session: Session, query: tuple[str, ...], places: str | None, limit: int, deep: bool, database: str | None
) -> int:
    """Find words in all workspaces; what contains all of them comes first, wherever it is."""
    from app.cli.verbs.search import kinds_of

    hits, failed = fleet_of(session, database).search(
        " ".join(query), session.now, limit, kinds_of(places), progress_of(session, "workspaces"), deep=deep
    )
    session.listing("results", lambda: [hit.json() for hit in hits], lambda: _hit_lines(session, hits))
    return _tell_failures(failed)


@under(fleet, "status", examples=("memdeck fleet status", "memdeck fleet status -o json"))
@on_database
def status(session: Session, database: str | None) -> int:
    """Say how each workspace stands: overdue, alerts, approvals, problems, last maintenance, size."""
    rows = fleet_of(session, database).overview(session.now, progress_of(session, "workspaces"))
    session.listing("workspaces", lambda: [row.json() for row in rows], lambda: _status_lines(session, rows))
    return FAILED if any(row.error for row in rows) else 0


@under(fleet, "check", examples=("memdeck fleet check", "memdeck fleet check -o jsonl"))
@on_database
def check(session: Session, database: str | None) -> int:
    """Report what is wrong in the memory files of each workspace; exit code 4 when there is an error in any."""
    rows = tuple(fleet_of(session, database).check(progress_of(session, "workspaces")))

    def lines() -> Iterator[str]:
        hosts = _hosts(rows)
        for row in rows:
            where = _named(row.host, row.path, hosts)
            for one in (row.result or {}).get("problems", ()):
                words = f"{where}/{one['file']}:{one['line']}: {one['level']} {one['code']} {one['message']}"
                yield session.paint.line(words)
        if not any((row.result or {}).get("problems") for row in rows):
            yield "no problems"

    session.listing("workspaces", lambda: [row.json() for row in rows], lines)
    wrong = any(one["level"] == "error" for row in rows for one in (row.result or {}).get("problems", ()))
    return _tell_failures([row for row in rows if row.error]) or (FOUND if wrong else 0)


@under(fleet, "maintain", examples=("memdeck fleet maintain --dry-run", "memdeck fleet maintain"))
@option("--dry-run", is_flag=True, help="Only say what would move.")
@on_database
def maintain(session: Session, dry_run: bool, database: str | None) -> int:
    """Apply the maintenance rules to each workspace, by its own settings; monitors are not run."""
    actor = session.actor if session.actor_option or os.environ.get("MEMDECK_ACTOR") else "maintain"
    kept = fleet_of(session, database).maintain(
        session.now, actor=actor, dry_run=dry_run, progress=progress_of(session, "workspaces")
    )
    rows = tuple(kept)
    if any((row.result or {}).get("change") for row in rows):
        session.made = "moved entries"

    def lines() -> Iterator[str]:
        hosts = _hosts(rows)
        for row in rows:
            moved = sum(rule["archived"] + rule["cleared"] for rule in (row.result or {}).get("rules", ()))
            if row.error is None:
                where = _named(row.host, row.path, hosts)
                yield session.paint.line(f"{where}  {'would move' if dry_run else 'moved'} {moved:,}")

    session.listing("workspaces", lambda: [row.json() for row in rows], lines)
    return _tell_failures([row for row in rows if row.error])


def _folder(session: Session, folder: str | None) -> Path:
    return Path(os.path.abspath(folder or session.folder or "."))


def _told(session: Session, paths: Iterable[Path], done: str, nothing: str) -> None:
    from memory.fleet import FleetWorkspace
    from memory.person import host_name

    listed = list(paths)
    host = host_name(os.environ)

    def lines() -> Iterator[str]:
        yield from (session.paint.line(f"{done}: {path}") for path in listed)
        if not listed:
            yield nothing

    session.listing("workspaces", lambda: [FleetWorkspace(path, host).json() for path in listed], lines)


def _listed_lines(session: Session, rows: Iterable[FleetWorkspace]) -> Iterator[str]:
    shown = list(rows)
    hosts = _hosts(shown)
    yield from (session.paint.line(_named(row.host, row.path, hosts)) for row in shown)
    if not shown:
        yield "no workspace is listed"


def _hosts(rows: Iterable[FleetWorkspace | FleetHit | WorkspaceOverview | WorkResult]) -> frozenset[str]:
    """Return the hosts of what is shown, and this machine: what is on another one is named with its host."""
    from memory.person import host_name

    return frozenset({host_name(os.environ), *(row.host for row in rows)})


def _named(host: str, path: Path, hosts: Collection[str]) -> str:
    """Return the path of a workspace, with its host where there are several."""
    return f"{host}:{path}" if len(hosts) > 1 else str(path)


def _hit_lines(session: Session, hits: Iterable[FleetHit]) -> Iterator[str]:
    shown = list(hits)
    if not shown:
        yield "nothing found"
    hosts = _hosts(shown)
    where = [f"{hit.host}:{hit.workspace.name}" if len(hosts) > 1 else hit.workspace.name for hit in shown]
    yield from session.paint.columns(
        [
            (place, hit.entry.kind, hit.entry.title, hit.entry.ref or hit.entry.file)
            for place, hit in zip(where, shown, strict=True)
        ]
    )


def _status_lines(session: Session, rows: Iterable[WorkspaceOverview]) -> Iterator[str]:
    shown = list(rows)
    if not shown:
        yield "no workspace is listed; see memdeck fleet scan"
        return
    hosts = _hosts(shown)
    many = any(row.age is not None for row in shown)
    head = ("workspace", "overdue", "alerts", "waiting", "problems", "size", "last maintenance")
    table = [(*head, "host") if many else head] + [
        (
            _named(row.host, row.path, hosts),
            *((row.error["code"], "", "", "", "", "") if row.error is not None else _counts(row)),
            *((_heard(row),) if many else ()),
        )
        for row in shown
    ]
    yield from session.paint.columns(table)
    for row in shown:
        if row.alike:
            yield session.paint.line(
                f"{_named(row.host, row.path, hosts)} holds much of the same as {', '.join(row.alike)}"
            )


def _counts(row: WorkspaceOverview) -> tuple[str, ...]:
    from memory.base.clock import format_utc

    return (
        f"{row.overdue:,}",
        f"{row.alerts:,}",
        f"{row.waiting:,}",
        f"{row.problems:,}",
        f"{row.size / 1000:,.0f} kB",
        "never" if row.last_maintenance is None else format_utc(row.last_maintenance),
    )


def _heard(row: WorkspaceOverview) -> str:
    from memory.base.clock import say_ago, say_span

    if row.age is None:
        return "never heard of"
    return f"stale, {say_span(row.age)}" if row.stale else say_ago(row.age)


def _tell_failures(failed: Iterable[WorkResult]) -> int:
    """Say on stderr which workspaces could not be worked on, and return the exit code."""
    code = 0
    rows = list(failed)
    hosts = _hosts(rows)
    for one in rows:
        assert one.error is not None
        tell(f"memdeck: {one.error['code']}: {_named(one.host, one.path, hosts)}: {one.error['message']}")
        code = FAILED
    return code
