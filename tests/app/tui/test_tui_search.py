"""The search screen: finds while typing, goes to what was found, and remembers what was asked."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest
from textual.pilot import Pilot

from app.tui.app import MemdeckApp
from app.tui.search.screen import SearchScreen
from memory.files.journal.edits import add_entry
from memory.search.searcher import Searcher
from memory.systems import searcher_of
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import NOW, make_app, press, running, settle, type_text
from tests.patience import PATIENCE, within
from tests.widgets.harness import screen_text


def found(app: MemdeckApp) -> list[str]:
    """The titles that are listed."""
    screen = app.screen
    assert isinstance(screen, SearchScreen)
    assert screen.answer is not None
    return [hit.entry.title for hit in screen.answer.hits]


async def test_typing_finds_and_enter_goes_there(workspace: Workspace) -> None:
    """Each key narrows; Enter opens the pane of the entry with the cursor on it; Escape goes back."""
    app = make_app(workspace)
    async with running(app) as pilot:
        await press(pilot, "ctrl+f")
        assert isinstance(app.screen, SearchScreen)
        await type_text(pilot, "redis cach")
        assert found(app)[0] == "Using Redis for caching"
        assert "Using Redis for caching" in screen_text(app)
        await press(pilot, "enter")
        assert app.screen is app.main_screen
        assert app.pane.pane_id == "knowledge"
        assert app.pane.current().title == "Using Redis for caching"
        await press(pilot, "left_square_bracket")
        assert app.pane.pane_id == "tasks"
        await press(pilot, "ctrl+f", "escape")
        assert app.screen is app.main_screen


async def test_escape_from_a_hit_leads_back_to_the_results(workspace: Workspace) -> None:
    """The results are those that were left, with the cursor on the hit; leaving them or the pane ends that."""
    app = make_app(workspace)
    async with running(app) as pilot:
        await press(pilot, "ctrl+f")
        await type_text(pilot, "deploy")
        await press(pilot, "down", "down")
        before, cursor = found(app), app.screen.listed.cursor
        await press(pilot, "enter", "escape")
        assert isinstance(app.screen, SearchScreen)
        assert (found(app), app.screen.listed.cursor, app.screen.text) == (before, cursor, "deploy")
        await press(pilot, "enter", "1", "escape")
        assert app.screen is app.main_screen


def test_query_and_index_share_one_searcher(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both workers ask for it at once when the search opens; a second one would stay open."""
    both = threading.Barrier(2)

    def made(workspace: Workspace) -> Searcher:
        with suppress(threading.BrokenBarrierError):
            both.wait(0.2)
        return searcher_of(workspace)

    monkeypatch.setattr("app.tui.search.queries.searcher_of", made)
    queries = make_app(workspace).search_queries
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: queries._ready(), range(2))
    assert first is second
    first.close()


@pytest.fixture
def held(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[threading.Event, threading.Event]]:
    """Yield what lets the index be read that is there already, and what lets questions be answered."""
    searcher = searcher_of(workspace)
    assert searcher.update()
    searcher.close()
    events = threading.Event(), threading.Event()
    for name, event in zip(("update", "ask"), events, strict=True):
        monkeypatch.setattr(Searcher, name, _behind(event, getattr(Searcher, name)))
    yield events
    for event in events:
        event.set()


def _behind(event: threading.Event, work: Callable[..., Any]) -> Callable[..., Any]:
    def later(self: Searcher, *arguments: Any, **options: Any) -> Any:
        assert event.wait(PATIENCE)
        return work(self, *arguments, **options)

    return later


async def until(pilot: Pilot[int], check: Callable[[], object]) -> None:
    """Wait for something to be seen while the index is still being read."""
    async with within(lambda: screen_text(pilot.app)):
        while not check():
            await pilot.pause(0.005)


async def ask_and_enter(pilot: Pilot[int], word: str, may_answer: threading.Event) -> None:
    """Type a word and Enter before anything is answered, then wait until the word is."""
    app = pilot.app
    await pilot.press("ctrl+f", *word, "enter")
    await until(pilot, lambda: isinstance(app.screen, SearchScreen) and app.screen._waits)
    may_answer.set()
    screen = app.screen
    assert isinstance(screen, SearchScreen)
    await until(pilot, lambda: screen.answer is not None and screen.answer.query.text == word)
    await pilot.pause()
    assert app.screen is screen
    may_answer.clear()


async def test_enter_waits_for_what_is_still_being_read(
    workspace: Workspace, held: tuple[threading.Event, threading.Event]
) -> None:
    """What was indexed so far holds nothing of it: Enter means what will be found."""
    may_read, may_answer = held
    workspace.change("add", lambda now: add_entry(now, "Zebra seen", [], now=NOW), actor="other", now=NOW)
    app = make_app(workspace)
    async with running(app) as pilot:
        await ask_and_enter(pilot, "zebra", may_answer)
        assert found(app) == []
        # Enter once more finds nothing to take.
        await pilot.press("enter")
        may_answer.set()
        may_read.set()
        await settle(pilot)
        assert app.screen is app.main_screen
        assert app.pane.current().title == "Zebra seen"
