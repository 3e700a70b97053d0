"""The verbs for a fleet of many hosts: the catalogue, the agent of each host, reverts after an approval."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from croniter import croniter

from app.cli.printing import tell
from app.cli.session import Session
from memory.errors import UsageError
from memory.fleet.jobs.agent import AgentSettings, HostAgent
from memory.operations import Whole, argument, option, under
from memory.storage.own_folders import DATABASE

from .listed import central, database_of, embedded, fleet, fleet_of, needed_database, on_database

__all__ = ["fleet"]


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
@option("--reader", "readers", multiple=True, metavar="LOGIN", help="A login that may look at everything.")
@option("--operator", "operators", multiple=True, metavar="LOGIN", help="A login that may give jobs, too.")
@option("--approver", "approvers", multiple=True, metavar="LOGIN", help="A login that may approve reverts, too.")
@option("--rebuild", is_flag=True, help="Empty what is derived; every agent publishes anew.")
def init(
    session: Session,
    database: str | None,
    hosts: tuple[str, ...],
    readers: tuple[str, ...],
    operators: tuple[str, ...],
    approvers: tuple[str, ...],
    rebuild: bool,
) -> None:
    """Make the catalogue in a PostgreSQL database, or bring it up to date; done again, it changes nothing.

    Logins that do not exist are made, without a password. Needs the extra `fleet`: pip install 'memdeck[fleet]'.
    """
    from memory.fleet.catalogue.migrate import initialise

    logins = {}
    for one in hosts:
        name, equals, login = one.partition("=")
        if not (name and equals and login):
            raise UsageError("usage.arguments", f"--host does not take {one!r}", "write --host NAME=LOGIN")
        logins[name] = login
    grants = [
        (role, login)
        for role, some in (("reader", readers), ("operator", operators), ("approver", approvers))
        for login in some
    ]
    done = initialise(needed_database(database), hosts=logins, grants=grants, rebuild=rebuild)
    answer = {"applied": list(done.applied), "hosts": list(done.hosts), "rebuilt": rebuild}

    def lines() -> Iterator[str]:
        yield f"applied {len(done.applied)} migrations" if done.applied else "the catalogue is up to date"
        yield from (session.paint.line(f"host: {name}") for name in done.hosts)
        if rebuild:
            yield "emptied: every agent publishes anew"

    session.answer(lambda: answer, lines)


@under(
    fleet,
    "agent",
    examples=("memdeck fleet agent", "memdeck fleet agent --maintain '0 3 * * *'", "memdeck fleet agent --once"),
)
@on_database
@option("--maintain", metavar="CRON", default="", help="When all workspaces are maintained, in UTC (default: never).")
@option("--jobs", type=Whole(1, 32), default=2, metavar="N", help="Jobs at once (default: 2).")
@option(
    "--keep-days", type=Whole(1, 3650), default=30, metavar="N", help="How long finished jobs stay (default: 30 days)."
)
@option("--once", is_flag=True, help="Publish, do the jobs that wait, and return.")
def agent(session: Session, database: str | None, maintain: str, jobs: int, keep_days: int, once: bool) -> None:
    """Publish the workspaces of this host in the catalogue, and do the jobs that are given to it.

    It runs until it gets SIGTERM or SIGINT. MEMDECK_HOST names the host.
    """

    from memory.fleet.catalogue.connect import arguments_of

    url = needed_database(database)
    arguments_of(url)
    _check_cron(maintain)
    # Messages of the engine and of the connections; the agent itself prints what they mean.
    for name in ("procrastinate", "psycopg"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    listing = embedded(session)
    local = listing.local
    runs = HostAgent(
        local,
        AgentSettings(url, listing.published, maintain, jobs, keep_days),
        lambda: datetime.now(UTC),
        lambda words: tell(f"memdeck: {words}"),
    )
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: runs.stop())
    if not once:
        tell(f"memdeck: agent of {local.host}; end it with Ctrl-C")
    runs.run(once=once)
    answer = {"host": local.host, "published": runs.published}
    session.answer(lambda: answer, lambda: [session.paint.line(f"{local.host}: published {runs.published:,} entries")])


@under(fleet, "serve", examples=("memdeck fleet serve", "memdeck fleet serve --port 8126 --read-only"))
@option("--port", type=Whole(0, 65535), default=0, metavar="N", help="The port for programs (default: a free one).")
@option("--page-port", type=Whole(0, 65535), default=0, metavar="N", help="The port of the pane (default: a free one).")
@option("--read-only", is_flag=True, help="Serve programs only what looks; the pane changes nothing anyway.")
@on_database
def serve(session: Session, port: int, page_port: int, read_only: bool, database: str | None) -> None:
    """Serve the fleet to programs and a browser of this machine until ctrl+c, with the tokens that are printed.

    Programs find it under /api/v1/fleet; the browser shows the pane Fleet, for one page at a time. Needs the extra
    `server`, and `web` for the pane: pip install 'memdeck[server,web]'.
    """
    from app.servers.life import Life

    try:
        from app.servers.fleet import FleetApi
        from app.servers.fleet import serve as run
    except ImportError as error:
        hint = "pip install 'memdeck[server]' brings what it needs"
        raise UsageError("api.missing", f"the library {error.name} is not installed", hint) from error
    url = database_of(database)
    if url is not None:
        central(session, database).listed()  # problems with the database are reported now
        os.environ[DATABASE] = url  # for the sessions in a browser
    try:
        from app.servers.web.server import FleetPage
    except ImportError:
        page = None
        tell("memdeck: the pane is not served: pip install 'memdeck[web]' brings what it needs")
    else:
        page = FleetPage(page_port)

    def say(address: str, token: str) -> None:
        shown = None if page is None else page.address
        session.answer(
            lambda: {"address": address, "token": token, "page": shown},
            lambda: [
                address,
                f"Authorization: Bearer {token}",
                *([] if shown is None else [f"{shown}  the pane, in a browser"]),
                "serves this machine only; ctrl+c ends it",
            ],
        )
        session.writer.flush()

    actor = session.named_actor or "maintain"
    served = FleetApi(lambda: fleet_of(session, database), session.clock, actor=actor, read_only=read_only)
    run(served, page, Life(), port, say)


@under(fleet, "revert", examples=("memdeck fleet revert laptop:/home/me/src/shop 3f2a9c1",))
@argument("place", metavar="HOST:PATH")
@argument("change", metavar="CHANGE")
@on_database
def revert(session: Session, place: str, change: str, database: str | None) -> None:
    """Ask for a change on another host to be taken back; it is done once it was approved."""
    host, colon, path = place.partition(":")
    if not (host and colon and path):
        raise UsageError("usage.arguments", f"{place[:80]!r} names no workspace", "write HOST:PATH")
    number = central(session, database).ask_revert(host, Path(path), change)
    session.answer(lambda: {"approval": number}, lambda: [f"waits for an approval: memdeck fleet approve {number}"])


@under(fleet, "approvals", examples=("memdeck fleet approvals",))
@on_database
def approvals(session: Session, database: str | None) -> None:
    """List the reverts that were asked for, newest first, and what they came to."""
    rows = central(session, database).approvals()
    session.listing("approvals", lambda: rows, lambda: _approval_lines(session, rows))


@under(fleet, "approve", serves="decision", examples=("memdeck fleet approve 3",))
@argument("number", metavar="NUMBER", type=Whole())
@on_database
def approve(session: Session, number: int, database: str | None) -> None:
    """Approve a revert that was asked for; its host does it."""
    job = central(session, database).approve(number)
    session.answer(lambda: {"approval": number, "job": job}, lambda: [f"approved; job {job}"])


def _approval_lines(session: Session, rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    if not rows:
        yield "nothing was asked for"
    for row in rows:
        result = row["result"]
        state = "waiting" if row["approved_by"] is None else "approved" if result is None else "done"
        if result is not None and result.get("error"):
            state = str(result["error"]["code"])
        yield session.paint.line(f"{row['id']}  {state}  {row['host']}:{row['path']}  {row['change']}  {row['by']}")


def _check_cron(line: str) -> None:
    if line and not croniter.is_valid(line):
        raise UsageError(
            "fleet.cron", f"--maintain does not take {line[:60]!r}", "write five fields, such as 0 3 * * *"
        )
