"""Lists the cases, or with names (or --all) plays them and prints what was wrong (--no-screen: commands only).

`python -m tests.hostile file/editor text` plays some.
"""

from __future__ import annotations

import shutil
import sys
import time

from .catalogue import CASES, listing
from .client import Client
from .expect import missing


def main(names: list[str]) -> int:
    """List the cases, or play the cases whose names begin with one of `names`; 1 if anything was wrong."""
    if not names:
        print(listing(), end="")
        return 0
    strace = shutil.which("strace")
    if strace is None:
        print("strace is not installed", file=sys.stderr)
        return 2
    failed = 0
    with Client(strace) as client:
        for case in CASES:
            if "--all" not in names and not any(case.name.startswith(name) for name in names):
                continue
            began = time.monotonic()
            verdict = client.play(case, screen="--no-screen" not in names)
            print(
                f"== {case.name} {verdict.skip} [{time.monotonic() - began:.1f} s, {verdict.calls} calls]", flush=True
            )
            wrong = [*verdict.wrong, *missing(case, verdict)]
            for sentence in wrong[:40]:
                print(f"   ! {sentence}")
            failed += bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
