"""Proposals of agents and what interrupts them: none is lost that an agent was told of, and none is made twice."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from memory.errors import BlockedError, ConflictError, MemdeckError
from memory.files.tasks import edits
from memory.review import Inbox
from tests.crash import errors, kill, power
from tests.crash.calls import Calls, in_force
from tests.crash.kill import KILLED, Tally, killed_at, some
from tests.crash.log_faults import CODES, Statements, through
from tests.crash.operations import NOW, Operation, Place, sample
from tests.examples import WHOLE
from tests.patience import reap

AGENT = "agent:a"
TASK = "First of all"
STRIDE = 1 if WHOLE else 6


# -- what is interrupted ----------------------------------------------------------------------------------------------


def _propose(place: Place) -> None:
    """Let an agent remove a person's task, and note the id that it is told once it is told."""
    workspace = place.workspace()
    try:
        workspace.change("remove", lambda look: edits.remove_task(look, TASK, now=NOW), actor=AGENT, now=NOW)
    except BlockedError as error:
        if error.code != "review.waiting":
            raise
        _told(place).write_text(str(error.details["proposal"]))
    finally:
        # Processes that are forked later must not share an open database.
        workspace.close()


def _told(place: Place) -> Path:
    return place.top / "told"


def _waiting(place: Place) -> None:
    sample(place)
    _propose(place)


def _accept(place: Place) -> None:
    workspace = place.workspace()
    try:
        Inbox(workspace).accept(_told(place).read_text(), reviewer="human", now=NOW)
    finally:
        workspace.close()


PROPOSE = Operation("propose to remove a task", sample, _propose)
ACCEPT = Operation("accept a proposal", _waiting, _accept)


# -- what must hold ---------------------------------------------------------------------------------------------------


def _look(place: Place, where: str, *, told: bool = False) -> None:
    """Look as the next process does: all of it or nothing, what was told is so, and the person comes to an end of it.

    `told` says that accepting was told to be done.
    """
    place.recover()
    workspace = place.workspace()
    inbox = Inbox(workspace)
    path = workspace.memory / "tasks.md"
    found = inbox.list(states=())
    if _told(place).exists():
        assert [one.id for one in found] == [_told(place).read_text()], f"{where}: what the agent was told of is lost"
    assert len(found) <= 1, where
    workspace.notice(NOW)
    made = [one for one in workspace.store.history.list(actor=AGENT) if one.proposal]
    gone = TASK not in path.read_text()
    states = [one.state for one in found]
    assert (gone, len(made), "accepted" in states) in ((False, 0, False), (True, 1, True)), f"{where}: {states} {made}"
    assert gone or not told, f"{where}: told to be made, and it is not"
    for one in found:
        if one.waiting:
            inbox.accept(one.id, reviewer="human", now=NOW)
        with pytest.raises(ConflictError) as caught:
            inbox.accept(one.id, reviewer="human", now=NOW)
        assert caught.value.code == "review.decided", where
        assert TASK not in path.read_text(), where
        assert len([change for change in workspace.store.history.list(actor=AGENT) if change.proposal]) == 1, where
        assert inbox.get(one.id).state == "accepted", where
    assert place.leftovers() == [], where
    workspace.close()


OPERATIONS = pytest.mark.parametrize("operation", [PROPOSE, ACCEPT], ids=["propose", "accept"])


@OPERATIONS
def test_killed_before_a_call(top: Path, operation: Operation) -> None:
    """kill -9 before the calls that change a file: the proposal and the files tell the same, and go on from there."""
    start = Place(top / "start")
    operation.prepare(start)
    names = kill.points(operation, start, top)
    wanted = some(STRIDE)
    for number, name in enumerate(names):
        if wanted() or number in (0, len(names) - 1):
            place = start.copy(top / "killed")
            assert killed_at(number, lambda place=place: operation.run(place)) == KILLED
            _look(place, f"before {name} {number}")
            place.clear()


class _Killing(Statements):
    """Kills the process before a statement."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self._at = number

    def come(self, statement: str, *, recorded: bool = True) -> None:
        """Count it."""
        if self.count == self._at:
            os.kill(os.getpid(), signal.SIGKILL)
        super().come(statement, recorded=recorded)


@OPERATIONS
def test_killed_before_a_statement(top: Path, operation: Operation) -> None:
    """kill -9 before the statements of the record of proposals and of the change log."""
    start = Place(top / "start")
    operation.prepare(start)
    wanted = some(STRIDE)
    for number in range(_statements(operation, start, top)):
        if not wanted():
            continue
        place = start.copy(top / "killed")
        pid = os.fork()
        if not pid:
            try:
                with through(_Killing(number)):
                    operation.run(place)
            finally:
                os._exit(0)
        assert reap(pid) == KILLED
        _look(place, f"before statement {number}")
        place.clear()


def _statements(operation: Operation, start: Place, top: Path) -> int:
    place = start.copy(top / "count")
    with through(counted := Statements()):
        operation.run(place)
    place.clear()
    assert counted.count > 5
    return counted.count


@OPERATIONS
def test_a_record_that_fails_at_a_statement(top: Path, operation: Operation) -> None:
    """Each statement fails, once or for good: what is told is so, and what is not told was not made by halves."""
    start = Place(top / "start")
    operation.prepare(start)
    wanted, looked = some(8 * STRIDE), 0
    for number in range(_statements(operation, start, top)):
        for code in CODES:
            for lasting in (False, True):
                if not wanted():
                    continue
                place, told = start.copy(top / "failed"), True
                with through(Statements(number, code, lasting=lasting)):
                    try:
                        operation.run(place)
                    except MemdeckError:
                        told = False
                # A database that is told to be damaged is set aside with what it holds, and a new one begun.
                if not list(place.state_folder.glob("*.damaged.sqlite")):
                    _look(place, f"{code} {'from' if lasting else 'at'} {number}", told=told and operation is ACCEPT)
                    looked += 1
                else:
                    assert code in ("CORRUPT", "NOTADB")
                place.clear()
    assert looked > 10


@OPERATIONS
def test_an_error_at_a_call(top: Path, operation: Operation) -> None:
    """Each call that changes a file fails: the same."""
    start = Place(top / "start")
    operation.prepare(start)
    wanted = some(3 * STRIDE)
    for number, name in enumerate(kill.points(operation, start, top)):
        for code in errors.ERRNOS:
            if not wanted():
                continue

            def fail(count: int, *_: object, number: int = number, code: int = code) -> None:
                if count == number:
                    raise OSError(code, os.strerror(code))

            place, told = start.copy(top / "failed"), True
            with in_force(Calls(fail)):
                try:
                    operation.run(place)
                except MemdeckError:
                    told = False
            _look(place, f"{os.strerror(code)} at {name} {number}", told=told and operation is ACCEPT)
            place.clear()


PARTS: dict[str, Callable[[Path], Tally]] = {
    "kill in recovery": lambda folder: kill.compound(folder, every=10 * STRIDE, inner=3),
    "power, ordered": lambda folder: power.power(folder, weak=False, every=5 * STRIDE),
    "power, weak": lambda folder: power.power(folder, weak=True, every=20 * STRIDE, samples=2),
}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.thorough(but=("power, ordered",))
def test_the_files_are_those_of_before_or_after(top: Path, part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Accepting a proposal is whole or nothing in the parts that look at the files alone."""
    for module in (kill, errors, power):
        monkeypatch.setattr(module, "OPERATIONS", [ACCEPT])
    tally = PARTS[part](top)
    assert tally.points > 10
    assert tally.violations == []
