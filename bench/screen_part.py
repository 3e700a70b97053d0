"""First paint, first key and peak memory in a real terminal, against a minimal application; keys in each view."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.measure import Case
from bench.places import NOW, Places, memdeck
from bench.reference import OPEN_TASK
from bench.screen_peers import UP, Command, screen_peers
from bench.terminal import Screen

JOURNAL = b"3"
"""The key of the journal's pane."""

KEYS = (
    ("cursor", [b"j"] * 5),
    ("page", [b"\x04"] * 3),
    ("/", [b"/"]),
    ("first letter", [b"d"]),
    ("second letter", [b"e"]),
    ("letter back", [b"\x7f"]),
)

WARM_SECONDS = 4
"""How long a pane may take to prepare for its filter."""


def screen_cases(places: Places, size: str) -> Iterator[Case]:
    """Yield the two applications for one size; both show every task: 2,000 rows at M, 20,000 at L."""
    root = places.workspace(size)
    tasks = places.memory(root) / "tasks.md"
    titles = [title for _, title in OPEN_TASK.findall(tasks.read_text("utf-8"))]
    wanted = [title for title in titles[:10] if title.isascii() and len(title) < 32]
    floor = "minimal Textual application"

    def show(command: Callable[[], list[str]]) -> Callable[[], dict[str, float]]:
        def run() -> dict[str, float]:
            with Screen(command(), places.environment()) as screen:
                words = screen.wait_for_words()
                painted = screen.wait_for(wanted)
                screen.settle()
                first, settled = screen.press(b"j")
                return {
                    "first words": words,
                    "first paint": painted,
                    "first key": first,
                    "key settled": settled,
                    "rss": screen.peak_mib(),
                }

        return run

    def ours() -> list[str]:
        return [memdeck(), str(root), "--now", NOW.isoformat()]

    yield Case(floor, show(lambda: [sys.executable, "-m", "bench.minimal_app", str(tasks)]))
    yield Case("memdeck", show(ours), compared_with=floor, target=1.5)
    for name, command, prepare in screen_peers(places, size):
        key = UP if name == "toolong" else b"j"
        yield Case(name, _opened(command, titles, key), prepare, floor)
    key_floor = "work of a key in the minimal application"
    yield Case(key_floor, _floor_keys(places, tasks, wanted))
    yield Case("work of the same key in the minimal application", _same_keys(places, tasks, wanted), None, key_floor)
    for view, key in (("list", b""), ("board", b"b"), ("calendar", b"c"), ("journal", JOURNAL)):
        yield Case(f"work of a key in the {view}", _keys(places, size, key, wanted), None, key_floor, 2)


def _opened(command: Callable[[], Command], titles: list[str], key: bytes) -> Callable[[], dict[str, float]]:
    """Return what takes a peer's time until the beginning of a title is there; some cut them, or sort them."""
    beginnings = sorted({title[:14] for title in titles if title.isascii()})

    def run() -> dict[str, float]:
        words, environment = command()
        with Screen(words, environment) as screen:
            painted = screen.wait_for(beginnings, timeout=60)
            screen.settle()
            return {"first paint": painted, "first key": screen.press(key)[0], "rss": screen.peak_mib()}

    return run


def _floor_keys(places: Places, tasks: Path, wanted: list[str]) -> Callable[[], dict[str, float]]:
    """Return what takes the work of a step of the cursor in the minimal application: the floor of every key."""

    def run() -> dict[str, float]:
        command = [sys.executable, "-m", "bench.minimal_app", str(tasks)]
        with Screen(command, places.environment()) as screen:
            screen.wait_for(wanted)
            screen.settle()
            picture, whole = screen.work([b"j"] * 5)
            return {name: picture for name, _ in KEYS} | {f"{name}, all": whole for name, _ in KEYS}

    return run


def _same_keys(places: Places, tasks: Path, wanted: list[str]) -> Callable[[], dict[str, float]]:
    """Return what takes the work of each of the keys in the minimal application, which pages and filters as well."""

    def run() -> dict[str, float]:
        command = [sys.executable, "-m", "bench.minimal_app", str(tasks)]
        with Screen(command, places.environment()) as screen:
            screen.wait_for(wanted)
            screen.settle()
            return _work(screen)

    return run


def _work(screen: Screen) -> dict[str, float]:
    """Return the work of each of the keys, until its first picture and until nothing more comes."""
    found = {}
    for name, keys in KEYS:
        picture, whole = screen.work(keys)
        found |= {name: picture, f"{name}, all": whole}
    return found


def _keys(places: Places, size: str, view: bytes, wanted: list[str]) -> Callable[[], dict[str, float]]:
    """Return what takes the work of keys in a view: moving, paging, a filter that grows and shrinks.

    It is told until the first picture and, named `all`, until nothing more comes: where a filter has very many rows to
    look at, those in view come first and the others between pictures. Each run has a workspace of its own, for which
    view was open is remembered.
    """

    def run() -> dict[str, float]:
        command = [memdeck(), str(places.copy(size)), "--now", NOW.isoformat()]
        with Screen(command, places.environment()) as screen:
            screen.wait_for(wanted)
            # What is said at the start goes after some seconds, which is no work of a key.
            screen.settle(quiet=6.0, timeout=20)
            if view:
                screen.press(view)
                # A journal of 100,000 entries is made ready for the filter in the background.
                screen.settle(quiet=1.0)
                time.sleep(WARM_SECONDS if view == JOURNAL else 0)
            return _work(screen)

    return run
