"""Mutants of the protocol against the harness: it must notice what is wrong with them, or it proves nothing.

Each mutant lives in a process of its own, in which short runs of the parts of the harness follow until one of them
finds a violation. The part that is meant to notice goes first.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.crash import errors, foreign, kill, power
from tests.crash.kill import Tally, Violated
from tests.crash.mutations import MUTANTS
from tests.crash.operations import OPERATIONS
from tests.patience import reap

ENOUGH = 95
"""How many of a hundred mutants must be noticed."""
_LIMIT = 300  # Seconds of processor time for one mutant; one that keeps the harness that long counts as not noticed.
_FEW = ("add", "start with a journal entry", "move between files", "store a fact")

PARTS: dict[str, Callable[[Path], Tally]] = {
    "late": foreign.late,
    "kill": lambda top: kill.kills(top, every=2),
    "short writes": errors.short_writes,
    "power": lambda top: power.power(top, weak=False, every=2),
    "torture": lambda top: foreign.torture(top, changes=400, lines=20),
    "looking": lambda top: foreign.foreign(top, every=3, looking=True, operations=("add",)),
    "foreign looking at facts": lambda top: foreign.foreign(top, looking=True, operations=("store a fact",)),
    "foreign": lambda top: foreign.foreign(top, near=True),
    "foreign and kill": lambda top: foreign.foreign(top, killed=True, near=True),
    "failed syncs": lambda top: power.failed_syncs(top, every=2),
    "errors": lambda top: errors.errors(top, every=3),
}


def noticed(mutant: str) -> str:
    """Return which part of the harness noticed a mutant, "" for none."""
    answer = Path(tempfile.mkdtemp(prefix="memdeck-mutant-", dir=memory_disk()))
    pid = os.fork()
    if not pid:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - the process ends with it
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, _LIMIT)
        try:
            (answer / "noticed").write_text(_first_to_notice(mutant, answer))
        except BaseException as error:
            (answer / "noticed").write_text(f"broke: {type(error).__name__}")
        finally:
            os._exit(0)
    try:
        reap(pid, seconds=10 * _LIMIT)
        found = answer / "noticed"
        return found.read_text() if found.exists() else ""
    finally:
        shutil.rmtree(answer, ignore_errors=True)


def _first_to_notice(mutant: str, top: Path) -> str:
    first, mutate = MUTANTS[mutant]
    OPERATIONS[:] = [operation for operation in OPERATIONS if operation.name in _FEW]
    Tally.patient = False
    mutate()
    for name in sorted(PARTS, key=lambda part: part != first):
        folder = top / name.replace(" ", "-")
        folder.mkdir()
        try:
            PARTS[name](folder)
        except Violated:
            return name
    return ""


def memory_disk() -> str | None:
    """Return a folder in memory, None where there is none: syncing costs nothing there, and power cuts are modelled."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def mutants(say: Callable[[str], None] = print) -> Tally:
    """Try the mutants; those that no part notices are listed."""
    tally = Tally("mutants of the protocol")
    missed = []
    for name in MUTANTS:
        by = noticed(name)
        tally.points += 1
        if not by:
            missed.append(name)
        say(f"    {name}: {by or 'NOT NOTICED'}")
    share = 100 * (tally.points - len(missed)) / tally.points
    tally.notes["noticed %"] = share
    tally.expect(share >= ENOUGH, f"only {share:.0f} % of the mutants were noticed; not: {', '.join(missed)}")
    return tally
