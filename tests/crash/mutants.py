"""Mutants of the protocol against the harness: it must notice what is wrong with them, or it proves nothing.

Each mutant lives in a process of its own, in which short runs of the parts of the harness follow until one of them
finds a violation. The part that is meant to notice goes first.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.crash import crossing, errors, foreign, kill, late, log_faults, power
from tests.crash.kill import Tally, Violated
from tests.crash.mutations import MUTANTS
from tests.crash.operations import OPERATIONS, states

ENOUGH = 95
"""How many of a hundred mutants must be noticed."""
_LIMIT = 300  # Seconds of processor time for one mutant; one that keeps the harness that long counts as not noticed.
_FEW = (
    "init",
    "add",
    "start with a journal entry",
    "move between files",
    "remove a file",
    "create in a new folder",
    "maintain",
    "revert an agent's change",
    "store a fact",
)
"""Operations that together go all ways through the protocol."""

PARTS: dict[str, Callable[[Path], Tally]] = {
    "late": late.late,
    "kill": lambda top: kill.kills(top, every=2),
    "short writes": errors.short_writes,
    "power": lambda top: power.power(top, weak=False, every=2),
    "crossing": lambda top: crossing.crossing(top, every=3),
    "looking": lambda top: foreign.foreign(top, every=3, looking=True, operations=("add",)),
    "foreign looking at facts": lambda top: foreign.foreign(top, looking=True, operations=("store a fact",)),
    "foreign": lambda top: foreign.foreign(top, every=2, near=True),
    "foreign and kill": lambda top: foreign.foreign(top, every=2, killed=1, near=True),
    "failed syncs": lambda top: power.failed_syncs(top, every=2),
    "power in recovery": lambda top: power.again(top, every=4, samples=1),
    "weak": lambda top: power.power(top, weak=True, every=4, samples=3),
    "errors": lambda top: errors.errors(top, every=11),
    "failing": lambda top: errors.errors(top, every=7, lasting=True),
    "recovery": lambda top: kill.compound(top, every=5, inner=3),
    "log": lambda top: log_faults.log_faults(top, every=40),
}


def noticed(mutant: str, parts: dict[str, Callable[[Path], Tally]] = PARTS) -> str:
    """Return which part of the harness noticed a mutant, "" for none."""
    first, mutate = MUTANTS[mutant]
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        os.setpgid(0, 0)
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - the process ends with it
        os.dup2(sys.stderr.fileno(), 2)
        answer = ""
        top = Path(tempfile.mkdtemp(prefix="memdeck-mutant-", dir=memory_disk()))
        signal.signal(signal.SIGPROF, _alarm)
        signal.setitimer(signal.ITIMER_PROF, _LIMIT)
        try:
            OPERATIONS[:] = [operation for operation in OPERATIONS if operation.name in _FEW]
            Tally.patient = False
            mutate()
            for name in sorted(parts, key=lambda part: part != first):
                folder = top / name.replace(" ", "-")
                folder.mkdir()
                try:
                    found = parts[name](folder).violations
                except Violated:
                    found = ["one"]
                if found:
                    answer = name
                    break
        except TimeoutError:
            answer = ""
        except BaseException as error:
            answer = f"broke: {type(error).__name__}"
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            shutil.rmtree(top, ignore_errors=True)
            os.write(writing, answer.encode())
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        # The time of the processor that it has is limited; far more by the clock is a mutant that only waits.
        ready, _, _ = select.select([pipe], [], [], 10 * _LIMIT)
        answer = pipe.read() if ready else ""
    if not ready:
        os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return answer


def prepare() -> None:
    """Prepare the operations while the protocol is whole."""
    top = Path(tempfile.mkdtemp(prefix="memdeck-mutant-", dir=memory_disk()))
    for operation in OPERATIONS:
        if operation.name in _FEW:
            folder = top / operation.name.replace(" ", "-")
            folder.mkdir()
            states(operation, folder)
    shutil.rmtree(top, ignore_errors=True)


def _alarm(*_: Any) -> None:
    raise TimeoutError


def memory_disk() -> str | None:
    """Return a folder in memory, None where there is none: syncing costs nothing there, and power cuts are modelled."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def mutants(names: list[str] | None = None, say: Callable[[str], None] = lambda _: None) -> Tally:
    """Try the mutants; those that nobody notices are listed."""
    tally = Tally("mutants of the protocol")
    prepare()
    missed = []
    for name in names or list(MUTANTS):
        began = time.monotonic()
        by = noticed(name)
        took = time.monotonic() - began
        tally.points += 1
        tally.worst("slowest s", took)
        if not by:
            missed.append(name)
        say(f"{took:6.1f} s  {name}: {by or 'NOT NOTICED'}")
    tally.notes["noticed"] = tally.points - len(missed)
    share = 100 * (tally.points - len(missed)) / tally.points
    tally.notes["noticed %"] = share
    tally.expect(share >= ENOUGH, f"only {share:.0f} % of the mutants were noticed; not: {', '.join(missed)}")
    return tally
