"""Two memdeck processes, one of which makes a whole change before each call of the other: both changes stand, once.

Nothing is left to chance: the second process waits for the word of the first, which waits for its answer. A second
one that finds the workspace locked says so, and makes its change when the first has come to its end.
"""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable, Sequence
from pathlib import Path

from memory.errors import BusyError, MemdeckError
from memory.files.tasks import edits as task_edits
from memory.workspace import Workspace
from tests.crash.calls import Calls, in_force
from tests.crash.kill import Tally, difference, some
from tests.crash.operations import NOW, OPERATIONS, Operation, Place, Tree
from tests.patience import reap

CROSSED = ("add", "edit", "start with a journal entry", "done", "revert an agent's change")
_PATIENCE = 30.0  # seconds for what takes milliseconds on a machine without other load
_DONE, _BUSY, _FAILED = b"d", b"b", b"f"


def crossing(top: Path, every: int = 1, operations: Sequence[str] = CROSSED) -> Tally:
    """Let a second process make its change before each call of an operation, those that only look among them."""
    tally = Tally("a second memdeck process at each call")
    wanted = some(every)
    for operation in OPERATIONS:
        if operation.name not in operations:
            continue
        folder = top / operation.name.replace(" ", "-")
        folder.mkdir()
        start = Place(folder / "start")
        operation.prepare(start)
        allowed = [_in_turn(start, folder, operation, first=first) for first in (True, False)]
        place = start.copy(folder / "count")
        with in_force(Calls(looking=True)) as calls:
            operation.run(place)
        place.clear()
        for number, name in enumerate(calls.names):
            if wanted():
                place = start.copy(folder / "crossed")
                _cross(tally, operation, place, number, allowed, f"{operation.name}, before {name} {number}")
                place.clear()
    return tally


def _second(place: Place) -> bytes:
    """Make the change of the second process without waiting for the lock."""
    workspace = Workspace(place.shop, state_home=place.state, machine_zone=NOW.tzinfo)
    workspace.store.settle, workspace.store.patience = 0, 0.5
    workspace.store._timeout = 0
    try:
        workspace.change("add", lambda s: task_edits.add_task(s, "Crossed", now=NOW), actor="agent:b", now=NOW)
    except BusyError as error:
        return _BUSY if error.code == "file.locked" else _FAILED
    except MemdeckError:
        return _FAILED
    return _DONE


def _in_turn(start: Place, folder: Path, operation: Operation, *, first: bool) -> Tree:
    """Return the files after one change and then the other."""
    place = start.copy(folder / "turn")
    if first:
        operation.run(place)
    assert _second(place) == _DONE
    if not first:
        operation.run(place)
    tree = place.memory()
    place.clear()
    return tree


class _Waiting:
    """A process that does something whenever it is told to."""

    def __init__(self, act: Callable[[], bytes]) -> None:
        asked, self._ask = os.pipe()
        self._told, tell = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            os.close(self._ask)
            os.close(self._told)
            while os.read(asked, 1):
                os.write(tell, act())
            os._exit(0)
        os.close(asked)
        os.close(tell)

    def act(self) -> bytes:
        """Have it done and return the answer, "" where none comes."""
        os.write(self._ask, b"g")
        ready, _, _ = select.select([self._told], [], [], _PATIENCE)
        return os.read(self._told, 1) if ready else b""

    def end(self) -> None:
        """End the process."""
        os.close(self._ask)
        os.close(self._told)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def _cross(tally: Tally, operation: Operation, place: Place, number: int, allowed: list[Tree], where: str) -> None:
    tally.points += 1
    second = _Waiting(lambda: _second(place))
    answer = place.top / "answer"
    pid = os.fork()
    if not pid:
        code = 1
        try:

            def come(count: int, *_: object) -> None:
                if count == number:
                    answer.write_bytes(second.act())

            with in_force(Calls(come, looking=True)):
                operation.run(place)
            code = 0
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            os._exit(code)
    code = reap(pid)
    said = answer.read_bytes() if answer.exists() else b""
    if said == _BUSY:
        said = second.act()
        tally.notes["found it locked"] = tally.notes.get("found it locked", 0) + 1
    second.end()
    tally.expect((code, said) == (0, _DONE), f"{where}: the first ended with {code}, the second said {said!r}")
    tree = place.memory()
    tally.expect(tree in allowed, f"{where}: not as one after the other: {difference(tree, allowed)}")
    place.recover()
    tally.expect(place.memory() == tree, f"{where}: recovery changed something")
    tally.expect(not place.leftovers(), f"{where}: left behind {place.leftovers()}")
