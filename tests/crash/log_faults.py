"""A change log that fails: the change is made and a warning told, or, where the log is needed, refused as a whole.

Every statement of every operation fails in each way, once and for good; and the real things happen to the database:
another program holds it, it cannot grow, something else stands in its place.
"""

from __future__ import annotations

import resource
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from memory.errors import MemdeckError
from memory.files.edit import Edit
from memory.files.snapshot import Snapshot
from memory.files.tasks import edits as task_edits
from memory.storage.log.database import LogFile
from tests.crash.kill import Tally, difference, some
from tests.crash.operations import (
    CURATED,
    LATER,
    OPERATIONS,
    Operation,
    Place,
    Tree,
    changed,
    decides_on,
    fails,
    sample,
    states,
)
from tests.patience import Stopwatch

CODES = {
    "LOCKED": (6, sqlite3.OperationalError),
    "BUSY": (5, sqlite3.OperationalError),
    "READONLY": (8, sqlite3.OperationalError),
    "IOERR": (10, sqlite3.OperationalError),
    "CORRUPT": (11, sqlite3.DatabaseError),
    "FULL": (13, sqlite3.OperationalError),
    "CANTOPEN": (14, sqlite3.OperationalError),
    "NOTADB": (26, sqlite3.DatabaseError),
}
NEEDS_RECORDS = "memory.records.unavailable"
NEEDS_LOG = ("undo", "redo", "revert", "earlier version")
_ANSWERS = (
    "change.none",
    "change.not_found",
    "change.no_entry",
    "change.log_failed",
    "change.unrecorded",
    "document.conflict",
)


class Statements:
    """Counts statements and lets one fail, or it and all after it."""

    def __init__(self, number: int = -1, code: str = "FULL", *, lasting: bool = False) -> None:
        self.count = 0
        self.failed = 0
        self._number, self._code, self._lasting = number, code, lasting

    def come(self, statement: str, *, recorded: bool = True) -> None:
        """Count a statement; taking a transaction back is not one that fails.

        Nobody needs to hear of one in a database that is made of files: `recorded` is false there.
        """
        number, self.count = self.count, self.count + (statement != "ROLLBACK")
        if statement != "ROLLBACK" and (number == self._number or (self._lasting and 0 <= self._number < number)):
            self.failed += recorded
            code, kind = CODES[self._code]
            error = kind(f"fault {self._code}")
            error.sqlite_errorcode = code
            raise error


@contextmanager
def through(statements: Statements) -> Iterator[list[str]]:
    """Let all statements go through `statements`; yield the warnings that are told meanwhile."""
    connect, warn = sqlite3.connect, LogFile._warn
    told: list[str] = []

    class Connection(sqlite3.Connection):
        recorded = True

        def execute(self, sql: str, *args: Any) -> sqlite3.Cursor:
            statements.come(sql, recorded=self.recorded)
            return super().execute(sql, *args)

        def executemany(self, sql: str, *args: Any) -> sqlite3.Cursor:
            statements.come(sql, recorded=self.recorded)
            return super().executemany(sql, *args)

    class Derived(Connection):
        recorded = False

    def connected(target: Any, *args: Any, **words: Any) -> sqlite3.Connection:
        # No fault of a disk or of another program reaches what is in memory alone.
        if target == ":memory:":
            return connect(target, *args, **words)
        kind = Derived if Path(target).name.startswith("catalog") else Connection
        return connect(target, *args, factory=kind, **words)

    def warned(self: LogFile, text: str) -> None:
        told.append(text)
        warn(self, text)

    sqlite3.connect = connected  # type: ignore[assignment]
    LogFile._warn = warned  # type: ignore[method-assign]
    try:
        yield told
    finally:
        sqlite3.connect, LogFile._warn = connect, warn  # type: ignore[method-assign]


