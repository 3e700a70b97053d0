"""Many processes at once: ours on one file, and on the files of other programs that write in their own ways."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from memory.errors import BusyError, ConflictError
from memory.files import task_edits
from tests.crash.kill import Tally
from tests.crash.operations import NOW, Place, sample

OURS = "memory/ours.md"
END = b"<!-- end -->\n"


def torture(top: Path, *, seconds: float = 5.0, changes: int = 400, processes: int = 8) -> Tally:
    """Let 8 processes change one file `changes` times together, beside readers and foreign writers for `seconds`."""
    tally = Tally(f"torture: {processes} processes, 3 kinds of foreign writer, readers")
    place = Place(top / "torture")
    sample(place)
    memory = place.shop / ".aiter/memory"
    (memory / "ours.md").write_bytes(END)
    kinds: list[Callable[[Path, bytes], None]] = [_append, _replace, _create]
    for number in range(len(kinds)):
        (memory / f"foreign-{number}.md").write_bytes(b"")
    until = time.time() + seconds
    each = changes // processes
    ours = [_child(lambda n=n: _add(place, n, each), top / f"ours-{n}") for n in range(processes)]
    others = [
        _child(lambda n=n: _write(memory / f"foreign-{n}.md", kinds[n], until), top / f"foreign-{n}")
        for n in range(len(kinds))
    ]
    crossing = [_child(lambda n=n: _cross(place, n, until), top / f"cross-{n}") for n in range(len(kinds))]
    readers = [_child(lambda: _read(memory / "ours.md", until), top / f"reader-{n}") for n in range(2)]
    codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in (*ours, *others, *crossing, *readers)]
    tally.expect(not any(codes), f"exits {codes}")
    text = (memory / "ours.md").read_bytes().split(b"\n")
    acknowledged = [line for n in range(processes) for line in (top / f"ours-{n}").read_bytes().split(b"\n") if line]
    lost = [line for line in acknowledged if line not in set(text)]
    tally.points += len(acknowledged)
    tally.notes["acknowledged"] = len(acknowledged)
    tally.expect(not lost and len(acknowledged) == each * processes, f"{len(lost)} of {len(acknowledged)} lost")
    kept = b"".join(one.data or b"" for one in place.recover().kept())
    for n, kind in enumerate(kinds):
        wrote = [line for line in (top / f"foreign-{n}").read_bytes().split(b"\n") if line]
        stands = (memory / f"foreign-{n}.md").read_bytes()
        gone = [line for line in wrote if line + b"\n" not in stands and line + b"\n" not in kept]
        tally.points += len(wrote)
        tally.notes[f"foreign{kind.__name__}"] = len(wrote)
        tally.expect(not gone, f"{len(gone)} of {len(wrote)} foreign lines of {kind.__name__} lost")
        crossed = (top / f"cross-{n}").read_bytes().count(b"\n")
        tally.notes["changes among foreign writers"] = tally.notes.get("changes among foreign writers", 0) + crossed
    return tally


def twelve(top: Path, rounds: int = 3) -> Tally:
    """Let 12 processes add one task each at the same time, again and again: 12 of 12 are there."""
    tally = Tally("12 parallel additions")
    for turn in range(rounds):
        place = Place(top / f"twelve-{turn}")
        sample(place)

        def add(n: int, place: Place = place) -> None:
            edit = lambda snapshot: task_edits.add_task(snapshot, f"Parallel {n} end", now=NOW)  # noqa: E731
            place.workspace().change("add", edit, actor="cli", now=NOW)

        pids = [_child(lambda n=n, add=add: add(n), place.top / f"log-{n}") for n in range(12)]
        codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]
        text = (place.shop / ".aiter/memory/tasks.md").read_text()
        there = sum(f"Parallel {n} end" in text for n in range(12))
        tally.points += 12
        tally.expect(there == 12 and not any(codes), f"{there} of 12, exits {codes}")
        place.clear()
    return tally


_log = -1


def _child(run: Callable[[], None], log: Path) -> int:
    """Run something in a process of its own that notes what was acknowledged."""
    global _log
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        _log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        run()
        code = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(code)


def _add(place: Place, number: int, each: int) -> None:
    store = place.store()
    store.settle = 2.0
    store.lock.timeout = 60
    for turn in range(each):
        line = b"- %d-%d" % (number, turn)
        with store.transaction("add", actor="cli", now=NOW) as transaction:
            base = transaction.read(OURS).data
            transaction.write(OURS, base[: -len(END)] + line + b"\n" + END, base=base)
            transaction.commit()
        os.write(_log, line + b"\n")


def _cross(place: Place, number: int, until: float) -> None:
    """Change the file of a foreign writer in the midst of its writing: nothing of theirs may go."""
    store = place.store()
    store.settle = 2.0
    store.lock.timeout = 60
    path = f"memory/foreign-{number}.md"
    turn = 0
    while time.time() < until:
        turn += 1
        with suppress(ConflictError, BusyError), store.transaction("cross", actor="cli", now=NOW) as transaction:
            base = transaction.read(path)
            if base.exists:
                transaction.write(path, base.data + b"- ours %d\n" % turn, base=base.data)
                transaction.commit()
                os.write(_log, b"%d\n" % turn)
        time.sleep(0.001)


def _write(path: Path, kind: Callable[[Path, bytes], None], until: float) -> None:
    turn = 0
    while time.time() < until:
        turn += 1
        line = b"- theirs %d\n" % turn
        kind(path, line)
        os.write(_log, line)
        time.sleep(0.002)


def _append(path: Path, line: bytes) -> None:
    with path.open("ab") as file:
        file.write(line)


def _replace(path: Path, line: bytes) -> None:
    other = path.with_suffix(".tmp")
    other.write_bytes(path.read_bytes() + line)
    other.replace(path)


def _create(path: Path, line: bytes) -> None:
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(data + line)


def _read(path: Path, until: float) -> None:
    """Look at our file all the time: it is always whole."""
    while time.time() < until:
        data = path.read_bytes()
        if not data.endswith(END) or data.count(END) != 1:
            raise AssertionError("a torn file")
