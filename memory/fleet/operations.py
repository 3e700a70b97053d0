"""The operations on many workspaces: list, search, status, check and maintain them, and the catalogue of many hosts."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from memory.base.clock import format_utc, say_ago, say_span
from memory.errors import UsageError
from memory.fleet.catalogue import initialise
from memory.fleet.central import CentralFleet
from memory.fleet.embedded import EmbeddedFleet
from memory.fleet.local import LocalWorkspaces
from memory.fleet.model import FleetHost, WorkResult, WorkspaceOverview
from memory.monitoring.overview import MetricRows, exposition
from memory.operations import Choice, Context, Group, Whole, argument, option, under
from memory.operations.result import PROBLEMS, Paint, Result, exported, listing, said
from memory.search.operations import kinds_of
from memory.storage.own_folders import DATABASE, config_home, home, host_name, state_home

FAILED = 1
_AWAY = "fleet.host_away"

fleet = Group(
    "fleet",
    """List, search, check and maintain all your workspaces, on one host or many.

    With a database (--database, or MEMDECK_DATABASE) list, search, status, check and maintain go to the catalogue of
    all hosts; docs/fleet.md shows how one is set up.
    """,
    serves="machine",
)
on_database = option(
    "--database", metavar="URL", help=f"The catalogue of many hosts (default: {DATABASE}, else this machine's list)."
)
_dir = argument("folder", metavar="DIR", required=False)


def database_of(context: Context, given: str | None) -> str | None:
    """Return the URL of the catalogue, None if there is none."""
    return given or context.environ.get(DATABASE) or None


def needed_database(context: Context, given: str | None) -> str:
    """Return the URL of the catalogue; UsageError `fleet.no_database`."""
    url = database_of(context, given)
    if url is None:
        raise UsageError("fleet.no_database", "no database is named", f"give --database URL, or set {DATABASE}")
    return url


def embedded(context: Context) -> EmbeddedFleet:
    """Return the fleet of this user's workspaces on this machine; the end of the run closes it."""
    environ = context.environ
    own = home(environ), config_home(environ)
    return context.opened(EmbeddedFleet(LocalWorkspaces(state_home(environ), host_name(environ), *own, environ)))


def central(context: Context, database: str | None) -> CentralFleet:
    """Return the fleet of the catalogue; UsageError `fleet.no_database`."""
    return context.opened(CentralFleet(needed_database(context, database)))


def fleet_of(context: Context, database: str | None) -> EmbeddedFleet | CentralFleet:
    """Return the fleet to use: that of the catalogue if a database is configured, else that of this machine."""
    return embedded(context) if database_of(context, database) is None else central(context, database)


@under(
    fleet, "add", examples=("memdeck fleet add", "memdeck fleet add ~/src/shop", "memdeck fleet add --publish names")
)
@_dir
@option(
    "--publish",
    type=Choice(("full", "names", "none")),
    help="What an agent publishes of it: everything (full, the default), titles only (names), nothing (none).",
)
def add(context: Context, folder: str | None, publish: str | None) -> Result:
    """Add the workspace that contains DIR (default: the current folder) to the list."""
    path = embedded(context).add(_folder(context, folder), context.now, publish)
    how = "" if publish is None else f", and published from now on: {publish}"
    return _told(context, [path] if path is not None else [], "listed", f"it is already in the list{how}")


@under(fleet, "remove", examples=("memdeck fleet remove ~/src/shop", "memdeck fleet remove --gone"))
@_dir
@option("--gone", is_flag=True, help="Remove all workspaces whose memory no longer exists.")
def remove(context: Context, folder: str | None, gone: bool = False) -> Result:
    """Remove the workspace that contains DIR from the list; its files stay, and opening it does not list it again."""
    if gone and folder is not None:
        raise UsageError("usage.arguments", "DIR and --gone cannot be used together", "give only one of them")
    if gone:
        return _told(
            context, embedded(context).remove_gone(), "removed from the list", "all listed workspaces still exist"
        )
    path = embedded(context).remove(_folder(context, folder))
    return _told(context, [path] if path is not None else [], "removed from the list", "it was not in the list")


@under(fleet, "list", examples=("memdeck fleet list", "memdeck fleet list -o jsonl"))
@on_database
def list_fleet(context: Context, database: str | None) -> Result:
    """List the workspaces by host and path."""
    rows = fleet_of(context, database).listed()

    def lines(paint: Paint) -> Iterator[str]:
        yield from (paint.line(_named(context, host, path)) for host, path in rows)
        if not rows:
            yield "no workspace is listed"

    return listing("workspaces", lambda: [_place(host, path) for host, path in rows], lines)


