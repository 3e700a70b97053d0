"""Search queries: one worker queries the index while the user types, another one keeps the index up to date."""

from __future__ import annotations

import threading

from textual.worker import get_current_worker

from app.tui.live.fleet import PANE as FLEET
from app.tui.spine import Part
from memory.errors import MemdeckError
from memory.search.hits import SearchAnswer
from memory.search.query import Query, read_day, read_query
from memory.search.records import FoundEntry
from memory.search.searcher import Searcher
from memory.systems import searcher_of
from widgets.panes import pane_of

from .screen import SHOWN, SearchScreen

AGAIN_SECONDS = 0.5
"""Seconds between repeats of a query while the index grows."""


class SearchQueries(Part):
    """Runs the search. Nothing is imported or opened before the first search."""

    def set_up(self) -> None:
        """Start with no searcher and no screen."""
        self._searcher: Searcher | None = None
        self._lock = threading.Lock()
        self._screen: SearchScreen | None = None
        self._updating = False
        self._again = False
        self._behind = False
        self._everywhere = False
        """Whether all workspaces are searched."""

    def open(self, begin: tuple[str, FoundEntry] | None = None) -> None:
        """Search all memory and the archive."""
        if self._screen is not None:
            return
        pane = self.app.pane
        self._everywhere = pane is not None and pane.pane_id == FLEET
        place, over = (self.app.fleet.place_of, "in all workspaces") if self._everywhere else (None, "in everything")
        self._screen = SearchScreen(self._answer, self._told, place=place, over=over, begin=begin)
        self.app.push_screen(self._screen, self._chosen)
        self.keep_up()

    def _chosen(self, entry: FoundEntry | None) -> None:
        """Go to the entry that was chosen; Escape there leads back to the results."""
        text = "" if self._screen is None else self._screen.asked
        self._screen = None
        if entry is None:
            return
        if self._everywhere:
            self.app.fleet.open_found(entry)
            return
        ref = entry.title if entry.kind == "config" else entry.ref
        pane = self.app.state.mounted.get(pane_of(entry.file) or "")
        if pane is not None and pane.contents is not None and ref and pane.find(ref) is None:
            # Its ref changed after it was indexed, because an entry with the same title came or went.
            ref = None
        self.app.navigation.jump(entry.file, ref or f"line:{entry.line}", lambda: self.open((text, entry)))

    # Queries

    def _answer(self, text: str) -> SearchAnswer | None:
        answer: SearchAnswer | None
        if self._everywhere:
            answer = self.app.fleet.answer(text)
            return answer
        searcher = self._ready()
        query = self._read(text)
        answer = searcher.ask(query, SHOWN)
        if answer is None and not self._updating:
            answer = searcher.search(query, SHOWN)
        elif answer is not None and not answer.hits and text[-1].isalnum():
            # A word of one or two letters is matched whole, but this one may still be typed.
            begun = searcher.ask(self._read(f"{text}*"), SHOWN)
            if begun is not None and begun.hits and not begun.also:
                answer = begun._replace(query=query)
        return answer

    def _read(self, text: str) -> Query:

        today = self.app.clock().astimezone(self.app.zone).date()
        return read_query(text, lambda day: read_day(day, today))

    def _ready(self) -> Searcher:
        """Return the searcher, made on first use: queries and the index share it, and may ask at the same moment."""
        with self._lock:
            if self._searcher is None:
                self._searcher = searcher_of(self.workspace)
            return self._searcher

    def _told(self, _: SearchAnswer) -> tuple[str, bool]:
        """Return what to say beside an answer, and whether the index still grows."""
        if self._updating:
            return "still reading; more may follow", True
        return "without the newest changes" if self._behind else "", False

    # Keeping the index up to date

    def keep_up(self) -> None:
        """Index what changed, in a worker; afterwards run the query on the screen again."""
        if self._updating:
            self._again = True
            return
        if self._searcher is None and self._screen is None:
            return
        self._updating = True
        self._again = False
        self.app.work(self._update, self._indexed, self._not_indexed, group="index")
        self.app.set_timer(AGAIN_SECONDS, self._ask_again)

    def _update(self) -> bool:
        if self._everywhere:
            return bool(self.app.fleet.keep_up())
        worker = get_current_worker()
        return self._ready().update(lambda: not worker.is_cancelled and self.app.is_running)

    def _not_indexed(self, error: MemdeckError) -> None:
        """Say why the index is not up to date."""
        self.app.say_error(error)
        self._indexed(done=False)

    def _indexed(self, done: bool) -> None:
        """Note whether the index is up to date."""
        self._updating = False
        self._behind = not done
        if self._again:
            self.keep_up()
        elif self._screen is not None:
            self._screen.ask_again()

    def _ask_again(self) -> None:
        """Run the query again while the index is still growing."""
        if self._updating and self._screen is not None:
            self._screen.ask_again()
            self.app.set_timer(AGAIN_SECONDS, self._ask_again)

    def files_changed(self, _names: frozenset[str] = frozenset()) -> None:
        """Update the search screen after files changed."""
        if self._screen is not None:
            self.keep_up()

    def stop(self) -> None:
        """Close the index."""
        if self._searcher is not None and not self._updating:
            self._searcher.close()
