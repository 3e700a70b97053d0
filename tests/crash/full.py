"""A state disk that is full: changes are made all the same, or refused whole, and survive kill -9 as ever."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from memory.errors import MemdeckError
from tests.crash.calls import Calls, in_force
from tests.crash.kill import END, KILLED, Tally, check, difference, some
from tests.crash.operations import OPERATIONS, Operation, Place, Tree, states

REFUSED = 3


def full(top: Path, every: int = 1) -> Tally:
    """Make every operation on a full state disk, with and without room set aside, and kill it before each call."""
    tally = Tally("a full state disk, and kill -9 on it")
    wanted = some(every)
    refused = 0
    for operation in OPERATIONS:
        folder = top / operation.name.replace(" ", "-")
        folder.mkdir()
        start, allowed = states(operation, folder)
        for reserve in (True, False):
            where = f"{operation.name}, {'' if reserve else 'no '}room set aside"
            code, calls = _run(operation, _copy(start, folder, reserve), -1, tally, allowed, where)
            tally.expect(code in (END, REFUSED), f"{where}: ended with {code}")
            refused += code == REFUSED
            # The first change of a memory system sets its room aside: with several files, nothing was set aside before.
            first = operation.name in ("init", "store the first fact", "make the project state")
            tally.expect(code == END or not reserve or first, f"{where}: refused")
            for number in [number for number in range(calls) if wanted()]:
                place = _copy(start, folder, reserve)
                code, _ = _run(operation, place, number, tally, allowed, f"{where}, before call {number}")
                tally.expect(code == KILLED, f"{where}, before call {number}: ended with {code}")
    tally.notes["refused"] = refused
    return tally


def _copy(start: Place, folder: Path, reserve: bool) -> Place:
    place = start.copy(folder / "full")
    if not reserve:
        for path in place.state.rglob("reserve-*"):
            path.unlink()
    return place


def _run(
    operation: Operation, place: Place, number: int, tally: Tally, allowed: list[Tree], where: str
) -> tuple[int, int]:
    """Run an operation in a process of its own, and look at what is there; return its exit code and its calls."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        code, calls = 1, Calls(_full(place, number))
        try:
            with in_force(calls):
                operation.run(place)
            code = END
        except MemdeckError as error:
            code = REFUSED if error.code == "state.full" else 1
        finally:
            os.write(writing, str(calls.count).encode())
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        count = int(pipe.read() or 0)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    tally.points += 1
    tree = check(tally, place, allowed, where)
    if code in (END, REFUSED):
        expected = allowed[-1] if code == END else allowed[0]
        tally.expect(tree == expected, f"{where}: exit {code}, but {difference(tree, [expected])}")
    place.clear()
    return code, count


def _full(place: Place, number: int) -> Callable[..., None]:
    """Return what refuses each new file, folder and byte in the state folder, and kills before one call."""

    def before(count: int, name: str, args: tuple[Any, ...], words: dict[str, Any]) -> None:
        if count == number:
            os.kill(os.getpid(), signal.SIGKILL)
        if name == "write" and _is_within(place, args[0]):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        folder = words.get("dir_fd")
        new = name == "mkdir" or (name == "open" and args[1] & os.O_CREAT)
        if new and folder is not None and _is_within(place, folder) and not _exists(args[0], folder):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    return before


def _is_within(place: Place, fd: int) -> bool:
    return f"{os.readlink(f'/proc/self/fd/{fd}')}/".startswith(f"{place.state}/")


def _exists(name: str, folder: int) -> bool:
    try:
        os.lstat(name, dir_fd=folder)
    except FileNotFoundError:
        return False
    return True
