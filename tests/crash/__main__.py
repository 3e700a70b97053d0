"""Run the harness and print what was tried and what was found: `python -m tests.crash [PART…] [--only OPERATION]…`.

With `--only` the parts that go over operations take those whose names begin so: `kill --only recall --only prune`.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.crash import (
    crossing,
    errors,
    foreign,
    kill,
    late,
    log_faults,
    machine,
    mutants,
    power,
    soak,
    stale,
    torture,
)
from tests.crash.calls import without_exchange
from tests.crash.kill import Tally
from tests.crash.operations import CURATED, OPERATIONS


def _reduced(part: Callable[[Path], Tally]) -> Callable[[Path], Tally]:
    """Return a part that runs as on a file system that cannot exchange files."""

    def run(top: Path) -> Tally:
        with without_exchange():
            tally = part(top)
        tally.name += ", reduced"
        return tally

    return run


def _curated(top: Path) -> Tally:
    """Let all that may happen to an operation happen to those of curated memory, sampled where there is much."""
    parts: dict[str, Callable[[Path], Tally]] = {
        "kill": kill.kills,
        "recovery": lambda folder: kill.compound(folder, every=6),
        "ordered": lambda folder: power.power(folder, weak=False),
        "weak": lambda folder: power.power(folder, weak=True, every=6),
        "errors": lambda folder: errors.errors(folder, every=4),
        "log": lambda folder: log_faults.log_faults(folder, real=()),
        "foreign": foreign.foreign,
    }
    modules = (kill, power, errors, log_faults, foreign)
    tally, usual = Tally("curated memory: kills, power cuts, errors, log, writers"), kill.OPERATIONS
    for name, part in parts.items():
        for module in modules:
            module.OPERATIONS = CURATED  # type: ignore[attr-defined]
        try:
            (top / name).mkdir()
            found = part(top / name)
        finally:
            for module in modules:
                module.OPERATIONS = usual  # type: ignore[attr-defined]
        tally.points += found.points
        tally.notes[name] = found.points
        tally.violations += [f"{name}: {violation}" for violation in found.violations]
    return tally


def _say_held(number: int, mib: float, seconds: float) -> None:
    print(f"round {number}: holds {mib:.0f} MiB, {seconds:.0f} s of processor time", file=sys.stderr, flush=True)


PARTS: dict[str, Callable[[Path], Tally]] = {
    "kill": kill.kills,
    "reduced": _reduced(kill.kills),
    "recovery": lambda top: kill.compound(top, every=2),
    "ordered": lambda top: power.power(top, weak=False),
    "weak": lambda top: power.power(top, weak=True),
    "failed-syncs": power.failed_syncs,
    "power-recovery": power.again,
    "errors": errors.errors,
    "errors-reduced": _reduced(errors.errors),
    "lasting": lambda top: errors.errors(top, lasting=True, name="errors that last from a call on"),
    "short-writes": errors.short_writes,
    "log": log_faults.log_faults,
    "foreign": foreign.foreign,
    "foreign-looking": lambda top: foreign.foreign(top, looking=True, operations=("add", "remove a file", "done")),
    "foreign-kill": lambda top: foreign.foreign(top, killed=1, near=True),
    "stale": stale.stale,
    "curated": _curated,
    "late": late.late,
    "crossing": crossing.crossing,
    "twelve": lambda top: torture.twelve(top, rounds=100),
    "torture": lambda top: torture.torture(top, seconds=30, changes=10_000),
    "soak": lambda top: soak.soak(top, say=_say_held),
    "machine": machine.machine,
    "mutants": lambda _: mutants.mutants(say=lambda line: print(line, file=sys.stderr, flush=True)),
}


def main(names: list[str]) -> int:
    """Run the parts named, or all; print a table, and return 1 if anything was violated."""
    only: list[str] = []
    while "--only" in names[:-1]:
        place = names.index("--only")
        only.append(names[place + 1])
        del names[place : place + 2]
    for table in (OPERATIONS, CURATED):
        table[:] = [one for one in table if not only or one.name.startswith(tuple(only))]
    if not OPERATIONS and not CURATED:
        print(f"no operation begins with {' or '.join(only)}", file=sys.stderr)
        return 2
    if unknown := [name for name in names if name not in PARTS]:
        print(f"unknown: {' '.join(unknown)}; known: {' '.join(PARTS)}", file=sys.stderr)
        return 2
    points = violations = 0
    began = time.monotonic()
    print(f"{'part':16} {'what':58} {'points':>8} {'violations':>10} {'seconds':>8}  notes", flush=True)
    for name in names or list(PARTS):
        # Syncs that wait for a disk say nothing here; the power cuts are modelled.
        top = Path(tempfile.mkdtemp(prefix="memdeck-crash-", dir=mutants.memory_disk()))
        start = time.monotonic()
        try:
            tally = PARTS[name](top)
        finally:
            shutil.rmtree(top, ignore_errors=True)
        notes = ", ".join(f"{key} {value:.5g}" for key, value in tally.notes.items())
        print(_row(name, tally.name, tally.points, len(tally.violations), time.monotonic() - start) + notes, flush=True)
        for violation in tally.violations[:20]:
            print(f"    {violation}", flush=True)
        points += tally.points
        violations += len(tally.violations)
    print(_row("all", "", points, violations, time.monotonic() - began), flush=True)
    return 1 if violations else 0


def _row(name: str, what: str, points: int, violations: int, seconds: float) -> str:
    return f"{name:16} {what:58} {points:8} {violations:10} {seconds:8.1f}  "


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
