"""Each errno at each call: it is reported, nothing is lost, and success is never told of what did not happen."""

from __future__ import annotations

import errno
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from memory.errors import MemdeckError
from memory.state.analysis.focus import UNREAD
from memory.state.files.model import EVENTS
from tests.crash.calls import Calls, in_force
from tests.crash.kill import Tally, difference, some
from tests.crash.operations import OPERATIONS, Operation, Place, Tree, fails, states

ERRNOS = [
    errno.EIO,
    errno.ENOSPC,
    errno.EROFS,
    errno.EMFILE,
    errno.EACCES,
    errno.EINTR,
    errno.EXDEV,
    errno.EDQUOT,
]


READS_OTHERS = ("make the project state", "import sessions")
"""What reads files of other programs: one that cannot be read is noted in the state, and the change is made."""


def errors(top: Path, every: int = 1, *, lasting: bool = False, name: str = "each errno at each call") -> Tally:
    """Let each call of each operation fail in each way, or (`lasting`) it and all changing calls after it."""
    tally = Tally(name)
    silent = 0
    wanted = some(every)
    for operation in OPERATIONS:
        folder = top / operation.name.replace(" ", "-")
        folder.mkdir()
        start, allowed = states(operation, folder)
        place = start.copy(folder / "count")
        with in_force(Calls(looking=not lasting)) as calls:
            operation.run(place)
        place.clear()
        for number in range(calls.count):
            for code in ERRNOS:
                if not wanted():
                    continue
                place = start.copy(folder / "failed")
                where = f"{operation.name}, {errno.errorcode[code]} at {calls.names[number]} {number}"
                silent += _failed(tally, operation, place, allowed, number, code, where, lasting)
                place.clear()
    tally.notes["silent successes"] = silent
    return tally


def _failed(
    tally: Tally,
    operation: Operation,
    place: Place,
    allowed: list[Tree],
    number: int,
    code: int,
    where: str,
    lasting: bool,
) -> int:
    """Run an operation with one failing call; return 1 where success was told of what did not happen."""

    def fail(count: int, name: str, args: tuple[Any, ...], _: dict[str, Any]) -> None:
        if count == number or (lasting and count > number):
            if name == "write" and code in (errno.ENOSPC, errno.EDQUOT) and len(args[1]) > 1:
                os.write(args[0], bytes(args[1])[: len(args[1]) // 2])
            raise OSError(code, os.strerror(code))

    descriptors = _open_files(place)
    told: BaseException | None = None
    with in_force(Calls(fail, looking=not lasting)):
        try:
            operation.run(place)
        except (MemdeckError, OSError) as error:
            told = error
        except Exception as error:
            told = error
            tally.expect(False, f"{where}: raised {error!r}")
    tally.points += 1
    tally.expect(not isinstance(told, OSError), f"{where}: a bare {told!r}")
    tally.expect(_open_files(place) == descriptors, f"{where}: left a file open")
    try:
        place.recover()
    except Exception as error:
        tally.expect(False, f"{where}: recovery raised {error!r}")
        return 0
    tree = place.memory()
    tally.expect(not place.leftovers(), f"{where}: left behind {place.leftovers()}")
    if operation.name in READS_OTHERS and told is None and _notes_unread(place):
        tally.notes["noted"] = tally.notes.get("noted", 0) + 1
        wrong = place.go_on()
        tally.expect(not wrong, f"{where}: {wrong}")
        if operation.name == "import sessions":
            operation.run(place)
            missing = _evidence(allowed[-1]) - _evidence(place.memory())
            tally.expect(not missing, f"{where}: the next import leaves out {missing}")
        return 0
    tally.expect(tree in allowed, f"{where}: neither before nor after: {difference(tree, allowed)}")
    silent = told is None and tree != allowed[-1]
    tally.expect(not silent, f"{where}: success was told, and it is not there: {difference(tree, allowed)}")
    return int(silent)


def _notes_unread(place: Place) -> bool:
    """Tell whether the project state says of a file that it could not be read."""
    memory = place.project().memory()
    failed = any(source["lastSyncStatus"] == "failed" and source["lastSyncError"] for source in memory.sources)
    return failed or any(risk.startswith(UNREAD) for risk in memory.state["bundle"]["currentFocus"]["knownRisks"])


def _evidence(tree: Tree) -> set[str]:
    """Return the hashes of what was imported."""
    return {json.loads(line)["contentHash"] for line in (tree[EVENTS] or b"").splitlines()}


def short_writes(top: Path) -> Tally:
    """Let every write take only a part of what it is given, as a call that a signal interrupts: all of it is there."""
    tally = Tally("writes that take only a part")
    for operation in OPERATIONS:
        folder = top / operation.name.replace(" ", "-")
        folder.mkdir()
        start, allowed = states(operation, folder)
        place = start.copy(folder / "short")

        def cut(_: int, name: str, args: tuple[Any, ...], __: dict[str, Any]) -> tuple[Any, ...] | None:
            return (args[0], bytes(args[1])[: len(args[1]) // 3 + 1]) if name == "write" else None

        with in_force(Calls(cut)) as calls:
            error = fails(lambda operation=operation, place=place: operation.run(place))
        tally.points += calls.names.count("write")
        tree = place.memory()
        tally.expect(error is None, f"{operation.name}: {error}")
        tally.expect(tree == allowed[-1], f"{operation.name}: not whole: {difference(tree, allowed)}")
        place.recover()
        tally.expect(place.memory() == tree and not place.leftovers(), f"{operation.name}: recovery had work to do")
    return tally


def _open_files(place: Place) -> int:
    """Return how many files of a place are open, the change log apart, which stays open; 0 where nothing tells."""
    found = 0
    for name in os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else ():
        with suppress(FileNotFoundError):  # the folder of descriptors itself
            path = os.readlink(f"/proc/self/fd/{name}")
            found += path.startswith(f"{place.top}/") and "/changes.sqlite" not in path
    return found
