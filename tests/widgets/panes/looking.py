"""What the pane tests share: snapshots of files in memory, and a pane alone on a screen."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from textual.pilot import Pilot

from app.demo.workspace import demo_files
from memory.document import Document, parse
from memory.files.edit import Edit
from memory.files.snapshot import Snapshot
from tests.pilots import worked
from tests.widgets.harness import HOSTILE, Harness, assert_safe, screen_text
from widgets.pane.base import Pane
from widgets.pane.rows import RowKey
from widgets.text.styled_text import line_text

NOW = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)
DEMO: Mapping[str, str | bytes] = demo_files(NOW, UTC)  # type: ignore[assignment]

_SHORT = " ".join(text for text in HOSTILE.values() if len(text) < 100).replace("\n", " ").replace("\r", " ")


class Files:
    """Memory files that exist in memory only; every read is counted."""

    def __init__(self, files: Mapping[str, str | bytes]) -> None:
        self.documents = {
            name: parse(text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape"))
            for name, text in files.items()
        }
        self.reads: list[str] = []

    def document(self, name: str) -> Document | None:
        """The document of a file."""
        self.reads.append(name)
        return self.documents.get(name)

    def archives(self) -> tuple[str, ...]:
        """The archive files."""
        return tuple(sorted(name for name in self.documents if name.startswith("archive/")))

    def look(self) -> Snapshot:
        """A snapshot of the files as they are now."""
        return Snapshot(self, lambda: UTC)

    def apply(self, build: Callable[[Snapshot], Edit]) -> Edit:
        """Make an edit."""
        edit = build(self.look())
        self.documents.update(edit.documents)
        return edit

    def text(self, name: str) -> str:
        """The text of a file."""
        return self.documents[name].dump().decode("utf-8", "surrogateescape")


def look(files: Mapping[str, str | bytes]) -> Snapshot:
    """A snapshot of these files."""
    return Files(files).look()


@asynccontextmanager
async def showing(
    pane: Pane, files: Files | Mapping[str, str | bytes], size: tuple[int, int] = (120, 36)
) -> AsyncIterator[tuple[Pilot[None], Harness]]:
    """The pane over these files, its list focused."""
    app = Harness(lambda: [pane])
    held = files if isinstance(files, Files) else Files(files)
    async with app.run_test(size=size, message_hook=app.keep) as pilot:
        pane.show(held.look(), NOW)
        pane.focus_list()
        await settled(pilot, app)
        yield pilot, app


async def settled(pilot: Pilot[None], app: Harness) -> None:
    """Wait until workers are done and everything is drawn."""
    while await worked(app):
        pass
    await pilot.pause()
    await pilot.pause()


def shown(app: Harness) -> str:
    """What is on the screen."""
    return screen_text(app)


def detail_words(pane: Pane) -> str:
    """What the detail shows, its wrapped lines joined with single spaces."""
    return " ".join(" ".join(line_text(content) for content in pane.detail_view._laid_out).split())


async def walked(pane: Pane, files: Mapping[str, str | bytes], pilot: Pilot[None], app: Harness) -> None:
    """Show files and put the cursor on each of their items; nothing unsafe reaches the screen."""
    pane.show(look(files), NOW)
    await settled(pilot, app)
    items = sum(isinstance(row, RowKey) for row in pane.line_list.rows)
    assert items
    for _ in range(items):
        assert_safe(screen_text(app))
        pane.line_list.action_move(1)
        await pilot.pause()
    assert_safe(screen_text(app))
    pane.line_list.action_first()
