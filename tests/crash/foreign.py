"""Other programs that write at every moment of a change: none of their bytes is lost, and ours stand or are refused."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from memory.curated.control.decision import select
from memory.errors import MemdeckError, NotFoundError
from memory.storage.transaction import Transaction
from tests.crash.calls import Calls, in_force
from tests.crash.kill import KILLED, Tally, some
from tests.crash.operations import CURATED, CURATED_FOLDER, OPERATIONS, Operation, Place, Tree, states
from tests.patience import reap

MARK = b"\n<!-- foreign -->\n"
PROJECT, DRAWN = ".agent-memory/", ("docs/agent-memory/", ".agent-memory/analysis.json")
"""Files of the project state that hold nothing but JSON, and those that are drawn from it."""
CHANGED = ("memory.changed", "memory.exists", "memory.file_invalid", "memory.revert.changed")
"""How curated memory refuses what another program has written."""
REFUSED, BROKEN = 5, 70
"""How a process ends that the project state or curated memory refused, and one that another error ended."""


def in_place(path: Path) -> None:
    """Rewrite a file as editors and agents do: the same inode, open for a moment."""
    with path.open("r+b") as file:
        data = file.read()
        file.seek(0)
        file.truncate()
        file.write(data + MARK)


def appended(path: Path) -> None:
    """Append to a file as a shell does."""
    with path.open("ab") as file:
        file.write(MARK)


def replaced(path: Path) -> None:
    """Replace a file as sed and sync tools do."""
    other = path.with_name("other.tmp")
    other.write_bytes(path.read_bytes() + MARK)
    other.replace(path)


def created_anew(path: Path) -> None:
    """Unlink and create a file as git does."""
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(data + MARK)


def newly(path: Path) -> None:
    """Create a file where there was none."""
    with path.open("xb") as file:
        file.write(MARK)


WRITERS: list[Callable[[Path], None]] = [in_place, appended, replaced, created_anew]


def apart(writer: Callable[[Path], None], path: Path, patience: float = 0.02) -> int:
    """Let another process write; return its id while it waits for us, 0 when it is done."""
    pid = os.fork()
    if not pid:
        os.closerange(3, 1 << 20)
        try:
            writer(path)
        finally:
            os._exit(0)
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        if os.waitpid(pid, os.WNOHANG)[0]:
            return 0
        time.sleep(0.0002)
    return pid


def foreign(
    top: Path,
    every: int = 1,
    *,
    killed: int = 0,
    near: bool = False,
    looking: bool = False,
    operations: Sequence[str] = (),
) -> Tally:
    """Let a writer come before each call; with `killed`, the change is killed that many calls later as well.

    With `near`, only before the calls that put a file in its place; with `looking`, before those that only look too.
    `operations` names those to cross, all without.
    """
    what = "foreign writer at each call" + (" that looks or changes" if looking else "")
    tally = Tally(what + (", then kill -9" if killed else ""))
    wanted = some(every)
    for operation in OPERATIONS:
        if operations and operation.name not in operations:
            continue
        folder = top / operation.name.replace(" ", "-")
        folder.mkdir()
        start, allowed = states(operation, folder)
        # What a first change writes and a second one takes back counts, too.
        was = allowed[0].items()
        changed = [name for name, data in was if data is not None and any(one.get(name) != data for one in allowed)]
        new = [name for name, data in allowed[-1].items() if data is not None and name not in allowed[0]]
        crossings = [(writer, name) for name in changed for writer in WRITERS] + [(newly, name) for name in new]
        place = start.copy(folder / "count")
        with in_force(Calls(looking=looking)) as calls:
            operation.run(place)
        place.clear()
        for number in range(calls.count):
            if near and calls.names[number] not in ("renameat2", "link", "rename"):
                continue
            for writer, name in crossings:
                if not wanted():
                    continue
                place = start.copy(folder / "crossed")
                where = f"{operation.name}, {writer.__name__} {name} before {calls.names[number]} {number}"
                write = partial(_write, place, writer, name)
                code = _crossed(tally, operation, place, number, write, killed, where, looking=looking)
                if code == 0 and operation.adds and (place.top / "at once").exists():
                    ours = any(operation.adds in (data or b"") for data in place.memory().values())
                    tally.expect(ours, f"{where}: acknowledged, and gone")
                if code == REFUSED:
                    tree = place.memory()
                    same = any(_but(tree, name) == _but(one, name) for one in allowed)
                    tally.expect(same, f"{where}: refused, and half of it is written")
                _look(tally, place, name, where, may_be_kept=bool(killed) and writer in (in_place, appended))
                place.clear()
    return tally


def _but(tree: Tree, name: str) -> Tree:
    """Return the files of a tree without one of them."""
    return {path: data for path, data in tree.items() if path != name and data is not None}


def _write(place: Place, writer: Callable[[Path], None], name: str) -> None:
    """Write, and note that it began and that it is done."""
    (place.top / "began").touch()
    try:
        writer(place.shop / name)
    except OSError:
        (place.top / "began").unlink()
        raise
    (place.top / "wrote").touch()


def _crossed(
    tally: Tally,
    operation: Operation,
    place: Place,
    number: int,
    write: Callable[[], None],
    killed: int,
    where: str,
    *,
    looking: bool,
) -> int:
    """Run an operation while somebody writes, in a process of its own, which may be killed; return how that ended."""
    tally.points += 1
    pid = os.fork()
    if pid:
        code = reap(pid)
        # What no longer is what its system can read is refused by the error of that system.
        # A file that came where a page of the project state belongs is somebody's own, and stays.
        own = f" {PROJECT}" in where or " docs/agent-memory/" in where
        refused = (REFUSED,) if own or operation in CURATED else ()
        tally.expect(code in (0, 4, *refused, KILLED if killed else 0), f"{where}: ended with {code}")
        _wait_for_writers(place)
        return code
    waiting: list[int] = []
    commit = Transaction.commit

    def seen(self: Transaction, summary: str = "") -> Any:
        change = commit(self, summary)
        if any(MARK in (file.before or b"") for file in change.files):
            (place.top / "seen").touch()
        return change

    Transaction.commit = seen  # type: ignore[method-assign]

    def come(count: int, *_: Any) -> None:
        if count == number:
            waiting.append(apart(lambda _: write(), Path()))
            if not waiting[-1]:
                (place.top / "at once").touch()
        if killed and count == number + killed:
            os.kill(os.getpid(), signal.SIGKILL)

    code = BROKEN
    try:
        with in_force(Calls(come, looking=looking)):
            operation.run(place)
        code = 0
    except NotFoundError:
        code = 4  # In the moment in which the other program has no file there: refused, nothing was written.
    except MemdeckError as error:
        code = REFUSED if error.code in CHANGED or error.code.startswith("state.") else error.exit_code
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        for one in waiting:
            if one:
                reap(one)
        os._exit(code)


def _wait_for_writers(place: Place) -> None:
    """Wait until no writer that outlived a killed change has a file open: a lease tells."""
    deadline = time.monotonic() + 0.05
    while time.monotonic() < deadline and any(place.shop.rglob("other.tmp")):
        time.sleep(0.001)


def _look(tally: Tally, place: Place, name: str, where: str, *, may_be_kept: bool) -> None:
    """The foreign bytes are in the file, or kept where their writer was late."""
    # What a change has read, it may remove or draw anew: the change log has the bytes.
    # What a decision was made on, it may replace: the record of decisions has the bytes too.
    drawn = name.startswith((*DRAWN, f"{CURATED_FOLDER}/"))
    deadline = time.monotonic() + 1
    while True:
        try:
            store = place.recover()
        except MemdeckError as error:
            tally.expect(False, f"{where}: recovery raised {error}")
            return
        tree = place.memory()
        kept = [path.read_bytes() for path in place.shop.glob(".*/.memdeck/stage/*.kept")]
        where_now = [data for data in tree.values() if data and MARK in data]
        if may_be_kept:
            where_now += [data for data in kept if MARK in data]
        others = [left for left in place.leftovers() if not left.endswith(".kept")]
        removed = (tree.get(name) is None or drawn) and (place.top / "seen").exists()
        logged = removed and not where_now and _is_logged(place)
        came = bool(where_now) or logged or not (place.top / "began").exists()
        if (came and not others) or time.monotonic() > deadline:
            break
        time.sleep(0.005)  # The writer of a killed change may only now get its file, or still have it open.
    wrote = (place.top / "wrote").exists() and not removed
    if removed and not where_now and not may_be_kept:
        tally.expect(logged, f"{where}: drawn anew or removed, and the change log has not the foreign bytes")
    tally.expect(
        bool(where_now) or not wrote, f"{where}: the foreign bytes are gone; {name} {tree.get(name, b'-')!r:.80}"
    )
    with place.workspace() as workspace:
        listed = [one.data for other in (store, *workspace.stores()) for one in other.kept()]
    tally.expect(all(data in listed for data in kept), f"{where}: kept bytes are not listed")
    tally.expect(not others, f"{where}: left behind {others}")


def _is_logged(place: Place) -> bool:
    """Tell whether a version in the change log holds the foreign bytes."""
    if (place.shop / CURATED_FOLDER).is_dir():
        curated = place.curated()
        try:
            side = curated.sides["global"]
            made = side.records.look(lambda db: select(side, db, "1", []), [])
        finally:
            curated.close()
        return any(MARK in (one.prior or b"") for one in made)
    with place.workspace() as workspace:
        history = workspace.store.history
        versions = (history.before(record.id, file.path) for record in history.list() for file in record.files)
        return any(MARK in (data or b"") for data in versions)