def log_faults(top: Path, every: int = 1, *, real: Iterable[str] | None = None) -> Tally:
    """Let each statement of each operation fail in each way; `real` names what really happens then, all without."""
    tally = Tally("a change log that fails at each statement")
    wanted = some(every)
    for operation in OPERATIONS:
        folder = top / operation.name.replace(" ", "-")
        folder.mkdir()
        start, allowed = states(operation, folder)
        place = start.copy(folder / "count")
        with through(statements := Statements()):
            operation.run(place)
        place.clear()
        for number in range(statements.count):
            for code in CODES:
                for lasting in (False, True):
                    if wanted():
                        place = start.copy(folder / "failed")
                        where = f"{operation.name}, {code} {'from' if lasting else 'at'} statement {number}"
                        _failed(tally, operation, place, allowed, Statements(number, code, lasting=lasting), where)
                        place.clear()
    for name in REAL if real is None else real:
        _real(tally, top / f"real-{name}", name, REAL[name])
    return tally


def _failed(
    tally: Tally, operation: Operation, place: Place, allowed: list[Tree], statements: Statements, where: str
) -> None:
    told: BaseException | None = None
    with through(statements) as warnings:
        try:
            operation.run(place)
        except Exception as error:
            told = error
    tally.points += 1
    tree = place.memory()
    needs = any(word in operation.name for word in NEEDS_LOG)
    answered = needs and isinstance(told, MemdeckError) and told.code in _ANSWERS
    if operation in CURATED and isinstance(told, MemdeckError) and told.code == NEEDS_RECORDS:
        answered = tree == allowed[0]
    tally.expect(told is None or answered, f"{where}: raised {told!r}")
    fine = tree in allowed[-1:] if told is None else tree in allowed
    tally.expect(fine, f"{where}: {difference(tree, allowed)}")
    tally.expect(bool(warnings) or not statements.failed, f"{where}: nothing was said")
    tally.expect(not place.leftovers(), f"{where}: left behind {place.leftovers()}")
    # When the fault is over, changes are made and noted again.
    if operation in CURATED:
        tally.expect(not (wrong := decides_on(place)), f"{where}: {wrong}")
        return
    workspace = place.workspace()
    with suppress(MemdeckError):
        workspace.notice(LATER)
    error = fails(lambda: changed(place, _add))
    tally.expect(error is None, f"{where}: the next change raised {error}")
    listed = place.workspace().store.history.list(1)
    tally.expect(len(listed) == 1 and listed[0].operation == "edit", f"{where}: the next change is not listed")


def _add(snapshot: Snapshot) -> Edit:
    return task_edits.add_task(snapshot, "After the fault", now=LATER)


# -- what really happens to a database ----------------------------------------------------------------------------


@contextmanager
def _held(path: Path) -> Iterator[None]:
    """Another program holds the database."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")
        connection.close()


@contextmanager
def _folder(path: Path) -> Iterator[None]:
    """A folder stands in its place."""
    path.unlink()
    path.mkdir()
    yield
    path.rmdir()


@contextmanager
def _link(path: Path) -> Iterator[None]:
    """A link stands in its place."""
    other = path.with_name("other")
    path.rename(other)
    path.symlink_to(other)
    yield
    path.unlink()


@contextmanager
def _garbage(path: Path) -> Iterator[None]:
    """Something else was written over its middle."""
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(100)
        file.write(b"\xa5" * (size - 100))
    yield


@contextmanager
def _full(path: Path) -> Iterator[None]:
    """It cannot grow: the system refuses every byte beyond a size, which memory files do not reach."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size // 4, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


REAL: dict[str, Callable[[Path], Any]] = {
    "held": _held,
    "folder": _folder,
    "link": _link,
    "garbage": _garbage,
    "full": _full,
}


def _real(tally: Tally, top: Path, name: str, fault: Callable[[Path], Any]) -> None:
    """Make a change while something real is wrong with the database: it is made, in time, and a warning told."""
    place = Place(top)
    sample(place)
    path = place.state_folder / "changes.sqlite"
    # As another process left it: all in one file.
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    tally.points += 1
    workspace = place.workspace()
    watch = Stopwatch()
    with fault(path):
        error = fails(lambda: workspace.change("add", _add, actor="cli", now=LATER))
        took = watch.seconds()
        warnings = workspace.store.history.warnings
        workspace.store.history.close()
    tally.expect(error is None, f"the log is {name}: {error}")
    tally.expect("After the fault" in (place.shop / ".aiter/memory/tasks.md").read_text(), f"the log is {name}: lost")
    tally.expect(bool(warnings), f"the log is {name}: nothing was said")
    tally.expect(took < 4.5, f"the log is {name}: it took {took:.1f} s, for which others wait")
    shutil.rmtree(top)
