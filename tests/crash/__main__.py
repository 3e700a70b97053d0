"""Run the whole harness and print what was tried and what was found: `python -m tests.crash [PART…]`."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.crash import errors, foreign, kill, late, mutants, power, torture
from tests.crash.calls import without_exchange, without_leases
from tests.crash.kill import Tally


def _reduced(top: Path) -> Tally:
    with without_exchange(), without_leases():
        return kill.kills(top, name="kill -9, without exchange and leases")


PARTS: dict[str, Callable[[Path], Tally]] = {
    "kill": kill.kills,
    "reduced": _reduced,
    "recovery": lambda top: kill.compound(top, every=2),
    "ordered": lambda top: power.power(top, weak=False),
    "weak": lambda top: power.power(top, weak=True),
    "errors": errors.errors,
    "lasting": lambda top: errors.errors(top, lasting=True),
    "foreign": foreign.foreign,
    "foreign-kill": lambda top: foreign.foreign(top, killed=1, near=True),
    "late": late.late,
    "twelve": lambda top: torture.twelve(top, rounds=100),
    "torture": lambda top: torture.torture(top, seconds=30, changes=10_000),
    "mutants": lambda _: mutants.mutants(say=lambda line: print(line, file=sys.stderr, flush=True)),
}


def main(names: list[str]) -> int:
    """Run the parts named, or all; return 1 if anything was violated."""
    if unknown := [name for name in names if name not in PARTS]:
        print(f"unknown: {' '.join(unknown)}; known: {' '.join(PARTS)}", file=sys.stderr)
        return 2
    failed = 0
    print(f"{'part':50} {'points':>8} {'violations':>10} {'seconds':>8}  notes", flush=True)
    for name in names or list(PARTS):
        # Syncs that wait for a disk say nothing here; the power cuts are modelled.
        disk = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        top = Path(tempfile.mkdtemp(prefix="memdeck-crash-", dir=disk))
        began = time.monotonic()
        try:
            tally = PARTS[name](top)
        finally:
            shutil.rmtree(top, ignore_errors=True)
        notes = ", ".join(f"{key} {value:.4g}" for key, value in tally.notes.items())
        row = f"{tally.name:50} {tally.points:8} {len(tally.violations):10} {time.monotonic() - began:8.1f}  {notes}"
        print(row, flush=True)
        for violation in tally.violations[:20]:
            print(f"    {violation}", flush=True)
        failed += bool(tally.violations)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
