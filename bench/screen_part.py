"""First paint, first key and peak memory in a real terminal, against a minimal application and peers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.measure import Case
from bench.places import NOW, Places, memdeck
from bench.reference import OPEN_TASK
from bench.screen_peers import UP, Command, screen_peers
from bench.terminal import Screen
from memory.files.tasks.order import SORTS, sort_key
from memory.workspace import Workspace


def urgent_titles(root: Path) -> list[str]:
    """Return the titles of the pending tasks of a workspace in the order in which the application lists them."""
    snapshot = Workspace.open(root, state_home=root / "none").snapshot()
    urgent = sorted(snapshot.tasks.in_section("pending"), key=sort_key(SORTS[0], NOW, snapshot.zone))
    return [task.title for task in urgent]


def screen_cases(places: Places, size: str) -> Iterator[Case]:
    """Yield the two applications for one size; both show every task: 2,000 rows at M, 20,000 at L."""
    root = places.workspace(size)
    tasks = places.memory(root) / "tasks.md"
    titles = [title for _, title in OPEN_TASK.findall(tasks.read_text("utf-8"))]
    floor = "minimal Textual application"

    def show(command: Callable[[], list[str]], first: list[str]) -> Callable[[], dict[str, float]]:
        wanted = [title for title in first[:10] if title.isascii() and len(title) < 32]

        def run() -> dict[str, float]:
            with Screen(command(), places.environment()) as screen:
                painted = screen.wait_for(wanted)
                screen.settle()
                answered, settled = screen.press(b"j")
                return {
                    "first paint": painted,
                    "first key": answered,
                    "key settled": settled,
                    "rss": screen.peak_mib(),
                }

        return run

    def ours() -> list[str]:
        return [memdeck(), str(root), "--now", NOW.isoformat()]

    yield Case(floor, show(lambda: [sys.executable, "-m", "bench.minimal_app", str(tasks)], titles))
    yield Case("memdeck", show(ours, urgent_titles(root)), compared_with=floor, target=1.5)
    for name, command, prepare in screen_peers(places, size):
        key = UP if name == "toolong" else b"j"
        yield Case(name, _opened(command, titles, key), prepare, floor)


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
