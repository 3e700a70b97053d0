"""kill -9 before every call that changes a file, and once more while the crash is recovered from."""

from __future__ import annotations

import os
import random
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from tests.crash.calls import Before, Calls, in_force
from tests.crash.operations import OPERATIONS, Operation, Place, Tree, states
from tests.patience import reap

END = 0
KILLED = -signal.SIGKILL


class Violated(Exception):
    """What an impatient tally raises at the first violation."""


@dataclass
class Tally:
    """What a part of the harness tried, and what it found; without patience the first violation ends it."""

    patient: ClassVar[bool] = True
    name: str
    points: int = 0
    violations: list[str] = field(default_factory=list)
    notes: dict[str, float] = field(default_factory=dict)

    def expect(self, holds: bool, what: str) -> None:
        """Note a violation unless something holds."""
        if not holds:
            self.violations.append(what)
            if not self.patient:
                raise Violated(what)

    def worst(self, name: str, value: float) -> None:
        """Note the largest of some values."""
        self.notes[name] = max(self.notes.get(name, 0.0), value)


def some(every: int, seed: int = 1) -> Callable[[], bool]:
    """Return what says of one point after the other whether it is tried: on average each `every`th, always the same."""
    dice = random.Random(seed)
    return lambda: every <= 1 or dice.random() * every < 1


def prepared(top: Path) -> Iterator[tuple[Operation, Path, Place, list[Tree]]]:
    """Yield each operation with a folder for trials, the place to be copied, and the states that may be seen."""
    for operation in OPERATIONS:
        folder = top / operation.name.replace(" ", "-")
        folder.mkdir()
        yield operation, folder, *states(operation, folder)


def points(operation: Operation, start: Place, folder: Path, *, looking: bool = False) -> list[str]:
    """Return the names of the calls that an operation makes, in order."""
    place = start.copy(folder / "count")
    with in_force(Calls(looking=looking)) as calls:
        operation.run(place)
    place.clear()
    return calls.names


def apart(run: Callable[[], object], before: Before) -> int:
    """Run something in a process of its own, with what is to happen before its calls; return how that one ended."""
    pid = os.fork()
    if pid:
        return reap(pid)
    code = 1
    try:
        with in_force(Calls(before)):
            run()
        code = END
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def killed_at(number: int, run: Callable[[], object], *, half: bool = False) -> int:
    """Run something in a process that is killed before call `number`; with `half` a write gets half of its bytes to the
    file first.
    """

    def kill(count: int, name: str, args: tuple[Any, ...], _: dict[str, Any]) -> None:
        if count == number:
            if half and name == "write":
                os.write(args[0], bytes(args[1])[: len(args[1]) // 2])
            os.kill(os.getpid(), signal.SIGKILL)

    return apart(run, kill)


def check(tally: Tally, place: Place, allowed: list[Tree], where: str) -> Tree:
    """Recover and look: a state that may be, nothing left behind, and the same when it is done again."""
    began = time.perf_counter()
    try:
        place.recover()
    except Exception as error:
        tally.expect(False, f"{where}: recovery raised {error!r}")
        return {}
    tally.worst("recovery ms", (time.perf_counter() - began) * 1000)
    tree, kept = place.memory(), place.kept()
    tally.expect(tree in allowed, f"{where}: neither before nor after: {difference(tree, allowed)}")
    # A recovery that was interrupted itself may take bytes of the change for late ones, and keep a copy for the user.
    ours = {data for one in allowed for data in one.values()}
    left = [name for name in place.leftovers() if not name.endswith(".kept")]
    tally.expect(not left and set(kept) <= ours, f"{where}: left behind {left} {kept}")
    place.recover()
    tally.expect(place.memory() == tree, f"{where}: a second recovery changed something")
    tally.expect(place.kept() == kept, f"{where}: a second recovery keeps other bytes")
    tally.expect(not place.wrong(), f"{where}: {place.wrong()}")
    return tree


def difference(tree: Tree, allowed: list[Tree]) -> str:
    """Say for each file which of the allowed states it has."""
    says = []
    for name in sorted({name for one in (tree, *allowed) for name in one}):
        which = [str(number) for number, one in enumerate(allowed) if one.get(name, 0) == tree.get(name, 0)]
        if len(which) < len(allowed):
            says.append(f"{name}={'/'.join(which) or '?'}")
    return " ".join(says)


def kills(top: Path, every: int = 1) -> Tally:
    """Kill every operation before each of its calls (or each `every`th), and in the middle of each write."""
    tally, wanted = Tally("kill -9 before each changing call"), some(every)
    for operation, folder, start, allowed in prepared(top):
        for number, name in enumerate(points(operation, start, folder)):
            for half in (False, True) if name == "write" else (False,):
                if not wanted():
                    continue
                place = start.copy(folder / "killed")
                where = f"{operation.name}, before {name} {number}{' (half written)' if half else ''}"
                code = killed_at(number, partial(operation.run, place), half=half)
                tally.points += 1
                tally.expect(code == KILLED, f"{where}: ended with {code}")
                check(tally, place, allowed, where)
                place.clear()
        place = start.copy(folder / "whole")
        tally.expect(killed_at(-1, partial(operation.run, place)) == END, f"{operation.name} fails")
        tree = check(tally, place, allowed, f"{operation.name}, not interrupted")
        tally.expect(tree == allowed[-1] and not place.kept(), f"{operation.name}: done, and not there")
    return tally


def again(top: Path, every: int = 1) -> Tally:
    """Kill an operation, then its recovery at one call after the other, each of which goes on where it finds things."""
    tally, wanted = Tally("kill -9 again during recovery"), some(every)
    for operation, folder, start, allowed in prepared(top):
        for number, name in enumerate(points(operation, start, folder)):
            if not wanted():
                continue
            place = start.copy(folder / "crashed")
            killed_at(number, partial(operation.run, place))
            inner = 0
            while killed_at(inner, place.recover) == KILLED:
                inner += 1
                tally.points += 1
            check(tally, place, allowed, f"{operation.name}, before {name} {number}, recovery killed {inner} times")
            place.clear()
    return tally
