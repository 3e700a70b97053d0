"""The catalogue in its database: connections, the errors if it cannot be used, and making it.

It is derived, so another version of it replaces it as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from memory.errors import BusyError, MemdeckError, UsageError

if TYPE_CHECKING:
    import psycopg

Database: TypeAlias = "psycopg.Connection[tuple[Any, ...]]"
"""A connection to the catalogue."""
SCHEMA = "memdeck"
VERSION = 3
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
    except psycopg.Error as error:
        raise _meaning(error) from error


def _meaning(error: Exception) -> MemdeckError:
    """Return what an error of the database means to a person."""
    from psycopg import InterfaceError, OperationalError, errors

    line = _first_line(error)
    absent = (errors.UndefinedTable, errors.UndefinedColumn, errors.InvalidSchemaName, errors.UndefinedFunction)
    if isinstance(error, absent):
        words = "the database has no catalogue of this version"
        return UsageError("fleet.not_initialised", words, "`memdeck fleet init --database URL` creates it")
    if isinstance(error, errors.InsufficientPrivilege):
        return MemdeckError(
            "fleet.forbidden", f"the database refuses it: {line}", "see docs/fleet-database.md for the roles"
        )
    if not isinstance(error, (OperationalError, InterfaceError)):
        return MemdeckError("fleet.database", f"the database failed: {line}", "see its log")
    if _REFUSED.search(str(error)):
        words = f"the database refuses the login: {line}"
        return UsageError("fleet.login_refused", words, "see docs/fleet-database.md for logins and TLS")
    return BusyError("fleet.database_down", f"the database cannot be reached: {line}", "try again later")


def _first_line(error: Exception, hidden: str = "") -> str:
    """Return the message of an error, without parts that may contain a password."""
    line = next(iter(str(error).splitlines()), type(error).__name__)[:300]
    return line.replace(hidden, "…") if hidden else line


_LOCK = 0x6D656D6465636B  # "memdeck"
_TRIES = 5


class Initialised(NamedTuple):
    """The result of `initialise`: whether the catalogue was made, and the hosts that were added or changed."""

    made: bool
    hosts: tuple[str, ...]


def initialise(
    url: str,
    *,
    hosts: Mapping[str, str] | None = None,
    grants: Sequence[tuple[str, str]] = (),
    drop: Sequence[str] = (),
    rebuild: bool = False,
) -> Initialised:
    """Create the catalogue; a second call changes nothing.

    `hosts` maps names of hosts to the logins of their agents, `grants` are pairs of a role of the catalogue without its
    `memdeck_` (`reader`, `operator`, `approver`) and a login. Missing logins are created, without a password. `drop`
    names hosts that no longer exist. A catalogue of an older version, or any with `rebuild`, is made anew: hosts and
    logins stay, and every agent publishes again. If agents are active meanwhile, the server may abort this transaction
    because of a deadlock; it is then repeated, which is safe.
    """
    with told():
        from psycopg.errors import DeadlockDetected

        for left in reversed(range(_TRIES)):
            try:
                return _initialise(url, hosts or {}, grants, drop, rebuild)
            except DeadlockDetected:
                if not left:
                    raise
    raise AssertionError("the last try returns or raises")


def _initialise(
    url: str, hosts: Mapping[str, str], grants: Sequence[tuple[str, str]], drop: Sequence[str], rebuild: bool
) -> Initialised:
    from psycopg import sql

    with connect(url) as connection, connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        version, known = _held(connection)
        made = rebuild or version != VERSION
        if made:
            connection.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE; CREATE SCHEMA {SCHEMA}".encode())
            connection.execute(files(__package__).joinpath("schema.sql").read_bytes())
            connection.execute("INSERT INTO catalogue (version) VALUES (%s)", (VERSION,))
            with connection.cursor() as cursor:
                cursor.executemany("INSERT INTO host (name, role) VALUES (%s, %s)", known)
        connection.execute("DELETE FROM host WHERE name = ANY (%s)", (list(drop),))
        changed = _hosts(connection, hosts)
        for role, login in grants:
            _login(connection, login)
            words = sql.SQL("GRANT {} TO {}").format(sql.Identifier(f"memdeck_{role}"), sql.Identifier(login))
            connection.execute(words)
        return Initialised(made, changed)


def _held(connection: Database) -> tuple[int, list[tuple[str, str | None]]]:
    """Return the version of the catalogue (0: there is none), and its hosts with their logins."""
    if connection.execute("SELECT to_regclass('catalogue')").fetchone() == (None,):
        return 0, []
    row = connection.execute("SELECT version FROM catalogue").fetchone()
    version = 0 if row is None else int(row[0])
    if version > VERSION:
        raise UsageError("fleet.newer", "the catalogue was made by a newer memdeck", "bring memdeck up to date")
    return version, connection.execute("SELECT name, role FROM host ORDER BY id").fetchall()


def _hosts(connection: Database, hosts: Mapping[str, str]) -> tuple[str, ...]:
    from psycopg import sql

    changed = []
    for name, login in hosts.items():
        _login(connection, login)
        connection.execute(sql.SQL("GRANT memdeck_agent TO {}").format(sql.Identifier(login)))
        row = connection.execute("SELECT name FROM host WHERE role = %s AND name <> %s", (login, name)).fetchone()
        if row is not None:
            raise UsageError(
                "fleet.login_taken", f"{login} is the login of the host {row[0]}", "give each host a login of its own"
            )
        put = connection.execute(
            "INSERT INTO host (name, role) VALUES (%s, %s)"
            " ON CONFLICT (name) DO UPDATE SET role = excluded.role WHERE host.role IS DISTINCT FROM excluded.role",
            (name, login),
        )
        if put.rowcount:
            changed.append(name)
    return tuple(changed)


def _login(connection: Database, login: str) -> None:
    from psycopg import sql

    if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (login,)).fetchone() is None:
        connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(login)))
