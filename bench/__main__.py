"""Measure memdeck, its floors and its peers in one run: `python -m bench [PART…] [--sizes S M L]`."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from bench.change_part import change_cases
from bench.command_part import command_cases
from bench.curated_part import curated_cases
from bench.curated_recall import curated_fresh_table, curated_recall_table
from bench.document_part import document_cases
from bench.facts_part import facts_cases
from bench.key_part import key_cases, key_table
from bench.maintain_part import maintain_cases
from bench.mcp_part import mcp_cases
from bench.mcp_peers import peer_cases, tool_table
from bench.measure import Case, Figure, as_data, measure, table
from bench.monitor_part import monitor_cases
from bench.outside_part import outside_cases
from bench.places import ROOT, Places, temporary
from bench.process_part import process_cases
from bench.recall_part import recall_table
from bench.screen_part import screen_cases
from bench.search_part import search_cases
from bench.state_part import state_cases
from bench.state_questions import questions_table
from bench.told_part import told_table
from bench.typed_part import typed_cases

Part = tuple[Callable[[Places, str], Iterator[Case]], tuple[str, ...], int]
PARTS: dict[str, Part] = {
    "document": (document_cases, ("30MB", "L"), 5),
    "change": (change_cases, ("M", "L"), 15),
    "command": (command_cases, ("S", "M", "L"), 9),
    "process": (process_cases, ("S", "M"), 15),
    "screen": (screen_cases, ("S", "M", "L"), 7),
    "keys": (key_cases, ("S", "M", "L"), 30),
    "outside": (outside_cases, ("S", "M", "L"), 1),
    "search": (search_cases, ("M", "L"), 5),
    "maintain": (maintain_cases, ("M",), 7),
    "facts": (facts_cases, ("500", "10000", "100000"), 7),
    "monitor": (monitor_cases, ("300",), 7),
    "typed": (typed_cases, ("100000",), 2),
    "state": (state_cases, ("10000",), 5),
    "curated": (curated_cases, ("100", "2000", "20000"), 5),
    "mcp": (mcp_cases, ("M",), 5),
    "mcp-peers": (peer_cases, ("M",), 5),
}
TABLES = {"keys": key_table}
"""The parts with a table of their own."""

FOUND: dict[str, Callable[[Places], str]] = {
    "recall": recall_table,
    "curated-recall": curated_recall_table,
    "curated-fresh": curated_fresh_table,
    "mcp-tools": tool_table,
    "state-questions": questions_table,
    "told": told_table,
}
"""The parts that measure what is found, not how long it takes."""


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen parts, print one table per part and size, and keep the samples when asked."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    names = (*PARTS, *FOUND)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"some of {', '.join(names)} (default: all)")
    parser.add_argument(
        "--sizes", nargs="+", metavar="SIZE", help="S, M, L, TASKSxENTRIES; 30MB for document, a number for others"
    )
    parser.add_argument("--rounds", type=int, help="counted rounds per part (default: 5 to 15)")
    parser.add_argument("--save", action="store_true", help="write the samples to bench/results/")
    options = parser.parse_args(arguments)
    unknown = set(options.parts) - set(names)
    if unknown:
        parser.error(f"unknown part: {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    figures: list[Figure] = []
    with temporary() as folder:
        places = Places(Path(folder))
        for name in options.parts or names:
            if name in FOUND:
                sys.stdout.write(FOUND[name](places) + "\n")
                continue
            cases, sizes, rounds = PARTS[name]
            for size in options.sizes or sizes:
                found = _part(name, size, list(cases(places, size)), options.rounds or rounds)
                sys.stdout.write(TABLES.get(name, table)(found) + "\n")
                sys.stdout.flush()
                figures += found
    if options.save:
        sys.stdout.write(f"{save(figures, ROOT / 'bench' / 'results')}\n")
    return 0


def save(figures: list[Figure], folder: Path) -> Path:
    """Write the figures as one JSON file named by the time into `folder`; return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    now = datetime.now(UTC)
    path = folder / f"{now:%Y%m%dT%H%M%SZ}.json"
    about = {"time": now.isoformat(), "python": platform.python_version(), "machine": platform.platform()}
    path.write_text(json.dumps(about | {"figures": as_data(figures)}, indent=1) + "\n", encoding="utf-8")
    return path


def _part(name: str, size: str, cases: list[Case], rounds: int) -> list[Figure]:
    return measure(f"{name} · {size}", cases, rounds)


if __name__ == "__main__":
    raise SystemExit(main())
