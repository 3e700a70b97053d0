"""Prints the table of the README, or with names (or --all) what memdeck does with cases.

`python -m tests.corpus > tests/corpus/README.md`; `python -m tests.corpus fs/fifo planted`; MEMDECK_CORPUS=all for
full sizes.
"""

from __future__ import annotations

import os
import sys

from .catalogue import CASES, readme
from .player import Client


def main(names: list[str]) -> int:
    """Print the README, or play the cases whose names begin with one of `names`; 1 if anything was violated."""
    if not names:
        print(readme(), end="")
        return 0
    failed = 0
    with Client() as client:
        for case in CASES:
            if "--all" not in names and not any(case.name.startswith(name) for name in names):
                continue
            report = client.play(case, whole="MEMDECK_CORPUS" in os.environ, screen="--screen" in names)
            slowest = max(report.seen, key=lambda seen: seen["cpu"], default={"verb": "", "cpu": 0})
            print(f"== {case.name} {report.skip} [{slowest['verb']} {slowest['cpu']:.2f} s]")
            for seen in report.seen:
                said = seen["err"].strip() if seen["code"] else ""
                found = seen["out"].replace("\n", "; ")[:400] if seen["verb"] == "check" else ""
                print(f"   {seen['verb']:9} {seen['exit']:3} {seen['cpu']:.2f} {seen['wall']:.2f} {said[:300]}{found}")
            for violation in report.violations:
                print(f"   ! {violation}")
            failed += bool(report.violations)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
