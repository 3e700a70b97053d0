"""A pane as text: the real application draws the real files, without a terminal and without writing anything."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from textual.worker import WorkerCancelled

from memory.base.safe_text import visible
from memory.errors import UsageError
from memory.workspace import Workspace
from widgets.pane.base import Pane
from widgets.pane.rows import RowKey
from widgets.text.glyphs import UNICODE, Glyphs

from .app import MemdeckApp
from .shell import Setup

PATIENCE = 60.0
"""Seconds that drawing a pane may take; after that it fails with TimeoutError."""


@dataclass(frozen=True, slots=True)
class PictureRow:
    """A visible entry: its ref (empty: it has none), its line on the screen from 1, and the text of that line."""

    ref: str
    screen_line: int
    text: str
    cursor: bool


@dataclass(frozen=True, slots=True)
class PanePicture:
    """The lines of the screen, and the visible entries; `total` counts all entries of the pane."""

    pane: str
    title: str
    columns: int
    rows: int
    lines: tuple[str, ...]
    entries: tuple[PictureRow, ...]
    total: int


def picture_of(
    workspace: Workspace,
    pane: str,
    *,
    now: datetime,
    size: tuple[int, int],
    at: str = "",
    words: str = "",
    glyphs: Glyphs = UNICODE,
    environ: Mapping[str, str] | None = None,
) -> PanePicture:
    """Draw a pane at time `now` in `size` columns and rows, filtered by `words`, with the entry `at` under the cursor.

    Raises UsageError `entry.not_found` if no entry of the pane has that ref.
    """

    setup = Setup(
        clock=lambda: now,
        pane=pane,
        path=str(workspace.root),
        environ=environ or {},
        glyphs=glyphs,
        watches=False,
        remembers=False,
    )
    app = MemdeckApp(workspace, setup)
    app.animation_level = "none"
    return asyncio.run(_draw(app, size, at, words))


async def _draw(app: MemdeckApp, size: tuple[int, int], at: str, words: str) -> PanePicture:
    async with app.run_test(size=size) as pilot:
        async with asyncio.timeout(PATIENCE):
            await _settle(app)
            pane = app.navigation.pane
            assert pane is not None
            if words:
                pane.filter_bar.open(words, focus=False)
                pane.set_filter(words)
            if at:
                _go_to(pane, at)
            pane.linking.find()
            await pilot.pause()
            await _settle(app)
        return _take(app, pane)


async def _settle(app: MemdeckApp) -> None:
    """Wait until nothing is being read or drawn any more."""
    while True:
        waited = [worker for worker in app.workers if not worker.is_finished]
        for worker in waited:
            # One that a newer one of its kind took the place of has nothing to say.
            with suppress(WorkerCancelled):
                await worker.wait()
        await asyncio.sleep(0.01)
        if app.idle and not any(not worker.is_finished for worker in app.workers):
            return


def _go_to(pane: Pane, ref: str) -> None:
    """Put the cursor on an entry, given by its ref as the command line uses it."""

    for key in pane.line_list.rows:
        if isinstance(key, RowKey):
            names = (pane.ref(key.item), pane.copied_ref(key.item))
            if ref in names or any(name.endswith(f"#{ref}") for name in names):
                pane.line_list.cursor = key
                return
    if not pane.go_to(ref):
        raise UsageError("entry.not_found", f"no entry of {pane.title} has the ref {ref!r}", "-o json lists the refs")


def _take(app: MemdeckApp, pane: Pane) -> PanePicture:

    strips = app.screen._compositor.render_strips(app.size)
    lines = tuple(visible(strip.text).rstrip() for strip in strips)
    listed = pane.line_list
    region = listed.scrollable_content_region
    top = round(listed.scroll_y)
    entries = []
    for number, key in enumerate(listed.rows[top : top + region.height]):
        if isinstance(key, RowKey) and listed.is_on_screen and region.y + number < len(strips):
            text = strips[region.y + number].crop(region.x, region.x + region.width).text
            entries.append(
                PictureRow(
                    pane.copied_ref(key.item) or "",
                    region.y + number + 1,
                    " ".join(visible(text[2:]).split()),
                    key is listed.cursor,
                )
            )
    total = sum(isinstance(key, RowKey) for key in listed.rows)
    return PanePicture(pane.pane_id, pane.title, *app.size, lines, tuple(entries), total)
