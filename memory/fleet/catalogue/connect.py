"""Connections to the catalogue, and the errors if it cannot be used."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from memory.errors import BusyError, MemdeckError, UsageError

if TYPE_CHECKING:
    import psycopg

Database: TypeAlias = "psycopg.Connection[tuple[Any, ...]]"
"""A connection to the catalogue."""
SCHEMA = "memdeck"
VERSION = 2
"""The version of the catalogue's tables; another one is made anew."""
_SECONDS = 10
_REFUSED = re.compile(
    r"authentication failed|no password supplied|no pg_hba.conf entry|pg_hba.conf rejects|permission denied"
    r"|(role|user|database) \".*\" does not exist|is not permitted to log in|certificate|does not support SSL"
)
"""What a server says that refuses a login: to try it again does not help."""
OPTIONS = f"-c search_path={SCHEMA}"


def _need_driver() -> None:
    """Raise UsageError `fleet.extra` where the database's driver is not installed."""
    try:
        import psycopg  # noqa: F401
    except ImportError as error:
        raise UsageError(
            "fleet.extra", "the parts for a database are not installed", "install memdeck with the extra `fleet`"
        ) from error


def arguments_of(url: str) -> dict[str, Any]:
    """Return the arguments of a connection to a database; UsageError `fleet.extra`, `fleet.database_url`."""
    _need_driver()
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    try:
        found = conninfo_to_dict(url)
    except psycopg.ProgrammingError as error:
        raise UsageError(
            "fleet.database_url",
            f"the database URL cannot be read: {_first_line(error, url)}",
            "write postgresql://USER@HOST/NAME",
        ) from None
    options = f"{found.pop('options', None) or ''} {OPTIONS}".strip()
    return {"connect_timeout": _SECONDS, "application_name": "memdeck", **found, "options": options}


def connect(url: str) -> Database:
    """Return a connection that commits each statement automatically; errors as `arguments_of` and `told`."""
    arguments = arguments_of(url)
    import psycopg

    with told():
        return psycopg.connect(autocommit=True, **arguments)


@contextmanager
def told() -> Iterator[None]:
    """Convert errors of the database to those of memdeck.

    BusyError `fleet.database_down`; UsageError `fleet.extra`, `fleet.not_initialised`, `fleet.login_refused`;
    MemdeckError `fleet.forbidden`, `fleet.database`.
    """
    _need_driver()
    import psycopg

    try:
        yield
    except (
        psycopg.errors.UndefinedTable,
        psycopg.errors.UndefinedColumn,
        psycopg.errors.InvalidSchemaName,
        psycopg.errors.UndefinedFunction,
    ) as error:
        raise UsageError(
            "fleet.not_initialised",
            "the database holds no catalogue of this version",
            "`memdeck fleet init --database URL` makes it",
        ) from error
    except psycopg.errors.InsufficientPrivilege as error:
        raise MemdeckError(
            "fleet.forbidden", f"the database refuses it: {_first_line(error)}", "see docs/fleet.md for the roles"
        ) from error
    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
        if _REFUSED.search(str(error)):
            raise UsageError(
                "fleet.login_refused",
                f"the database refuses the login: {_first_line(error)}",
                "see docs/fleet.md for logins and TLS",
            ) from error
        raise BusyError(
            "fleet.database_down", f"the database cannot be reached: {_first_line(error)}", "try again later"
        ) from error
    except psycopg.Error as error:
        raise MemdeckError("fleet.database", f"the database failed: {_first_line(error)}", "see its log") from error


def _first_line(error: Exception, hidden: str = "") -> str:
    """Return the message of an error, without parts that may contain a password."""
    line = next(iter(str(error).splitlines()), type(error).__name__)[:300]
    return line.replace(hidden, "…") if hidden else line
