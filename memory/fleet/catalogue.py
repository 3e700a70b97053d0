"""The catalogue in its database: connections, the errors if it cannot be used, making it, and the search in it.

It is derived, so another version of it replaces it as a whole.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from memory.base.words import tokens
from memory.errors import BusyError, MemdeckError, UsageError
from memory.fleet.local import best_hits
from memory.fleet.model import FleetHit
from memory.search.hits import body_of
from memory.search.query import Query, Term
from memory.search.rank import day_number
from memory.search.records import Record
from memory.search.searcher import search_records

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


RANKED = 300
"""Of so many matching entries, the newest, the database ranks the words."""
_BEGINNINGS = 4
"""With more words than this, only whole ones are found: the matches of many beginnings take too long to join."""
MOST = 1_000
"""Maximum number of hits if there is no limit."""
_FEWEST = 40
"""So many candidates are ranked here, even if fewer hits are wanted."""
_SETTINGS = """
SET LOCAL jit = off;
SET LOCAL max_parallel_workers_per_gather = 0;
SET LOCAL work_mem = '64MB'
"""
"""A search is too short for compiling and for helpers; matches of a prefix have to fit into memory."""
_BEST = """
WITH fits AS MATERIALIZED (
    SELECT e.file, e.digest, e.day, e.words FROM entry e {join} WHERE {where} ORDER BY e.day DESC LIMIT {most}
), best AS (
    SELECT file, digest FROM fits {rank} LIMIT {keep}
)
SELECT e.file, e.digest, e.kind, f.name, e.title, e.text, e.date, e.ref, e.tags, h.name, w.path,
       coalesce(f.lines[array_position(f.digests, e.digest)], 0)
