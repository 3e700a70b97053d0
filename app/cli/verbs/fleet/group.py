"""What the verbs of `memdeck fleet` share: their group, the option of a database, the fleet itself."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from app.cli.declared import group, option
from app.cli.session import Session
from memory.errors import UsageError
from memory.person import DATABASE

if TYPE_CHECKING:
    from memory.fleet import EmbeddedFleet, Fleet
    from memory.fleet.catalogue.central import CentralFleet
    from memory.fleet.model import Progress

FAILED, FOUND = 1, 4

fleet = group(
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


def database_of(given: str | None) -> str | None:
    """Return the URL of the catalogue; None: there is none."""
    return given or os.environ.get(DATABASE) or None


def needed_database(given: str | None) -> str:
    """Return the URL of the catalogue; UsageError `fleet.no_database`."""
    url = database_of(given)
    if url is None:
        raise UsageError("fleet.no_database", "no database is named", f"give --database URL, or set {DATABASE}")
    return url


def embedded() -> EmbeddedFleet:
    """Return the workspaces of this person on this machine."""
    from memory.fleet import EmbeddedFleet
    from memory.person import config_home, home, host_name, state_home

    return EmbeddedFleet(
        state_home(os.environ),
        host=host_name(os.environ),
        home=home(os.environ),
        config_home=config_home(os.environ),
        environ=os.environ,
    )


def central(session: Session, database: str | None) -> CentralFleet:
    """Return the fleet of the catalogue; UsageError `fleet.no_database`."""
    from memory.fleet.catalogue.central import CentralFleet

    return session.opened(CentralFleet(needed_database(database)))


def fleet_of(session: Session, database: str | None) -> Fleet:
    """Return the fleet that answers: of the catalogue where a database is configured, else of this machine."""
    return session.opened(embedded()) if database_of(database) is None else central(session, database)


def progress_of(session: Session, what: str) -> Progress | None:
    """Return what shows on stderr how far long work is; nothing where nobody looks."""
    if session.output != "human" or sys.stderr is None or not sys.stderr.isatty():
        return None

    def show(done: int, total: int) -> None:
        end = "\r" if not total or done < total else "\r\x1b[K"
        words = f"{what}: {done:,}" + (f" of {total:,}" if total else "")
        sys.stderr.write(f"\r{words}{end}" if done != total else end)
        sys.stderr.flush()

    return show
