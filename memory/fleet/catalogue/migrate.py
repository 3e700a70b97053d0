"""Creating and updating the catalogue: numbered migrations, each applied once and in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from memory.errors import UsageError

from .connect import SCHEMA, connect, told

if TYPE_CHECKING:
    import psycopg

_LOCK = 0x6D656D6465636B  # "memdeck"
_TRIES = 4
_ENGINE = "0002"
"""The tables of the job engine are created after this migration."""


class Initialised(NamedTuple):
    """The result of `initialise`: the applied migrations, and the hosts that were added or got another login."""

    applied: tuple[str, ...]
    hosts: tuple[str, ...]


def initialise(
    url: str,
    *,
    hosts: Mapping[str, str] | None = None,
    grants: Sequence[tuple[str, str]] = (),
    rebuild: bool = False,
) -> Initialised:
    """Create or update the catalogue; a second call changes nothing.

    `hosts` maps names of hosts to the logins of their agents, `grants` are pairs of a role of the catalogue without its
    `memdeck_` (`reader`, `operator`, `approver`) and a login. Missing logins are created, without a password. `rebuild`
    empties all derived data: every agent publishes again. If agents are active meanwhile, the server may abort this
    transaction because of a deadlock; it is then repeated, which is safe.
    """
    with told():
        from psycopg.errors import DeadlockDetected

        for _ in range(_TRIES):
            try:
                return _initialise(url, hosts or {}, grants, rebuild)
            except DeadlockDetected:
                continue
        return _initialise(url, hosts or {}, grants, rebuild)


def _initialise(url: str, hosts: Mapping[str, str], grants: Sequence[tuple[str, str]], rebuild: bool) -> Initialised:
    from psycopg import sql

    with connect(url) as connection, connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(SCHEMA)))
        connection.execute(
            "CREATE TABLE IF NOT EXISTS migration (name text PRIMARY KEY, applied timestamptz NOT NULL DEFAULT now())"
        )
        done = {name for (name,) in connection.execute("SELECT name FROM migration").fetchall()}
        ours = {one for one in done if not one.startswith("engine/")} - {name for name, _ in _migrations()}
        if ours:
            raise UsageError(
                "fleet.newer", f"the catalogue was made by a newer memdeck ({max(ours)})", "bring memdeck up to date"
            )
        applied = []
        for name, statements in _migrations():
            if name not in done:
                connection.execute(statements)
                connection.execute("INSERT INTO migration (name) VALUES (%s)", (name,))
                applied.append(name)
            if name.startswith(_ENGINE):
                applied += _engine(connection, done)
        if not done:
            # Agents may know an earlier catalogue of this name: no two have the same generation.
            connection.execute("UPDATE catalogue SET generation = extract(epoch FROM clock_timestamp()) * 1000000")
        if rebuild:
            # An agent that sends at this moment is either first, or learns that it has to start again.
            connection.execute("LOCK TABLE file IN SHARE ROW EXCLUSIVE MODE")
            connection.execute("DELETE FROM entry")
            connection.execute("DELETE FROM file")
            connection.execute("UPDATE workspace SET overview = '{}', sketch = '{}'")
            connection.execute("UPDATE catalogue SET generation = generation + 1")
        changed = _hosts(connection, hosts)
        for role, login in grants:
            _login(connection, login)
            words = sql.SQL("GRANT {} TO {}").format(sql.Identifier(f"memdeck_{role}"), sql.Identifier(login))
            connection.execute(words)
        return Initialised(tuple(applied), changed)


def _migrations() -> list[tuple[str, bytes]]:
    folder = files(__package__).joinpath("migrations")
    found = [one for one in folder.iterdir() if one.name.endswith(".sql")]
    return sorted((one.name.removesuffix(".sql"), one.read_bytes()) for one in found)


def _engine(connection: psycopg.Connection[tuple[Any, ...]], done: set[str]) -> list[str]:
    """Create the tables of the job engine, or apply its own new migrations."""
    folder = files("procrastinate").joinpath("sql")
    found = sorted(
        (one for one in folder.joinpath("migrations").iterdir() if one.name.endswith(".sql")), key=lambda one: one.name
    )
    names = [f"engine/{one.name.removesuffix('.sql')}" for one in found]
    missing = [name for name in names if name not in done]
    if not missing:
        return []
    if len(missing) == len(names):
        connection.execute(folder.joinpath("schema.sql").read_bytes())
    else:
        for name, one in zip(names, found, strict=True):
            if name in missing:
                connection.execute(one.read_bytes())
    for name in missing:
        connection.execute("INSERT INTO migration (name) VALUES (%s)", (name,))
    return missing if len(missing) < len(names) else ["engine"]


def _hosts(connection: psycopg.Connection[tuple[Any, ...]], hosts: Mapping[str, str]) -> tuple[str, ...]:
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


def _login(connection: psycopg.Connection[tuple[Any, ...]], login: str) -> None:
    from psycopg import sql

    if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (login,)).fetchone() is None:
        connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(login)))
