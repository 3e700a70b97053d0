"""Interleaved runs, medians and ratios: how every figure of the benchmark is made and shown."""

from __future__ import annotations

import gc
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field


class Unavailable(Exception):
    """A case cannot be measured here; the message says what is missing."""


@dataclass(slots=True)
class Case:
    """One thing to measure: `run` is timed, or returns its own figures by name (seconds, or MiB for `rss`).

    `prepare` runs before each round and is not counted, `close` after the last one.
    """

    name: str
    run: Callable[[], object]
    prepare: Callable[[], object] | None = None
    compared_with: str | None = None
    target: float | None = None
    close: Callable[[], object] | None = None


@dataclass(slots=True)
class Figure:
    """The samples of one case, in seconds (or MiB), and what they are compared with."""

    part: str
    name: str
    unit: str = "ms"
    samples: list[float] = field(default_factory=list)
    compared_with: str | None = None
    target: float | None = None
    missing: str | None = None

    @property
    def median(self) -> float:
        """Return the median of the samples."""
        return statistics.median(self.samples)


def measure(part: str, cases: Iterable[Case], rounds: int) -> list[Figure]:
    """Run every case once per round, in turn, after one round that is not counted; return figures in order.

    A case that raises is reported as not available with the reason, and the others go on.
    """
    cases = list(cases)
    broken: dict[str, str] = {}
    figures: dict[str, Figure] = {}
    with ExitStack() as closing:
        for case in cases:
            if case.close is not None:
                closing.callback(case.close)
        for number in range(rounds + 1):
            for case in cases:
                if case.name in broken:
                    continue
                try:
                    found = _once(case)
                except (Exception, SystemExit) as error:
                    broken[case.name] = f"{type(error).__name__}: {error}" if not _plain(error) else str(error)
                    continue
                for suffix, value in found.items() if number else ():
                    name = case.name + suffix
                    figure = figures.get(name) or Figure(part, name, "MiB" if suffix.endswith("rss") else "ms")
                    figures[name] = figure
                    figure.samples.append(value)
                    figure.target = case.target
                    figure.compared_with = case.compared_with and case.compared_with + suffix
            _progress(part, number, rounds)
    result = list(figures.values())
    result += [Figure(part, name, missing=reason) for name, reason in broken.items()]
    return result


def _plain(error: BaseException) -> bool:
    return isinstance(error, Unavailable)


def _once(case: Case) -> dict[str, float]:
    if case.prepare is not None:
        case.prepare()
    gc.collect()
    start = time.perf_counter()
    answer = case.run()
    seconds = time.perf_counter() - start
    if isinstance(answer, dict) and answer and all(isinstance(value, float) for value in answer.values()):
        return {f" · {name}": value for name, value in answer.items()}
    return {"": seconds}


def _progress(part: str, number: int, rounds: int) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{part}: round {number}/{rounds} \x1b[K" + ("\r\x1b[K" if number == rounds else ""))
        sys.stderr.flush()


def table(figures: list[Figure]) -> str:
    """Return the figures of one run as a table of medians, ranges and ratios."""
    by_name = {(figure.part, figure.name): figure for figure in figures if figure.samples}
    lines: list[str] = []
    part = None
    width = max([len(figure.name) for figure in figures], default=10)
    for figure in figures:
        if figure.part != part:
            part = figure.part
            lines += ["", part, "-" * len(part)]
        if figure.missing is not None:
            lines.append(f"  {figure.name:<{width}}  not available: {figure.missing.splitlines()[0][:90]}")
            continue
        scale = 1000 if figure.unit == "ms" else 1
        low, middle, high = (value * scale for value in (min(figure.samples), figure.median, max(figure.samples)))
        line = f"  {figure.name:<{width}}  {middle:10.2f} {figure.unit:<3}  [{low:.2f} … {high:.2f}]"
        floor = by_name.get((figure.part, figure.compared_with or ""))
        if floor is not None:
            line += f"  {figure.median / floor.median:6.2f} × {floor.name}"
            line += f" (target {figure.target:g})" if figure.target else ""
        lines.append(line)
    return "\n".join(lines).lstrip("\n") + "\n"


def as_data(figures: list[Figure]) -> list[dict[str, object]]:
    """Return the figures as JSON-able data, times in milliseconds."""
    medians = {(figure.part, figure.name): figure.median for figure in figures if figure.samples}
    rows: list[dict[str, object]] = []
    for figure in figures:
        row: dict[str, object] = {"part": figure.part, "name": figure.name, "unit": figure.unit}
        if figure.missing is not None:
            row["missing"] = figure.missing
        else:
            scale = 1000 if figure.unit == "ms" else 1
            row["median"] = figure.median * scale
            row["samples"] = [sample * scale for sample in figure.samples]
            floor = medians.get((figure.part, figure.compared_with or ""))
            if floor:
                row |= {"ratio": figure.median / floor, "to": figure.compared_with, "target": figure.target}
        rows.append(row)
    return rows
