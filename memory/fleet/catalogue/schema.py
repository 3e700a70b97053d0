"""Creating the catalogue, and making it anew: it is derived, so another version of it replaces it as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import NamedTuple

from memory.errors import UsageError

from .connect import SCHEMA, VERSION, Database, connect, told

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