@under(fleet, "scan", examples=("memdeck fleet scan ~/src",))
@_dir
def scan(context: Context, folder: str | None) -> Result:
    """Add all workspaces below DIR (default: the current folder) to the list; links and hidden folders are skipped."""
    new = embedded(context).scan(_folder(context, folder), context.now, context.progress("folders"))
    return _told(context, new, "listed", "nothing new below it")


@under(fleet, "search", examples=("memdeck fleet search deploy staging", "memdeck fleet search 'redis' -o json"))
@argument("query", nargs=-1, required=True)
@option("--in", "places", metavar="KINDS", help="Only these kinds, as in memdeck search.")
@option("--limit", type=Whole(0, 1000), default=20, metavar="N", help="The best N (default: 20, 0: all).")
@on_database
def search(context: Context, query: tuple[str, ...], places: str | None, limit: int, database: str | None) -> Result:
    """Find words in all workspaces; entries that contain all of them come first, from any workspace."""
    all_of = fleet_of(context, database)
    hits, failed = all_of.search(" ".join(query), context.now, limit, kinds_of(places), context.progress("workspaces"))
    notes = _failures(context, failed, len(all_of.listed()) if failed else 0)

    def lines(paint: Paint) -> Iterator[str]:
        rows = ((_named(context, one.host, one.workspace.name), one.hit.entry) for one in hits)
        table = ((place, one.kind, one.title, one.ref or one.file) for place, one in rows)
        return paint.columns(table, empty="nothing found")

    return listing("results", lambda: [hit.json() for hit in hits], lines, notes, FAILED if notes else 0)


@under(fleet, "status", examples=("memdeck fleet status", "memdeck fleet status -o json"))
@on_database
def status(context: Context, database: str | None) -> Result:
    """Print the status of each workspace: overdue tasks, failing and stale monitors, approvals, problems, maintenance.

    A silent host is an alert; its workspaces are shown as it last published them.
    """
    all_of = fleet_of(context, database)
    rows = all_of.overview(context.now, context.progress("workspaces"))
    return listing(
        "workspaces",
        lambda: [row.json() for row in rows],
        lambda paint: _status_lines(paint, context, rows),
        notes=[f"alert: {host.host} {_heard(host)}" for host in all_of.hosts() if host.silent],
        code=FAILED if any(row.error for row in rows) else 0,
    )


@under(fleet, "hosts", examples=("memdeck fleet hosts", "memdeck fleet hosts -o json"))
@on_database
def hosts(context: Context, database: str | None) -> Result:
    """List the hosts: when each was last seen, how far its agent lags, its jobs. Exit code 4 if one is silent."""
    rows = central(context, database).hosts()

    def lines(paint: Paint) -> Iterator[str]:
        head = ("host", "heard", "lag", "failures", "jobs waiting", "jobs failed")
        alerts = {number: 0 for number, row in enumerate(rows, 1) if row.silent}
        yield from paint.columns([head, *map(_host_row, rows)], alerts=alerts)

    code = PROBLEMS if any(row.silent for row in rows) else 0
    return listing("hosts", lambda: [row.json() for row in rows], lines, code=code)


def _host_row(host: FleetHost) -> tuple[str, ...]:
    lag, counts = f"{host.lag or 0:.0f} s", (host.failures or 0, host.jobs_waiting, host.jobs_failed)
    return host.host, _heard(host), lag, *(f"{count:,}" for count in counts)


def _heard(one: FleetHost | WorkspaceOverview) -> str:
    """Return how long ago a host was heard of, and whether that is too long."""
    if one.age is None:
        return "never seen"
    return f"silent for {say_span(one.age) or 'a moment'}" if one.silent else say_ago(one.age)


@under(fleet, "metrics", examples=("memdeck fleet metrics",))
@on_database
def metrics(context: Context, database: str | None) -> Result:
    """Print hosts, agents, jobs and workspaces in the text format of Prometheus."""
    all_of = fleet_of(context, database)
    text = fleet_metrics(all_of.hosts(), all_of.overview(context.now))
    return exported(lambda: [text])


@under(fleet, "check", examples=("memdeck fleet check", "memdeck fleet check -o jsonl"))
@on_database
def check(context: Context, database: str | None) -> Result:
    """Report the problems in the memory files of each workspace; exit code 4 when there is an error in any."""
    rows = tuple(fleet_of(context, database).check(context.now, context.progress("workspaces")))
    found = [(row, one) for row in rows for one in row.result.get("problems", ())]

    def lines(paint: Paint) -> Iterator[str]:
        for row, one in found:
            where = f"{_named(context, row.host, row.path)}/{one['file']}:{one['line']}"
            yield paint.line(f"{where}: {one['level']} {one['code']} {one['message']}")
        if not found:
            yield "no problems"

    wrong = any(one["level"] == "error" for _, one in found)
    notes = _failures(context, rows, len(rows))
    code = FAILED if notes else PROBLEMS if wrong else 0
    return listing("workspaces", lambda: [row.json() for row in rows], lines, notes, code)


