"""The verbs that work on many workspaces (list, search, status, check and maintain), and the fleet itself."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from app.cli.printing import tell
from app.cli.session import PROBLEMS, Session
from memory.base.clock import format_utc, say_ago, say_span
from memory.errors import UsageError
from memory.fleet import EmbeddedFleet, Fleet, FleetHit, FleetWorkspace, WorkResult, WorkspaceOverview
from memory.fleet.model import Progress
from memory.operations import Choice, Group, Whole, argument, option, under
from memory.storage.own_folders import DATABASE, config_home, home, host_name, state_home

if TYPE_CHECKING:
    from memory.fleet.catalogue.central import CentralFleet

FAILED = 1

fleet = Group(
    "fleet",
    """All workspaces of a person, or of many hosts: list, search, look at, check and maintain them.

    With a database (--database, or MEMDECK_DATABASE) list, search, status, check and maintain go to the catalogue of
    all hosts; docs/fleet.md shows how one is set up.
    """,
    serves="machine",
)
on_database = option(
    "--database", metavar="URL", help=f"The catalogue of many hosts (default: {DATABASE}, else this machine's list)."
)
_dir = argument("folder", metavar="DIR", required=False)


def database_of(given: str | None) -> str | None:
    """Return the URL of the catalogue, None if there is none."""
    return given or os.environ.get(DATABASE) or None


def needed_database(given: str | None) -> str:
    """Return the URL of the catalogue; UsageError `fleet.no_database`."""
    url = database_of(given)
    if url is None:
        raise UsageError("fleet.no_database", "no database is named", f"give --database URL, or set {DATABASE}")
    return url


def embedded(session: Session) -> EmbeddedFleet:
    """Return the fleet of this user's workspaces on this machine; the end of the run closes it."""

    return session.opened(
        EmbeddedFleet(
            state_home(os.environ),
            host=host_name(os.environ),
            home=home(os.environ),
            config_home=config_home(os.environ),
            environ=os.environ,
        )
    )


def central(session: Session, database: str | None) -> CentralFleet:
    """Return the fleet of the catalogue; UsageError `fleet.no_database`."""
    from memory.fleet.catalogue.central import CentralFleet

    return session.opened(CentralFleet(needed_database(database)))


def fleet_of(session: Session, database: str | None) -> Fleet:
    """Return the fleet to use: that of the catalogue if a database is configured, else that of this machine."""
    return embedded(session) if database_of(database) is None else central(session, database)


def progress_of(session: Session, what: str) -> Progress | None:
    """Return a progress display on stderr for long work; None if the output is not a terminal."""
    if session.output != "human" or sys.stderr is None or not sys.stderr.isatty():
        return None

    def show(done: int, total: int) -> None:
        end = "\r" if not total or done < total else "\r\x1b[K"
        words = f"{what}: {done:,}" + (f" of {total:,}" if total else "")
        sys.stderr.write(f"\r{words}{end}" if done != total else end)
        sys.stderr.flush()

    return show


@under(
    fleet, "add", examples=("memdeck fleet add", "memdeck fleet add ~/src/shop", "memdeck fleet add --publish names")
)
@_dir
@option(
    "--publish",
    type=Choice(("full", "names", "none")),
    help="What an agent tells a catalogue of it: all (full, the default), titles only (names), nothing (none).",
)
def add(session: Session, folder: str | None, publish: str | None) -> None:
    """List the workspace that contains DIR (default: the current folder)."""
    path = embedded(session).add(_folder(session, folder), session.now, publish)
    how = "" if publish is None else f", and published from now on: {publish}"
    _told(session, [path] if path is not None else [], "listed", f"it is listed already{how}")


@under(fleet, "remove", examples=("memdeck fleet remove ~/src/shop",))
@_dir
def remove(session: Session, folder: str | None) -> None:
    """Take the workspace that contains DIR off the list; its files stay, and opening it does not list it again."""
    path = embedded(session).remove(_folder(session, folder))
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
    new = embedded(session).scan(_folder(session, folder), session.now, progress_of(session, "folders"))
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

    found = [(row, one) for row in rows for one in (row.result or {}).get("problems", ())]

    def lines() -> Iterator[str]:
        hosts = _hosts(rows)
        for row, one in found:
            where = f"{_named(row.host, row.path, hosts)}/{one['file']}:{one['line']}"
            yield session.paint.line(f"{where}: {one['level']} {one['code']} {one['message']}")
        if not found:
            yield "no problems"

    session.listing("workspaces", lambda: [row.json() for row in rows], lines)
    wrong = any(one["level"] == "error" for _, one in found)
    return _tell_failures(rows) or (PROBLEMS if wrong else 0)


