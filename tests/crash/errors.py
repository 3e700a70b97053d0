"""Errors of the disk at each call: reported, nothing is lost, and success is never told of what did not happen."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from memory.errors import MemdeckError
from tests.crash.calls import Calls, in_force
from tests.crash.kill import Tally, difference, points, prepared, some
from tests.crash.operations import Operation, Place, Tree

ERRNOS = (errno.EIO, errno.ENOSPC, errno.EROFS, errno.EACCES)


def errors(top: Path, every: int = 1) -> Tally:
    """Let each call of each operation fail once in each way, those that only look among them."""
    tally, wanted = Tally("each errno at each call"), some(every)
    for operation, folder, start, allowed in prepared(top):
        for number, name in enumerate(points(operation, start, folder, looking=True)):
            for code in ERRNOS:
                if wanted():
                    place = start.copy(folder / "failed")
                    where = f"{operation.name}, {errno.errorcode[code]} at {name} {number}"
                    _failed(tally, operation, place, allowed, number, code, where)
                    place.clear()
    return tally


def _failed(
    tally: Tally, operation: Operation, place: Place, allowed: list[Tree], number: int, code: int, where: str
) -> None:
    def fail(count: int, name: str, args: tuple[Any, ...], _: dict[str, Any]) -> None:
        if count == number:
            if name == "write" and code == errno.ENOSPC and len(args[1]) > 1:
                os.write(args[0], bytes(args[1])[: len(args[1]) // 2])
            raise OSError(code, os.strerror(code))

    descriptors = _open_files(place)
    told: BaseException | None = None
    with in_force(Calls(fail, looking=True)):
        try:
            operation.run(place)
        except Exception as error:
            told = error
            tally.expect(isinstance(error, MemdeckError), f"{where}: raised {error!r}")
    tally.points += 1
    tally.expect(_open_files(place) == descriptors, f"{where}: left a file open")
    try:
        place.recover()
    except Exception as error:
        tally.expect(False, f"{where}: recovery raised {error!r}")
        return
    tree = place.memory()
    tally.expect(not place.leftovers(), f"{where}: left behind {place.leftovers()}")
    tally.expect(tree in allowed, f"{where}: neither before nor after: {difference(tree, allowed)}")
    tally.expect(told is not None or tree == allowed[-1], f"{where}: success was told, and it is not there")


def short_writes(top: Path) -> Tally:
    """Let every write take only a part of what it is given, as a call that a signal interrupts: all of it is there."""
    tally = Tally("writes that take only a part")

    def cut(_: int, name: str, args: tuple[Any, ...], __: dict[str, Any]) -> tuple[Any, ...] | None:
        return (args[0], bytes(args[1])[: len(args[1]) // 3 + 1]) if name == "write" else None

    for operation, folder, start, allowed in prepared(top):
        place = start.copy(folder / "short")
        with in_force(Calls(cut)) as calls:
            try:
                operation.run(place)
            except MemdeckError as error:
                tally.expect(False, f"{operation.name}: {error}")
        tally.points += calls.names.count("write")
        tree = place.memory()
        tally.expect(tree == allowed[-1], f"{operation.name}: not whole: {difference(tree, allowed)}")
        place.recover()
        tally.expect(place.memory() == tree and not place.leftovers(), f"{operation.name}: recovery had work to do")
    return tally


def _open_files(place: Place) -> int:
    """Return how many files of a place are open, databases apart, which may stay open; 0 where nothing tells."""
    found = 0
    for name in os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else ():
        with suppress(FileNotFoundError):  # the folder of descriptors itself
            path = os.readlink(f"/proc/self/fd/{name}")
            found += path.startswith(f"{place.top}/") and ".sqlite" not in path
    return found