@under(fleet, "maintain", examples=("memdeck fleet maintain --dry-run", "memdeck fleet maintain"))
@option("--dry-run", is_flag=True, help="Show what would move, and move nothing.")
@on_database
def maintain(context: Context, dry_run: bool, database: str | None) -> Result:
    """Apply the maintenance rules to each workspace, by its own settings; monitors are not run."""
    actor = context.named_actor or "maintain"
    kept = fleet_of(context, database).maintain(
        context.now, actor=actor, dry_run=dry_run, progress=context.progress("workspaces")
    )
    rows = tuple(kept)
    if any(row.result.get("change") for row in rows):
        context.made = "moved entries"

    def lines(paint: Paint) -> Iterator[str]:
        for row in rows:
            moved = sum(rule["archived"] + rule["cleared"] for rule in row.result.get("rules", ()))
            if row.error is None:
                where = _named(context, row.host, row.path)
                yield paint.line(f"{where}  {'would move' if dry_run else 'moved'} {moved:,}")

    notes = _failures(context, rows, len(rows))
    return listing("workspaces", lambda: [row.json() for row in rows], lines, notes, FAILED if notes else 0)


def _folder(context: Context, folder: str | None) -> Path:
    return Path(os.path.abspath(os.path.expanduser(folder or context.folder or ".")))


def _told(context: Context, paths: Sequence[Path], done: str, nothing: str) -> Result:
    host = host_name(context.environ)
    return listing(
        "workspaces",
        lambda: [_place(host, path) for path in paths],
        lambda paint: [paint.line(f"{done}: {path}") for path in paths] or [nothing],
    )


def _place(host: str, path: Path) -> dict[str, str]:
    """Return where a workspace is, for programs."""
    return {"path": str(path), "host": host}


def _named(context: Context, host: str, path: Path | str) -> str:
    """Return the path of a workspace, after its host if that is another one."""
    return str(path) if host == host_name(context.environ) else f"{host}:{path}"


def _status_lines(paint: Paint, context: Context, rows: Sequence[WorkspaceOverview]) -> Iterator[str]:
    if not rows:
        yield "no workspaces are listed; find some with memdeck fleet scan"
        return
    many = any(row.age is not None for row in rows)
    head = ("workspace", "overdue", "failing", "stale", "waiting", "problems", "last maintenance")
    yield from paint.columns(
        [(*head, "host") if many else head]
        + [(_named(context, row.host, row.path), *_counts(row), *((_heard(row),) if many else ())) for row in rows]
    )


def _counts(row: WorkspaceOverview) -> tuple[str, ...]:
    if row.error is not None:
        return row.error["code"], "", "", "", "", ""
    counts = (row.overdue, row.failing, row.stale, row.waiting, row.problems)
    maintained = "never" if row.last_maintenance is None else format_utc(row.last_maintenance)
    return (*(f"{count:,}" for count in counts), maintained)


def _failures(context: Context, results: Sequence[WorkResult], total: int) -> list[str]:
    """Return which of `total` workspaces failed, and why; those of a host that is away in one line."""
    failed = [(one, one.error) for one in results if one.error]
    away = Counter(error["message"] for _, error in failed if error["code"] == _AWAY)
    lines = [f"{_AWAY}: {count:,} of {total:,} not asked: {message}" for message, count in away.items()]
    return lines + [
        f"{error['code']}: {_named(context, one.host, one.path)}: {error['message']}"
        for one, error in failed
        if error["code"] != _AWAY
    ]


@under(
    fleet,
    "init",
    examples=(
        "memdeck fleet init --database postgresql://admin@db.example/memdeck",
        "memdeck fleet init --host laptop=agent_laptop --reader alice --operator bob",
    ),
)
@on_database
@option("--host", "hosts", multiple=True, metavar="NAME=LOGIN", help="A host, and the login of its agent.")
@option("--reader", "readers", multiple=True, metavar="LOGIN", help="A login that may read everything.")
@option("--operator", "operators", multiple=True, metavar="LOGIN", help="A login that may also give jobs.")
@option("--approver", "approvers", multiple=True, metavar="LOGIN", help="A login that may also approve reverts.")
@option("--drop", multiple=True, metavar="NAME", help="A host that no longer exists; it is forgotten.")
@option("--rebuild", is_flag=True, help="Rebuild the catalogue; every agent publishes again.")
def init(
    context: Context,
    database: str | None,
    hosts: tuple[str, ...],
    readers: tuple[str, ...],
    operators: tuple[str, ...],
    approvers: tuple[str, ...],
    drop: tuple[str, ...],
    rebuild: bool,
) -> Result:
    """Create the catalogue in a PostgreSQL database, or update it; running it again changes nothing.

    A catalogue of an older version is rebuilt; hosts and logins stay. Missing logins are created, without a password.
    Needs the extra `fleet`: pip install 'memdeck[fleet]'.
    """
    logins = {}
    for one in hosts:
        name, equals, login = one.partition("=")
        if not (name and equals and login):
            raise UsageError("usage.arguments", f"invalid value for --host: {one!r}", "write --host NAME=LOGIN")
        logins[name] = login
    grants = [
        (role, login)
        for role, some in (("reader", readers), ("operator", operators), ("approver", approvers))
        for login in some
    ]
    done = initialise(needed_database(context, database), hosts=logins, grants=grants, drop=drop, rebuild=rebuild)
    words = "the catalogue was created; every agent publishes" if done.made else "the catalogue is up to date"
    return said({"made": done.made, "hosts": list(done.hosts)}, words, *(f"host: {name}" for name in done.hosts))