FROM best JOIN entry e USING (file, digest) JOIN file f ON f.id = e.file
JOIN workspace w ON w.id = f.workspace JOIN host h ON h.id = e.host
"""


@dataclass(frozen=True, slots=True)
class _Item:
    """The data for ranking a record; `line` is the position of its row."""

    ref: str | None
    line: int


def search(connection: Database, query: Query, limit: int) -> tuple[FleetHit, ...]:
    """Return the best hits, those that match all words first; `limit` 0 is the best `MOST`. psycopg.Error."""
    if query.empty:
        return ()
    most = limit or MOST
    rows = _candidates(connection, query, most)
    records = [
        Record(kind, name, title, text, _Item(ref, at), date, tuple(tags))
        for at, (_, _, kind, name, title, text, date, ref, tags, *_rest) in enumerate(rows)
    ]
    hits = []
    for hit in search_records(records, query, most).every:
        *_, host, path, line = rows[hit.entry.line]
        hits.append(FleetHit(Path(os.fsdecode(path)), host, hit._replace(entry=hit.entry._replace(line=line))))
    return best_hits(hits, 0)


def _candidates(connection: Database, query: Query, most: int) -> list[tuple[Any, ...]]:
    """Return the entries that may be among the best: with all words as they are typed, as beginnings, with any word."""
    terms = [term for term in query.terms if not term.strict]
    ways = [all_of(query, whole=True), *([all_of(query)] if len(terms) <= _BEGINNINGS else [])]
    if len(terms) > 1:
        ways += [any_of(terms, query, whole=True), *([any_of(terms, query)] if len(terms) <= _BEGINNINGS else [])]
    keep = max(2 * most, _FEWEST)
    found: dict[tuple[int, int], tuple[Any, ...]] = {}
    with connection.transaction():
        connection.execute(_SETTINGS)
        for words in dict.fromkeys(ways):
            if len(found) < most:
                found |= {row[:2]: row for row in _best(connection, query, words, keep) if row[:2] not in found}
    return list(found.values())


def _best(connection: Database, query: Query, words: str, keep: int) -> list[tuple[Any, ...]]:
    """Return the entries that match, ranked by the database if there are words; without words the newest."""
    filters, values = _filters(query)
    rank = "ORDER BY ts_rank('{0.1, 0.2, 0.4, 1.0}', words, %s::tsquery) DESC, day DESC" if words else ""
    text = _BEST.format(
        join="JOIN file f ON f.id = e.file" if query.placed else "",
        where=("e.words @@ %s::tsquery" if words else "true") + filters,
        most=RANKED if words else keep,
        rank=rank,
        keep=keep,
    )
    matched = [words] if words else []
    return connection.execute(text.encode(), (*matched, *values, *matched)).fetchall()


def _filters(query: Query) -> tuple[str, list[Any]]:
    """Return the filters of a query as SQL, and their values."""
    parts: list[str] = []
    values: list[Any] = []

    def place(names: Sequence[str]) -> str:
        either = []
        for name in names:
            kind = "plans" if name == "orchestration" else name
            either.append("e.kind = %s OR position(%s in lower(f.name)) > 0")
            values.extend((kind, name))
            if len(kind) > 2:
                either.append("starts_with(e.kind, %s)")
                values.append(kind)
        return f"({' OR '.join(either)})"

    def tag(name: str) -> str:
        if name.endswith("*"):
            values.append(name[:-1])
            return "EXISTS (SELECT 1 FROM unnest(e.tags) t WHERE starts_with(t, %s))"
        values.append(name)
        return "%s = ANY (e.tags)"

    parts += [place(names) for names in query.places]
    if query.not_places:
        parts.append(f"NOT {place(query.not_places)}")
    parts += [f"({' OR '.join(map(tag, names))})" for names in query.tags]
    parts += [f"NOT {tag(name)}" for name in query.not_tags]
    if query.dated:
        parts.append("e.day > 0")
    if query.after:
        parts.append("e.day >= %s")
        values.append(day_number(query.after))
    if query.before:
        parts.append("e.day < %s")
        values.append(day_number(query.before))
    return "".join(f" AND {part}" for part in parts), values


_LONGEST_WORD = 400
_MOST_WORDS = 20_000
_MOST_PLACES = 16_383
_MOST_OF_ONE = 250
_APART = 2  # Keeps a phrase from matching across title and text.


def vector_of(title: str, text: str) -> str:
    """Return the words of an entry with their positions, those of the title weighted; of a very long entry the first
    words, within the limits of PostgreSQL.

    Words contain neither quotes nor backslashes, see `memory.base.words`.
    """
    head, body = tokens(title)[:_MOST_WORDS], tokens(body_of(title, text))[:_MOST_WORDS]
    places: dict[str, list[str]] = {}
    for number, word in enumerate(head, 1):
        places.setdefault(word[:_LONGEST_WORD], []).append(f"{min(number, _MOST_PLACES)}A")
    for number, word in enumerate(body, len(head) + _APART):
        held = places.setdefault(word[:_LONGEST_WORD], [])
        if len(held) < _MOST_OF_ONE and number <= _MOST_PLACES:
            held.append(str(number))
    return " ".join(f"'{word}':{','.join(found)}" if found else f"'{word}'" for word, found in places.items())


def term_words(term: Term, *, whole: bool = False) -> str:
    """Return one term in the syntax of the full-text search; `whole`: its last word is not longer."""
    phrase = " <-> ".join(f"'{word[:_LONGEST_WORD]}'" for word in term.words)
    return f"({phrase}{':*' if term.open and not whole else ''})"


def all_of(query: Query, *, whole: bool = False) -> str:
    """Return the expression for all terms of a query and none of its excluded ones; empty: there are no words."""
    parts = [term_words(term, whole=whole) for term in query.terms]
    parts += [f"!{term_words(term)}" for term in query.without]
    return " & ".join(parts)


def any_of(terms: Sequence[Term], query: Query, *, whole: bool = False) -> str:
    """Return the expression for one of some terms, and every quoted one of the query."""
    loose = " | ".join(term_words(term, whole=whole) for term in terms if not term.strict)
    strict = [term_words(term) for term in query.terms if term.strict]
    never = [f"!{term_words(term)}" for term in query.without]
    return " & ".join([*([f"({loose})"] if loose else []), *strict, *never])
