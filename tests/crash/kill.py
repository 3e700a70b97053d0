"""kill -9 before every call that changes a file, and once more while the crash is recovered from."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from tests.crash.calls import Calls, in_force
from tests.crash.operations import OPERATIONS, Operation, Place, Tree, states
from tests.patience import reap

END = 0
KILLED = -signal.SIGKILL


class Violated(Exception):
    """What one of the impatient raises at the first violation."""


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
    """Return what says of one point after the other whether it is tried: on average each `every`th, always the same.

    (A stride would go past whole kinds of points where they come in rows as long as itself.)
    """
    dice = random.Random(seed)
    return lambda: every <= 1 or dice.random() * every < 1


def killed_at(number: int, run: Callable[[], object], *, half: bool = False) -> int:
    """Run something in a process of its own and kill it before call `number`; return how that one ended.

    With `half`, a call that writes gets half of its bytes to the file first.
    """
    pid = os.fork()
    if pid:
        return reap(pid)

    def kill(count: int, name: str, args: tuple[Any, ...], _: dict[str, Any]) -> None:
        if count == number:
            if half and name == "write":
                os.write(args[0], bytes(args[1])[: len(args[1]) // 2])
            os.kill(os.getpid(), signal.SIGKILL)

    code = 1
    try:
        with in_force(Calls(kill)):
            run()
        code = END
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(code)


def points(operation: Operation, start: Place, top: Path) -> list[str]:
    """Return the names of the calls that an operation makes, in order."""
    place = start.copy(top / "count")
    with in_force(Calls()) as calls:
        operation.run(place)
    place.clear()
    return calls.names


def check(tally: Tally, place: Place, allowed: list[Tree], where: str, *, interrupted: bool = False) -> Tree:
    """Recover and look: a state that may be, nothing left behind, and the same when it is done again.

    A recovery that was `interrupted` itself may take bytes of the change for late ones, and keep a copy for a person.
    """
    began = time.perf_counter()
    try:
        place.recover()
    except Exception as error:
        tally.expect(False, f"{where}: recovery raised {error!r}")
        return {}
    tally.worst("recovery ms", (time.perf_counter() - began) * 1000)
    tree = place.memory()
    tally.expect(tree in allowed, f"{where}: neither before nor after: {difference(tree, allowed)}")
    left = place.leftovers()
    if interrupted:
        ours = [data for one in allowed for data in one.values()]
        known = [path.name for path in place.kept() if path.read_bytes() in ours]
        left = [name for name in left if name.removeprefix("stage/") not in known]
    tally.expect(not left, f"{where}: left behind {left}")
    kept = sorted(path.read_bytes() for path in place.kept())
    place.recover()
    tally.expect(place.memory() == tree, f"{where}: a second recovery changed something")
    tally.expect(len(set(kept)) == len(kept), f"{where}: the same bytes are kept twice")
    again = sorted(path.read_bytes() for path in place.kept())
    tally.expect(again == kept, f"{where}: a second recovery keeps other bytes")
    wrong = place.go_on()
    tally.expect(not wrong, f"{where}: {wrong}")
    return tree


def difference(tree: Tree, allowed: list[Tree]) -> str:
    """Say for each file which of the allowed states it has."""
    names = sorted({name for one in (tree, *allowed) for name in one})
    says = []
    for name in names:
        which = [str(number) for number, one in enumerate(allowed) if one.get(name, 0) == tree.get(name, 0)]
        if len(which) < len(allowed):
            says.append(f"{name}={'/'.join(which) or '?'}")
    return " ".join(says)


def kills(top: Path, every: int = 1, name: str = "kill -9 before each changing call") -> Tally:
    """Kill every operation before each of its calls (or each `every`th)."""
    tally = Tally(name)
    wanted = some(every)
    for operation in OPERATIONS:
        folder = top / operation.name.replace(" ", "-")
        folder.mkdir()
        start, allowed = states(operation, folder)
        names = points(operation, start, folder)
        for number, half in _chosen(names, wanted):
            place = start.copy(folder / "killed")
            where = f"{operation.name}, before {names[number]} {number}{' (half written)' if half else ''}"
            code = killed_at(number, partial(operation.run, place), half=half)
            tally.points += 1
            tally.expect(code == KILLED, f"{where}: ended with {code}")
            check(tally, place, allowed, where)
            place.clear()
        place = start.copy(folder / "whole")
        tally.expect(killed_at(-1, partial(operation.run, place)) == END, f"{operation.name} fails")
        tree = check(tally, place, allowed, f"{operation.name}, not interrupted")
        tally.expect(tree == allowed[-1], f"{operation.name}: done, and not there")
    return tally


def _chosen(names: list[str], wanted: Callable[[], bool]) -> Iterator[tuple[int, bool]]:
    for number, name in enumerate(names):
        if wanted():
            yield number, False
        if name == "write":
            # Few, and each tears another record: a sample leaves none of them out.
            yield number, True


def compound(top: Path, every: int = 1, inner: int = 1) -> Tally:
    """Kill an operation, then kill its recovery before each of the calls that this makes."""
    tally = Tally("kill -9 again during recovery")
    wanted = some(every)
    for operation in OPERATIONS:
        folder = top / operation.name.replace(" ", "-")
        folder.mkdir()
        start, allowed = states(operation, folder)
        names = points(operation, start, folder)
        for number in [number for number in range(len(names)) if wanted()]:
            crashed = start.copy(folder / "crashed")
            killed_at(number, partial(operation.run, crashed))
            _again(tally, crashed, allowed, f"{operation.name}, before {names[number]} {number}", inner)
            crashed.clear()
    return tally


def _again(tally: Tally, crashed: Place, allowed: list[Tree], where: str, inner: int) -> None:
    """Interrupt a recovery at one point after the other, on the same place: each must go on where it finds things."""
    number = 0
    while True:
        code = killed_at(number, crashed.recover)
        tally.points += 1
        if code != KILLED:
            tally.expect(code == END, f"{where}: recovery ended with {code}")
            break
        number += inner
        if number > 400:
            tally.expect(False, f"{where}: recovery never ends")
            break
    check(tally, crashed, allowed, f"{where}, recovery interrupted {number // inner} times")