@under(fleet, "revert", examples=("memdeck fleet revert laptop:/home/me/src/shop 3f2a9c1",))
@argument("place", metavar="HOST:PATH")
@argument("change", metavar="CHANGE")
@on_database
def revert(context: Context, place: str, change: str, database: str | None) -> Result:
    """Request the revert of a change on another host; the host does it once it is approved."""
    host, colon, path = place.partition(":")
    if not (host and colon and path):
        raise UsageError("usage.arguments", f"{place[:80]!r} names no workspace", "write HOST:PATH")
    number = central(context, database).ask_revert(host, Path(path), change)
    return said({"approval": number}, f"needs approval: memdeck fleet approve {number}")


@under(fleet, "approvals", examples=("memdeck fleet approvals",))
@on_database
def approvals(context: Context, database: str | None) -> Result:
    """List the requested reverts, newest first, and their results."""
    rows = central(context, database).approvals()
    return listing("approvals", lambda: rows, lambda paint: _approval_lines(paint, rows))


@under(fleet, "approve", serves="decision", examples=("memdeck fleet approve 3",))
@argument("number", metavar="NUMBER", type=Whole())
@on_database
def approve(context: Context, number: int, database: str | None) -> Result:
    """Approve a revert that another login asked for; its host does it."""
    central(context, database).approve(number)
    return said({"approval": number}, "approved; its host will do it")


def _approval_lines(paint: Paint, rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    if not rows:
        yield "no reverts were requested"
    for row in rows:
        result = row["result"]
        state = "waiting" if row["approved_by"] is None else "approved" if result is None else "done"
        if result is not None and result.get("error"):
            state = str(result["error"]["code"])
        yield paint.line(f"{row['id']}  {state}  {row['host']}:{row['path']}  {row['change']}  {row['by']}")


_HOSTS = {
    "host_age_seconds": ("age", "How long ago the agent of a host was last seen; absent if never."),
    "host_silent": ("silent", "Whether that is too long."),
    "agent_lag_seconds": ("lag", "How old the oldest unread change of a host may be."),
    "agent_unread_workspaces": ("unread", "Workspaces that an agent has not read since it started."),
    "agent_failures": ("failures", "Failures of an agent since it started."),
    "jobs_waiting": ("jobs_waiting", "Jobs that a host has to do."),
    "jobs_failed": ("jobs_failed", "Jobs of a host that ended with an error and are still kept."),
}
_WORKSPACES = {
    "workspace_overdue": ("overdue", "Overdue tasks."),
    "workspace_failing": ("failing", "Monitors whose last result was not healthy."),
    "workspace_stale": ("stale", "Monitors without a result, and what no longer runs regularly."),
    "workspace_waiting": ("waiting", "What needs approval."),
    "workspace_problems": ("problems", "Errors in the memory files."),
    "workspace_broken": ("broken", "Whether a workspace could not be read."),
}
"""The metrics of a host and of a workspace: the key in their JSON, and the help."""


def fleet_metrics(hosts: Iterable[FleetHost], workspaces: Iterable[WorkspaceOverview]) -> str:
    """Return the metrics of hosts and workspaces; values that are not known are left out."""
    of_hosts = [({"host": one.host}, one.json()) for one in hosts]
    of_workspaces = []
    for one in workspaces:
        values = {"broken": True} if one.error else {**one.json(), "broken": False}
        of_workspaces.append(({"host": one.host, "workspace": str(one.path)}, values))
    metrics: dict[str, str] = {}
    rows: MetricRows = {}
    for table, found in ((_HOSTS, of_hosts), (_WORKSPACES, of_workspaces)):
        for name, (key, words) in table.items():
            metrics[f"fleet_{name}"] = words
            known = [(labels, values[key]) for labels, values in found if values.get(key) is not None]
            rows |= {f"fleet_{name}": known} if known else {}
    return exposition(metrics, rows)
