"""The fleet of one machine, measured: `python -m bench.fleet_local [--small N] [--medium N] [--folder DIR] [--keep]`.

It makes N workspaces of S and of M, and prints one JSON object: scan, index, search, an edit until it is found, status
and maintenance, each beside what the machine needs for the same with nothing but the files.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from bench.fleet_hosts import QUERIES
from bench.places import NOW
from bench.workspaces import size_of, write_workspace
from memory.fleet.embedded import EmbeddedFleet
from memory.fleet.local import LocalWorkspaces

ROUNDS = 5
EDITS = 10


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print what came out."""
    parser = argparse.ArgumentParser(prog="python -m bench.fleet_local", description=__doc__)
    parser.add_argument("--small", type=int, default=1_000)
    parser.add_argument("--medium", type=int, default=20)
    parser.add_argument("--folder", type=Path, help="Where the workspaces are, or are made (default: a temporary one).")
    parser.add_argument("--keep", action="store_true", help="Leave everything in place.")
    options = parser.parse_args(arguments)
    folder = options.folder or Path(tempfile.mkdtemp(prefix="memdeck-fleet-", dir="/tmp"))
    found: dict[str, Any] = {"load": round(os.getloadavg()[0], 1), "cores": os.cpu_count()}

    def note(**values: Any) -> None:
        found.update(values)
        print(json.dumps(values), file=sys.stderr, flush=True)

    try:
        top = folder / "src"
        if not top.exists():
            for size, count in (("S", options.small), ("M", options.medium)):
                for number in range(count):
                    write_workspace(top / f"{size.lower()}{number:04}", size_of(size), NOW, seed=1 + number)
        files = sorted(str(path) for path in top.glob("*/.aiter/memory/*.md"))
        note(files=len(files), bytes=sum(os.stat(path).st_size for path in files))
        fleet = EmbeddedFleet(LocalWorkspaces(folder / "state", "here", None, folder / "config"))
        with closing(fleet):
            note(walk_ms=_took(lambda: sum(1 for _ in os.walk(top))), scan_ms=_took(lambda: fleet.scan(top, NOW)))
            note(read_ms=_took(lambda: [Path(path).read_bytes() for path in files]))
            note(index_seconds=round(_took(lambda: fleet.search("deploy", NOW)) / 1000, 1))
            note(index_bytes=sum(path.stat().st_size for path in (folder / "state/memdeck/fleet").iterdir()))
            note(stat_ms=_best(lambda: [os.stat(path) for path in files]), grep_ms=_grep(top))
            note(**_searches(fleet))
            note(edit_found_ms=_edits(fleet, top))
            note(status_ms=_took(lambda: fleet.overview(NOW)))
            note(dry_run_ms=_took(lambda: tuple(fleet.maintain(NOW, actor="bench", dry_run=True))))
            note(maintain_ms=_took(lambda: tuple(fleet.maintain(NOW, actor="bench"))))
            note(maintain_again_ms=_took(lambda: tuple(fleet.maintain(NOW, actor="bench"))))
    finally:
        if not options.keep:
            shutil.rmtree(folder)
    print(json.dumps(found, indent=2))
    return 0


def _took(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return round(1000 * (time.perf_counter() - start), 1)


def _best(work: Callable[[], object]) -> float:
    return min(_took(work) for _ in range(ROUNDS))


def _grep(top: Path) -> dict[str, float]:
    """Return the best of some runs of ripgrep, or grep, over all files for one word."""
    tool = next(one for one in ("rg", "grep") if shutil.which(one))
    words = [tool, "-c", "-i", "staging", *(["-r"] if tool == "grep" else ["--hidden", "--no-ignore"]), str(top)]
    return {tool: _best(lambda: subprocess.run(words, stdout=subprocess.DEVNULL, check=False))}


def _searches(fleet: EmbeddedFleet) -> dict[str, Any]:
    """Return the middle and the slowest of the queries, each the best of some rounds, in ms."""
    found: dict[str, Any] = {}
    for name, ask in (("search", fleet.search), ("glance", fleet.glance)):
        times = {query: _best(lambda query=query, ask=ask: ask(query, NOW)) for query in QUERIES}
        slowest = max(times, key=lambda query: times[query])
        found[f"{name}_median_ms"] = round(statistics.median(times.values()), 1)
        found[f"{name}_slowest_ms"] = {slowest: times[slowest]}
    return found


def _edits(fleet: EmbeddedFleet, top: Path) -> dict[str, float]:
    """Return how long the first search after an edit takes, for a small workspace and one of medium size."""
    found = {}
    for size in ("s", "m"):
        times = []
        for number, folder in enumerate(sorted(top.glob(f"{size}*"))[:EDITS]):
            path = folder / ".aiter/memory/journal.md"
            text = path.read_text(encoding="utf-8")
            word = f"zebrafinch{size}{number}"
            path.write_text(text.replace("\n### ", f"\n### 00:01 - {word}\n- new\n\n### ", 1), encoding="utf-8")
            start = time.perf_counter()
            (hits, _) = fleet.search(word, NOW)
            times.append(1000 * (time.perf_counter() - start))
            if not hits or hits[0].workspace != folder:
                raise SystemExit(f"{word} was not found")
        if times:
            found[size.upper()] = round(statistics.median(times), 1)
    return found


if __name__ == "__main__":
    sys.exit(main())
