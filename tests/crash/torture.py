"""Many processes at once: ours on one workspace, and other programs that write to it in their own ways.

Nothing here depends on how fast the machine is: processes work until they did what they were to do, and the limits
are there only to end a run that hangs.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from memory.document import parse
from memory.errors import BusyError, ConflictError
from memory.files.journal import edits as journal_edits
from memory.files.tasks import edits as task_edits
from memory.workspace import Workspace
from tests.crash.kill import Tally
from tests.crash.operations import NOW, Place, sample
from tests.patience import reap

OURS = tuple(f"ours-{number}.md" for number in range(8))
END = b"<!-- end -->\n"
_ROOT = Path(__file__).parents[2]
_LIMIT = 900.0  # Seconds after which a run has hung.
_BUSY = 75  # What a command exits with that did nothing, for others were at work.


def torture(top: Path, *, seconds: float = 5.0, changes: int = 400, processes: int = 8) -> Tally:
    """Let 8 processes make `changes` changes together, beside readers and, for `seconds`, foreign writers."""
    tally = Tally(f"torture: {processes} processes, {len(KINDS)} kinds of foreign writer, readers")
    place = Place(top / "torture")
    sample(place)
    memory = place.shop / ".aiter/memory"
    for name in OURS:
        (memory / name).write_bytes(b"# Ours\n" + END)
    for number in range(len(KINDS)):
        (memory / f"foreign-{number}.md").write_bytes(b"")
    until, stop = time.time() + seconds, top / "stop"
    each = changes // processes
    ours = [_child(lambda n=n: _change(place, n, each), top / f"ours-{n}") for n in range(processes)]
    foreign = [
        _child(lambda n=n, kind=kind: _write(memory / f"foreign-{n}.md", kind, until), top / f"foreign-{n}")
        for n, kind in enumerate(KINDS)
    ]
    crossing = [_child(lambda n=n: _cross(place, n, until), top / f"cross-{n}") for n in range(len(KINDS))]
    readers = [_child(lambda: _read(memory, stop), top / f"reader-{n}") for n in range(2)]
    codes = [reap(pid, seconds=_LIMIT) for pid in (*ours, *foreign, *crossing)]
    stop.touch()
    codes += [reap(pid, seconds=_LIMIT) for pid in readers]
    tally.expect(not any(codes), f"exits {codes}")
    _check_ours(tally, memory, [top / f"ours-{n}" for n in range(processes)], each * processes)
    tally.notes["reads"] = sum((top / f"reader-{n}").read_bytes().count(b"\n") for n in range(2))
    kept = b"".join(one.data or b"" for one in place.recover().kept())
    for n, kind in enumerate(KINDS):
        wrote = [line for line in (top / f"foreign-{n}").read_bytes().split(b"\n") if line]
        stands = (memory / f"foreign-{n}.md").read_bytes()
        there = {*stands.split(b"\n"), *kept.split(b"\n")}
        gone = [line for line in wrote if line not in there]
        tally.points += len(wrote)
        tally.notes[f"foreign{kind.__name__}"] = len(wrote)
        tally.expect(not gone, f"{len(gone)} of {len(wrote)} foreign lines of {kind.__name__} lost")
        for what in ("made", "refused"):
            crossed = (top / f"cross-{n}").read_bytes().count(what.encode())
            tally.notes[f"{what} among them"] = tally.notes.get(f"{what} among them", 0) + crossed
    return tally


def _check_ours(tally: Tally, memory: Path, logs: list[Path], expected: int) -> None:
    """Each acknowledged change is in its file, and there once."""
    acknowledged = [line for log in logs for line in log.read_bytes().split(b"\n") if line]
    text = [line for name in (*OURS, "tasks.md", "journal.md") for line in (memory / name).read_bytes().split(b"\n")]
    count: dict[bytes, int] = {}
    for line in text:
        count[line.rpartition(b" ")[2]] = count.get(line.rpartition(b" ")[2], 0) + 1
    wrong = [line for line in acknowledged if count.get(line) != 1]
    tally.points += len(acknowledged)
    tally.notes["acknowledged"] = len(acknowledged)
    tally.expect(not wrong, f"{len(wrong)} of {len(acknowledged)} are not there once: {wrong[:5]}")
    tally.expect(len(acknowledged) == expected, f"{len(acknowledged)} of {expected} were acknowledged")


def twelve(top: Path, rounds: int = 3) -> Tally:
    """Start the command `memdeck tasks add` 12 times at once, again and again: 12 of 12 are there."""
    tally = Tally("12 parallel commands `memdeck tasks add`")
    for turn in range(rounds):
        place = Place(top / f"twelve-{turn}")
        sample(place)
        waiting = set(range(12))
        deadline = time.monotonic() + _LIMIT
        codes: dict[int, int] = {}
        while waiting and time.monotonic() < deadline:
            running = [(n, _command(place, "tasks", "add", f"Parallel {n} end")) for n in sorted(waiting)]
            for n, process in running:
                codes[n] = process.wait(_LIMIT)
            # On a machine with much other work one may find the lock taken for too long: it says so, and tries again.
            waiting = {n for n in waiting if codes[n] == _BUSY}
            tally.notes["busy"] = tally.notes.get("busy", 0) + len(waiting)
        tasks = (place.shop / ".aiter/memory/tasks.md").read_text()
        there = sum(tasks.count(f"Parallel {n} end\n") == 1 for n in range(12))
        tally.points += 12
        tally.expect(there == 12 and not any(codes.values()), f"{there} of 12, exits {codes}")
        listed = place.workspace().store.history.list(12)
        named = {one.title.removeprefix("[NORMAL] ") for record in listed for one in record.touched}
        tally.expect(named == {f"Parallel {n} end" for n in range(12)}, f"listed are {sorted(named)}")
        place.clear()
    return tally


def _command(place: Place, *words: str) -> subprocess.Popen[bytes]:
    """Start the real command on a place."""
    environment = {**os.environ, "XDG_STATE_HOME": str(place.state), "PYTHONPATH": str(_ROOT)}
    line = [sys.executable, "-m", "app.main", *words, "-w", str(place.shop)]
    return subprocess.Popen(line, env=environment, cwd=_ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


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


def _patient(place: Place) -> Workspace:
    """Open a workspace as memdeck does, but for the time that it waits for its lock on a machine with other work."""
    workspace = Workspace(place.shop, state_home=place.state, machine_zone=NOW.tzinfo)
    workspace.store._timeout = _LIMIT
    return workspace


def _change(place: Place, number: int, each: int) -> None:
    """Add tasks, journal entries and entries of files that all share; note each that was acknowledged."""
    workspace = _patient(place)
    for turn in range(each):
        name = f"{number}-{turn}-"
        if turn % 10 == 0:
            edit = lambda s, t=f"Task {name}": task_edits.add_task(s, t, now=NOW)  # noqa: E731
            workspace.change("add", edit, actor="cli", now=NOW)
        elif turn % 10 == 5:
            edit = lambda s, t=f"Entry {name}": journal_edits.add_entry(s, t, (), at=None, now=NOW)  # noqa: E731
            workspace.change("add", edit, actor="cli", now=NOW)
        else:
            path = f"memory/{OURS[turn % len(OURS)]}"
            with workspace.store.transaction("add", actor="cli", now=NOW) as transaction:
                base = transaction.read(path).data
                entry = f"### Line {name}\n".encode()
                transaction.write(path, base[: -len(END)] + entry + END, base=base)
                transaction.commit()
        os.write(_log, f"{name}\n".encode())


def _cross(place: Place, number: int, until: float) -> None:
    """Change the file of a foreign writer in the midst of its writing: nothing of theirs may go."""
    store = _patient(place).store
    store.patience = 0.5
    path = f"memory/foreign-{number}.md"
    turn = 0
    while time.time() < until:
        turn += 1
        try:
            with store.transaction("cross", actor="cli", now=NOW) as transaction:
                base = transaction.read(path)
                if base.exists:
                    transaction.write(path, base.data + b"- ours %d\n" % turn, base=base.data)
                    transaction.commit()
                    os.write(_log, b"made\n")
        except (ConflictError, BusyError):
            os.write(_log, b"refused\n")
        time.sleep(0.001)


def _write(path: Path, kind: Callable[[Path, bytes], None], until: float) -> None:
    turn, dice = 0, random.Random(1)
    while time.time() < until:
        turn += 1
        line = b"- theirs %d\n" % turn
        kind(path, line)
        os.write(_log, line)
        time.sleep(dice.random() * 0.012)  # At times long enough for a change, at times not.


def _read(memory: Path, stop: Path) -> None:
    """Look at our files and parse them all the time: they are always whole, and never go back."""
    most = 0
    while not stop.exists():
        data = (memory / random.choice(OURS)).read_bytes()
        if not data.endswith(END) or data.count(END) != 1 or parse(data).dump() != data:
            raise AssertionError("a torn file")
        data = (memory / "tasks.md").read_bytes()
        document = parse(data)
        entries = sum(len(section.entries) for section in document.sections)
        if document.dump() != data or entries < most or not document.find("completed"):
            raise AssertionError("a torn file")
        most = entries
        os.write(_log, b"read\n")
        time.sleep(0.002)


def _append(path: Path, line: bytes) -> None:
    with path.open("ab") as file:
        file.write(line)


def _rewrite(path: Path, line: bytes) -> None:
    with path.open("r+b") as file:
        data = file.read()
        file.seek(0)
        file.truncate()
        file.write(data + line)


def _replace(path: Path, line: bytes) -> None:
    other = path.with_suffix(".tmp")
    other.write_bytes(path.read_bytes() + line)
    other.replace(path)


def _create(path: Path, line: bytes) -> None:
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(data + line)


KINDS: tuple[Callable[[Path, bytes], None], ...] = (_append, _rewrite, _replace, _create)
