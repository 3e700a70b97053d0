"""What a key costs in each view, beside the same key and a step of the cursor in the minimal application."""

from __future__ import annotations

import re
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from bench.measure import Case, Figure
from bench.places import NOW, Places, memdeck
from bench.reference import OPEN_TASK
from bench.screen_part import urgent_titles
from bench.terminal import Screen

MINIMAL = "minimal application"

JOURNAL = b"3"
"""The key of the journal's pane."""

VIEWS = (("list", b""), ("board", b"b"), ("calendar", b"c"), ("journal", JOURNAL))

KEYS = ("cursor", "page", "/", "first letter", "next letter", "letter back")

LETTERS = (
    *("de", "st", "in", "re", "te", "co", "pr", "se", "up", "ro", "on", "ma", "sh", "ch", "ba", "li"),
    *("fi", "lo", "an", "ne", "ad", "tr", "cl", "mi", "no", "ou", "wr", "sc", "th", "ve"),
)
"""What each round types into the filter: rows that it leaves were seen by none before."""

HOME, HALF_PAGE, ESCAPE = b"\x1b[H", b"\x04", b"\x1b"

PAGES = {"S": 2}
"""How many pages there are to begin at, where they are few."""

WARM_SECONDS = 4
"""How long a pane may take to prepare for its filter."""


def key_cases(places: Places, size: str) -> Iterator[Case]:
    """Yield the minimal application and each view: one process each for all rounds, given the same keys in turns.

    A round begins at rows that were not seen yet. A figure is the work until the first picture, which is what somebody
    waits for, and, named `all`, until nothing more comes.
    """
    root = places.workspace(size)
    tasks = places.memory(root) / "tasks.md"
    titles = [title for _, title in OPEN_TASK.findall(tasks.read_text("utf-8"))]
    wanted, urgent = (
        [title for title in first[:10] if title.isascii() and len(title) < 32]
        for first in (titles, urgent_titles(root))
    )
    pages = PAGES.get(size, 30)

    yield _case(MINIMAL, partial(_minimal, places=places, tasks=tasks, wanted=wanted), pages)
    for view, key in VIEWS:
        yield _case(view, partial(_view, places=places, size=size, view=key, wanted=urgent), pages)


def _case(name: str, start: Callable[[ExitStack], Screen], pages: int) -> Case:
    opened = ExitStack()
    screens: list[Screen] = []
    rounds = 0

    def run() -> dict[str, float]:
        nonlocal rounds
        if not screens:
            screens.append(start(opened))
        rounds += 1
        return _round(screens[0], rounds % pages, LETTERS[rounds % len(LETTERS)])

    return Case(name, run, compared_with=None if name == MINIMAL else MINIMAL, target=2, close=opened.close)


def _round(screen: Screen, pages: int, letters: str) -> dict[str, float]:
    """Return the work of each key once, at the page of that number."""
    for key in (HOME, *[HALF_PAGE] * pages):
        screen.send(key)
        screen.settle(quiet=0.03, timeout=2)
    screen.settle()
    found = {}
    for name, key in zip(KEYS, (b"j", HALF_PAGE, b"/", letters[0].encode(), letters[1].encode(), b"\x7f"), strict=True):
        picture, whole = screen.work([key])
        found |= {name: picture, f"{name}, all": whole}
    screen.send(ESCAPE)
    screen.settle()
    return found


def _minimal(opened: ExitStack, places: Places, tasks: Path, wanted: Sequence[str]) -> Screen:
    command = [sys.executable, "-m", "bench.minimal_app", str(tasks)]
    screen = opened.enter_context(Screen(command, places.environment()))
    screen.wait_for(wanted)
    screen.settle()
    return screen


def _view(opened: ExitStack, places: Places, size: str, view: bytes, wanted: Sequence[str]) -> Screen:
    """Return memdeck in a view, in a workspace of its own, for which view was open is remembered."""
    command = [memdeck(), str(places.copy(size)), "--now", NOW.isoformat()]
    screen = opened.enter_context(Screen(command, places.environment()))
    screen.wait_for(wanted)
    # What is said at the start goes after some seconds, which is no work of a key.
    screen.settle(quiet=6.0, timeout=20)
    if view:
        screen.send(view)
        # The dates of 20,000 tasks are read first.
        if not screen.answered(60):
            raise TimeoutError(f"no answer to {view!r}")
        # A journal of 100,000 entries is made ready for the filter in the background.
        screen.settle(quiet=1.0)
        time.sleep(WARM_SECONDS if view == JOURNAL else 0)
    return screen


def key_table(figures: Sequence[Figure]) -> str:
    """Return one line for each view and key: medians and 95th percentiles in ms, and what they are multiples of.

    The first ratio is to the same key in the minimal application, the second one to a step of its cursor.
    """
    samples = {figure.name: figure.samples for figure in figures if figure.samples}
    missing = [f"{figure.name}: {figure.missing}\n" for figure in figures if figure.missing]
    cursor = samples.get(f"{MINIMAL} · cursor")
    if not cursor:
        return "".join(missing)
    part = re.sub(r"\W+", " ", figures[0].part)
    lines = [
        f"| {part} | ms | 95 % | all | minimal, same key | minimal, cursor | × same key | × cursor | all × cursor |",
        "|" + "---|" * 9,
    ]
    step = statistics.median(cursor)
    for view, _ in VIEWS:
        for key in KEYS:
            picture, whole = samples.get(f"{view} · {key}"), samples.get(f"{view} · {key}, all")
            if picture and whole:
                middle, late = statistics.median(picture), statistics.median(whole)
                same = statistics.median(samples[f"{MINIMAL} · {key}"])
                times = (middle, _late(picture), late, same, step)
                ratios = (middle / same, middle / step, late / step)
                words = [f"{seconds * 1000:.1f}" for seconds in times] + [f"{ratio:.2f}" for ratio in ratios]
                lines.append(f"| {view}, {key} | " + " | ".join(words) + " |")
    return "".join(f"{line}\n" for line in lines) + "".join(missing)


def _late(samples: Sequence[float]) -> float:
    """Return the 95th percentile."""
    return sorted(samples)[min(len(samples) - 1, int(len(samples) * 0.95))]