@under(fleet, "maintain", examples=("memdeck fleet maintain --dry-run", "memdeck fleet maintain"))
@option("--dry-run", is_flag=True, help="Only say what would move.")
@on_database
def maintain(session: Session, dry_run: bool, database: str | None) -> int:
    """Apply the maintenance rules to each workspace, by its own settings; monitors are not run."""
    actor = session.named_actor or "maintain"
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
    return _tell_failures(rows)


def _folder(session: Session, folder: str | None) -> Path:
    return Path(os.path.abspath(folder or session.folder or "."))


def _told(session: Session, paths: Sequence[Path], done: str, nothing: str) -> None:

    host = host_name(os.environ)
    session.listing(
        "workspaces",
        lambda: [FleetWorkspace(path, host).json() for path in paths],
        lambda: [session.paint.line(f"{done}: {path}") for path in paths] or [nothing],
    )


def _listed_lines(session: Session, rows: Sequence[FleetWorkspace]) -> Iterator[str]:
    hosts = _hosts(rows)
    yield from (session.paint.line(_named(row.host, row.path, hosts)) for row in rows)
    if not rows:
        yield "no workspace is listed"


def _hosts(rows: Iterable[FleetWorkspace | FleetHit | WorkspaceOverview | WorkResult]) -> frozenset[str]:
    """Return the hosts of what is shown, and this machine; with several hosts, paths are shown with their host."""
    return frozenset({host_name(os.environ), *(row.host for row in rows)})


def _named(host: str, path: Path, hosts: Collection[str]) -> str:
    """Return the path of a workspace, with its host if there are several."""
    return f"{host}:{path}" if len(hosts) > 1 else str(path)


def _hit_lines(session: Session, hits: Sequence[FleetHit]) -> Iterator[str]:
    many = len(_hosts(hits)) > 1
    rows = (
        (
            f"{hit.host}:{hit.workspace.name}" if many else hit.workspace.name,
            hit.entry.kind,
            hit.entry.title,
            hit.entry.ref or hit.entry.file,
        )
        for hit in hits
    )
    return session.paint.columns(rows, empty="nothing found")


def _status_lines(session: Session, rows: Sequence[WorkspaceOverview]) -> Iterator[str]:
    if not rows:
        yield "no workspace is listed; see memdeck fleet scan"
        return
    hosts = _hosts(rows)
    many = any(row.age is not None for row in rows)
    head = ("workspace", "overdue", "alerts", "waiting", "problems", "size", "last maintenance")
    table = [(*head, "host") if many else head] + [
        (
            _named(row.host, row.path, hosts),
            *((row.error["code"], "", "", "", "", "") if row.error is not None else _counts(row)),
            *((_heard(row),) if many else ()),
        )
        for row in rows
    ]
    yield from session.paint.columns(table)
    for row in rows:
        if row.alike:
            yield session.paint.line(
                f"{_named(row.host, row.path, hosts)} holds much of the same as {', '.join(row.alike)}"
            )


def _counts(row: WorkspaceOverview) -> tuple[str, ...]:
    return (
        f"{row.overdue:,}",
        f"{row.alerts:,}",
        f"{row.waiting:,}",
        f"{row.problems:,}",
        f"{row.size / 1000:,.0f} kB",
        "never" if row.last_maintenance is None else format_utc(row.last_maintenance),
    )


def _heard(row: WorkspaceOverview) -> str:
    if row.age is None:
        return "never heard of"
    return f"stale, {say_span(row.age)}" if row.stale else say_ago(row.age)


def _tell_failures(results: Iterable[WorkResult]) -> int:
    """Print on stderr which workspaces failed, and return the exit code."""
    rows = [one for one in results if one.error]
    hosts = _hosts(rows)
    for one in rows:
        assert one.error is not None
        tell(f"memdeck: {one.error['code']}: {_named(one.host, one.path, hosts)}: {one.error['message']}")
    return FAILED if rows else 0
