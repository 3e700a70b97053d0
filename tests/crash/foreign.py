"""Other programs that write at every moment of a change, and many processes at once: nobody's bytes are lost."""

from __future__ import annotations

import os
import signal
import time
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from memory.curated.control.decision import select
from memory.document import parse
from memory.errors import BusyError, ConflictError, MemdeckError
from memory.files.tasks import operations as task_operations
from memory.storage import Store
from tests.crash.calls import Calls, in_force
from tests.crash.kill import END, KILLED, Tally, apart, points, prepared, some
from tests.crash.operations import CURATED_FOLDER, NOW, Operation, Place, sample
from tests.patience import reap

MARK = b"\n<!-- foreign -->\n"
Writer = Callable[[Path, bytes], None]


def in_place(path: Path, line: bytes) -> None:
    """Rewrite a file as editors and agents do: the same inode, open for a moment."""
    with path.open("r+b") as file:
        data = file.read()
        file.seek(0)
        file.truncate()
        file.write(data + line)


def appended(path: Path, line: bytes) -> None:
    """Append to a file as a shell does."""
    with path.open("ab") as file:
        file.write(line)


def replaced(path: Path, line: bytes) -> None:
    """Replace a file as sed and sync tools do."""
    other = path.with_name("other.tmp")
    other.write_bytes(path.read_bytes() + line)
    other.replace(path)


def created_anew(path: Path, line: bytes) -> None:
    """Unlink and create a file as git does."""
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(data + line)


def newly(path: Path, line: bytes) -> None:
    """Create a file where there was none."""
    with path.open("xb") as file:
        file.write(line)


WRITERS: tuple[Writer, ...] = (in_place, appended, replaced, created_anew)


def foreign(
    top: Path,
    every: int = 1,
    *,
    killed: bool = False,
    near: bool = False,
    looking: bool = False,
    operations: Sequence[str] = (),
) -> Tally:
    """Let a writer come before each call; with `killed`, the change is killed before the next call.

    With `near`, only before the calls that put a file in its place; with `looking`, before those that only look too.
    """
    tally, wanted = Tally(f"foreign writer at each call{', then kill -9' if killed else ''}"), some(every)
    for operation, folder, start, allowed in prepared(top):
        if operations and operation.name not in operations:
            continue
        was, becomes = allowed[0], allowed[-1]
        old = [name for name, data in was.items() if data is not None and any(data != t.get(name) for t in allowed)]
        new = [name for name, data in becomes.items() if data is not None and name not in was]
        writers = [(writer, name) for name in old for writer in WRITERS] + [(newly, name) for name in new]
        for number, call in enumerate(points(operation, start, folder, looking=looking)):
            for writer, name in writers if not near or call in ("renameat2", "link", "rename") else ():
                if not wanted():
                    continue
                place = start.copy(folder / "crossed")
                where = f"{operation.name}, before {call} {number}, {writer.__name__} {name}"
                write = partial(_write, place, writer, name)
                ended = _cross(tally, operation, place, number, write, where, killed, looking)
                _look_for(tally, place, where, may_be_kept=killed and writer in (in_place, appended))
                if ended and operation.adds:
                    there = any(operation.adds in (data or b"") for data in place.memory().values())
                    tally.expect(there, f"{where}: success was told, and it is not there")
                place.clear()
    return tally


def _write(place: Place, writer: Writer, name: str) -> None:
    try:
        writer(place.shop / name, MARK)
    except OSError:
        return  # Its folder or file is not there at this moment.
    (place.top / "wrote").touch()


def _cross(
    tally: Tally,
    operation: Operation,
    place: Place,
    number: int,
    write: Callable[[], None],
    where: str,
    killed: bool,
    looking: bool,
) -> bool:
    """Run an operation while another program writes; return whether it told success."""
    tally.points += 1

    def come(count: int, *_: object) -> None:
        if count == number:
            write()
        elif killed and count == number + 1:
            os.kill(os.getpid(), signal.SIGKILL)

    if killed:
        code = apart(partial(_allowed_to_fail, operation, place), come)
        tally.expect(code in (END, KILLED), f"{where}: ended with {code}")
        return False
    try:
        with in_force(Calls(come, looking=looking)):
            return _allowed_to_fail(operation, place)
    except Exception as error:
        tally.expect(False, f"{where}: raised {error!r}")
    return False


def _look_for(tally: Tally, place: Place, where: str, *, may_be_kept: bool) -> None:
    """The foreign bytes are in a file or in the record of what a change removed; kept only where they came late."""
    try:
        place.recover()
    except MemdeckError as error:
        tally.expect(False, f"{where}: recovery raised {error}")
        return
    left = [name for name in place.leftovers() if not name.endswith(".kept")]
    tally.expect(not left, f"{where}: left behind {left}")
    if (place.top / "wrote").exists():
        places = (*place.memory().values(), *(place.kept() if may_be_kept else ()))
        there = any(MARK in (data or b"") for data in places)
        tally.expect(there or _is_recorded(place), f"{where}: the foreign bytes are gone")
    with place.workspace() as workspace:
        listed = sum(len(store.kept()) for store in workspace.stores())
    tally.expect(listed == len(place.kept()) or (place.shop / CURATED_FOLDER).is_dir(), f"{where}: kept and not listed")


def _allowed_to_fail(operation: Operation, place: Place) -> bool:
    """Run an operation and return whether it succeeded; another program's bytes may make it refuse."""
    try:
        operation.run(place)
    except MemdeckError as error:
        if error.code in ("file.io", "change.incomplete"):
            raise
        return False
    return True


