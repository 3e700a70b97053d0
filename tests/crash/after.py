"""Memory that runs out at each call behind the commit: the change is made, and told as made."""

from __future__ import annotations

import inspect
import os
import sys
from pathlib import Path
from types import CodeType, FrameType, TracebackType
from typing import Any

from memory.storage.transaction import Transaction
from tests.crash.kill import Tally, difference
from tests.crash.operations import OPERATIONS, Operation, Place, states

HOUSE = str(Path(__file__).parents[2])
OURS = (f"{HOUSE}/memory/", f"{HOUSE}/app/")


class OutOfMemory:
    """Lets memory run out, once, at the call `number` behind the commit of the transaction `commits`, counted from 1.

    Afterwards `where` names that call, "" where there were not so many, and `commits` says how many there were. Calls
    of `__exit__` and of generators are left out: Python itself makes those, and nothing can guard them.
    """

    def __init__(self, number: int, commits: int = 1) -> None:
        """Nothing happens yet."""
        self.where = ""
        self.commits = 0
        self._number, self._wanted = number, commits
        self._transaction: Transaction | None = None
        self._outermost: FrameType | None = None
        self._over = False

    def __enter__(self) -> OutOfMemory:
        """Begin to look at each call."""
        sys.setprofile(self._look)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Look no more."""
        sys.setprofile(None)

    def _look(self, frame: FrameType, event: str, _: Any) -> None:
        if event == "return" and frame is self._outermost:
            self._over = True
        code = frame.f_code
        if event != "call" or self._over or self.where or not code.co_filename.startswith(OURS):
            return
        if code is Transaction.commit.__code__:
            self.commits += 1
            if self.commits == self._wanted:
                self._transaction = frame.f_locals["self"]
        if self._transaction is None or not self._transaction._made or _is_pythons(code):
            return
        if self._outermost is None:
            around: FrameType | None = frame
            while around is not None:
                if around.f_code.co_filename.startswith(OURS):
                    self._outermost = around
                around = around.f_back
        self._number -= 1
        if self._number < 0:
            self.where = f"{code.co_filename.removeprefix(HOUSE)}:{frame.f_lineno} {code.co_name}"
            raise MemoryError


def _is_pythons(code: CodeType) -> bool:
    return code.co_name == "__exit__" or bool(code.co_flags & inspect.CO_GENERATOR)


def after(top: Path, every: int = 1) -> Tally:
    """Let memory run out at each call behind the last commit of each operation."""
    tally = Tally("memory runs out behind the commit")
    for operation in OPERATIONS:
        folder = top / operation.name.replace(" ", "-")
        folder.mkdir()
        start, allowed = states(operation, folder)
        place = start.copy(folder / "count")
        with OutOfMemory(0, sys.maxsize) as trouble:
            operation.run(place)
        place.clear()
        number, where = 0, "begun"
        while where and trouble.commits:
            place = start.copy(folder / "failed")
            where, error = _run(operation, place, number, trouble.commits)
            if where:
                tally.points += 1
                what = f"{operation.name}, no memory at {where}"
                tally.expect(not error, f"{what}: raised {error}")
                tree = place.memory()
                tally.expect(tree == allowed[-1], f"{what}: not made: {difference(tree, allowed)}")
                place.recover()
                now = place.memory()
                tally.expect(now == tree, f"{what}: recovery changed it: {difference(now, [tree])}")
                tally.expect(not place.leftovers(), f"{what}: left behind {place.leftovers()}")
            place.clear()
            number += every
    return tally


def _run(operation: Operation, place: Place, number: int, commits: int) -> tuple[str, str]:
    """Run an operation in a process of its own; return where memory ran out, and the error that it ended with."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(reading)
        trouble, error = OutOfMemory(number, commits), ""
        try:
            with trouble:
                operation.run(place)
        except BaseException as raised:
            error = repr(raised)
        os.write(writing, f"{trouble.where}\n{error}".encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        where, _, error = pipe.read().partition("\n")
    os.waitpid(pid, 0)
    return where, error
