"""Run the harness and print what was tried and what was found: `python -m tests.crash [PART…]`."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.crash import (
    errors,
    foreign,
    kill,
    mutants,
    power,
)
from tests.crash.calls import without_exchange
from tests.crash.kill import Tally


def _reduced(top: Path) -> Tally:
    with without_exchange():
        tally = kill.kills(top)
    tally.name += ", without exchange"
    return tally


PARTS: dict[str, Callable[[Path], Tally]] = {
    "kill": kill.kills,
    "reduced": _reduced,
    "recovery": lambda top: kill.again(top, every=2),
    "ordered": lambda top: power.power(top, weak=False),
    "weak": lambda top: power.power(top, weak=True),
    "failed-syncs": power.failed_syncs,
    "errors": errors.errors,
    "short-writes": errors.short_writes,
    "foreign": foreign.foreign,
    "foreign-looking": lambda top: foreign.foreign(top, looking=True, operations=("add", "store a fact")),
    "foreign-kill": lambda top: foreign.foreign(top, killed=True, near=True),
    "late": foreign.late,
    "torture": foreign.torture,
    "mutants": lambda _: mutants.mutants(),
}


def main(names: list[str]) -> int:
    """Run the parts named, or all; print a table, and return 1 if anything was violated."""
    if unknown := [name for name in names if name not in PARTS]:
        print(f"unknown: {' '.join(unknown)}; known: {' '.join(PARTS)}", file=sys.stderr)
        return 2
    violations = 0
    print(f"{'part':16} {'what':52} {'points':>8} {'violations':>10} {'seconds':>8}  notes", flush=True)
    for name in names or list(PARTS):
        top = Path(tempfile.mkdtemp(prefix="memdeck-crash-", dir=mutants.memory_disk()))
        start = time.monotonic()
        try:
            tally = PARTS[name](top)
        finally:
            shutil.rmtree(top, ignore_errors=True)
        notes = ", ".join(f"{key} {value:.5g}" for key, value in tally.notes.items())
        took = time.monotonic() - start
        print(f"{name:16} {tally.name:52} {tally.points:8} {len(tally.violations):10} {took:8.1f}  {notes}", flush=True)
        for violation in tally.violations[:20]:
            print(f"    {violation}", flush=True)
        violations += len(tally.violations)
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