def _is_recorded(place: Place) -> bool:
    """Tell whether a record of what a change replaced or removed holds the foreign bytes."""
    if (place.shop / CURATED_FOLDER).is_dir():
        curated = place.curated()
        try:
            side = curated.sides["global"]
            made = side.records.look(lambda db: select(db, "1", []), [])
        finally:
            curated.close()
        return any(MARK in (one.prior or b"") for one in made)
    with place.workspace() as workspace:
        history = workspace.store.history
        versions = (history.before(record.id, file.path) for record in history.list() for file in record.files)
        return any(MARK in (data or b"") for data in versions)


def late(top: Path) -> Tally:
    """Write to displaced files: the next change keeps the bytes and lists them, and clears the others away."""
    tally = Tally("bytes that reach a replaced file late")
    path = "memory/contacts.md"
    for number, (held, later) in enumerate((held, later) for held in (0, 1) for later in (b"", MARK)):
        place = Place(top / str(number))
        sample(place)
        store = place.store()
        for turn in range(2):
            opened = (place.shop / ".aiter" / path).open("ab", buffering=0)
            _append(store, path, b"- ours\n")
            if turn == held:
                opened.write(later)
            opened.close()
        place.recover()
        listed, found = place.recover().kept(), place.kept()
        tally.points += 1
        tally.expect(len(found) == len(listed) == bool(later), f"{len(found)} late files of change {held} are kept")
        tally.expect(all(MARK in data for data in found), f"kept are {found}")
        tally.expect(len(place.leftovers()) == bool(later), f"left behind {place.leftovers()}")
    return tally


def _append(store: Store, path: str, line: bytes) -> None:
    """Replace a file by one with a line more."""
    with store.transaction("t", actor="cli", now=NOW) as transaction:
        before = transaction.read(path)
        if before.exists:
            transaction.write(path, before.data + line, base=before.data)
            transaction.commit()


# -- many at once ---------------------------------------------------------------------------------------------------

_LIMIT = 900.0  # Seconds after which a run has hung.


def torture(top: Path, *, changes: int = 10_000, lines: int = 3_000, processes: int = 8) -> Tally:
    """Let 8 processes make `changes` changes together, beside foreign writers of `lines` lines each and readers."""
    tally = Tally(f"{processes} processes, {len(WRITERS)} kinds of foreign writer, readers")
    place = Place(top / "torture")
    sample(place)
    memory = place.shop / ".aiter/memory"
    for number in range(len(WRITERS)):
        (memory / f"foreign-{number}.md").write_bytes(b"")
    stop, each = top / "stop", changes // processes
    ours = [_process(partial(_change, place, number, each)) for number in range(processes)]
    theirs = [_process(partial(_lines, memory, number, lines)) for number in range(len(WRITERS))]
    crossing = [_process(partial(_until, stop, partial(_disturb, place, number))) for number in range(len(WRITERS))]
    readers = [_process(partial(_until, stop, partial(_look, memory))) for _ in range(2)]
    codes = [reap(pid, seconds=_LIMIT) for pid in (*ours, *theirs)]
    stop.touch()
    codes += [reap(pid, seconds=_LIMIT) for pid in (*crossing, *readers)]
    tally.expect(not any(codes), f"exits {codes}")
    tasks = (memory / "tasks.md").read_bytes()
    count = sum(
        tasks.count(b"Task %d-%d end\n" % (number, turn)) for number in range(processes) for turn in range(each)
    )
    tally.points += each * processes
    tally.expect(count == each * processes, f"{count} of {each * processes} acknowledged changes are there")
    place.recover()
    kept = b"".join(place.kept())
    for number, writer in enumerate(WRITERS):
        there = {*(memory / f"foreign-{number}.md").read_bytes().split(b"\n"), *kept.split(b"\n")}
        gone = [turn for turn in range(lines) if b"- theirs %d" % turn not in there]
        tally.points += lines
        tally.expect(not gone, f"{len(gone)} of {lines} foreign lines of {writer.__name__} lost")
    return tally


def _process(run: Callable[[], None]) -> int:
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        run()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _change(place: Place, number: int, each: int) -> None:
    workspace = place.workspace()
    workspace.store.lock.timeout = _LIMIT
    for turn in range(each):
        edit = partial(task_operations.add_task, title=f"Task {number}-{turn} end", now=NOW)
        workspace.change("add", edit, actor="cli", now=NOW)
        if turn % 20 == 19:  # Few tasks in the file: what is measured is how processes meet, not how long files are.
            time.sleep(0)


def _disturb(place: Place, number: int) -> None:
    """Change the file of a foreign writer in the midst of its writing."""
    store = place.store()
    try:
        _append(store, f"memory/foreign-{number}.md", b"- ours\n")
    except (ConflictError, BusyError):
        return
    finally:
        store.together.close()


def _lines(memory: Path, number: int, lines: int) -> None:
    for turn in range(lines):
        WRITERS[number](memory / f"foreign-{number}.md", b"- theirs %d\n" % turn)
        time.sleep(0.001)


def _look(memory: Path) -> None:
    """Read a file that processes of ours change all the time: it is always whole."""
    data = (memory / "tasks.md").read_bytes()
    if parse(data).dump() != data or not parse(data).find("completed"):
        raise AssertionError("a torn file")


def _until(stop: Path, act: Callable[[], None]) -> None:
    while not stop.exists():
        act()
        time.sleep(0.002)
