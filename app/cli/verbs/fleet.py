"""`memdeck fleet agent` publishes the workspaces of this host; `serve` offers the fleet to programs."""

from __future__ import annotations

import logging
import secrets
import signal
from pathlib import Path

from app.cli.printing import tell
from app.cli.session import Session
from app.servers.life import Life
from memory.base.clock import format_utc
from memory.base.cron import check_cron
from memory.errors import UsageError
from memory.fleet.agent import HostAgent
from memory.fleet.catalogue import arguments_of
from memory.fleet.operations import central, database_of, embedded, fleet, needed_database, on_database
from memory.operations import Whole, option, under
from memory.trust.settings import NotOwn, read_own

from .servers import needs, tell_where

__all__ = ["fleet"]
_TOKEN = 20
"""The fewest characters of a token."""


@under(
    fleet,
    "agent",
    examples=("memdeck fleet agent", "memdeck fleet agent --maintain '0 3 * * *'", "memdeck fleet agent --once"),
)
@on_database
@option(
    "--maintain",
    metavar="CRON",
    default="",
    help="Maintain the workspaces: each by its own maintenanceSchedule, others at these times (default: none).",
)
@option("--no-exec", is_flag=True, help="Only publish and do jobs; run no monitors and no heartbeat.")
@option("--once", is_flag=True, help="Publish, do the waiting jobs, run due monitors, and exit.")
def agent(session: Session, database: str | None, maintain: str, no_exec: bool, once: bool) -> None:
    """Publish the workspaces of this host in the catalogue, do the jobs that wait for it, and run due monitors.

    What you have not approved on this host does not run. It ends on SIGTERM or SIGINT. MEMDECK_HOST names the host;
    `memdeck doctor --schedule --fleet` prints a unit for systemd.
    """

    url = needed_database(session, database)
    arguments_of(url)
    if maintain:
        check_cron(maintain)
    # Messages of the connections; the agent itself prints what they mean.
    logging.getLogger("psycopg").setLevel(logging.CRITICAL)
    listing = embedded(session)
    local = listing.local
    clock = session.clock
    runs = HostAgent(
        local,
        url,
        listing.published,
        clock,
        lambda words: tell(f"{format_utc(clock())} memdeck: {words}"),
        listing.paths,
        maintain,
        not (no_exec or session.safe),
    )
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: runs.stop())
    runs.run(once=once)
    answer = {"host": local.host, "published": runs.published}
    session.answer(lambda: answer, lambda: [session.paint.line(f"{local.host}: published {runs.published:,} entries")])


@under(fleet, "serve", examples=("memdeck fleet serve", "memdeck fleet serve --port 8126 --read-only"))
@option("--port", type=Whole(0, 65535), default=0, metavar="N", help="The port for programs (default: a free one).")
@option("--read-only", is_flag=True, help="Let programs only read.")
@option(
    "--token-file",
    metavar="FILE",
    help="A private file with the token for programs (default: a new token each time).",
)
@on_database
def serve(session: Session, port: int, read_only: bool, token_file: str | None, database: str | None) -> None:
    """Serve the fleet to programs of this machine until ctrl+c, with the token that is printed.

    They find it under /api/v1/fleet, and metrics for Prometheus at /metrics. docs/fleet-database.md has a reverse proxy
    for a team. Needs the extra `server`: pip install 'memdeck[server]'.
    """
    with needs("server", "api.missing"):
        from app.servers.api.runs import Runs
        from app.servers.fleet import application
        from app.servers.fleet import serve as run
    token = secrets.token_urlsafe(32) if token_file is None else _token(token_file)
    url = database_of(session, database)
    if url is not None:
        central(session, database).listed()  # problems with the database are reported now

    def say(address: str, token: str) -> None:
        document = {"address": address, "token": token}
        tell_where(session, document, address, f"Authorization: Bearer {token}")

    life = Life()
    runs = Runs(None, session.clock, life.busy, read_only=read_only)
    run(application(runs, url, session.named_actor or "maintain"), life, port, say, token)


def _token(file: str) -> str:
    """Return the token in a file that others cannot read; UsageError `fleet.token`."""
    try:
        data = read_own(Path(file), None, 0o077, 1000) or b""
    except NotOwn as error:
        raise UsageError("fleet.token", f"{file} {error}", f"chmod 600 {file}") from None
    token = data.decode("ascii", "replace").strip()
    if len(token) < _TOKEN or not token.isprintable() or " " in token or len(data) > 1000:
        words = f"{file} holds no token of {_TOKEN} characters or more"
        raise UsageError("fleet.token", words, "make one: (umask 77; openssl rand -hex 32 > FILE)")
    return token
