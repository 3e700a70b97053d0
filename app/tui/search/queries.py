"""Search queries: asks the index in a worker while a person types, and keeps it up to date in another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.worker import get_current_worker

from app.tui.part import Part
from widgets.panes import pane_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.tui.navigation import Navigation
    from app.tui.pane_state import PaneState
    from app.tui.shell import Shell
    from memory.errors import MemdeckError
    from memory.search import FoundEntry, Query, SearchAnswer
    from memory.search.searcher import Searcher

    from .screen import SearchScreen

LONGEST_HISTORY = 20
"""Queries that are remembered."""

AGAIN_SECONDS = 0.5
"""How often a query is asked again while the index grows."""


class SearchQueries(Part):
    """Nothing is imported or opened before the first search."""

    def __init__(self, app: Shell, navigation: Navigation, pane_state: PaneState) -> None:
        """Nothing was asked yet."""
        super().__init__(app)
        self._navigation, self._pane_state = navigation, pane_state
        self._searcher: Searcher | None = None
        self._screen: SearchScreen | None = None
        self._newest = 0
        self._updating = False
        self._again = False
        self._behind = False
        self._history: list[str] | None = None
        self.instead: dict[str, Callable[[], None]] = {}
        """What searches where another pane is open: by its id."""

    @property
    def history(self) -> list[str]:
        """What was asked before, the newest first."""
        if self._history is None:
            self._history = list(self._pane_state.searches)
        return self._history

    def open(self) -> None:
        """Open the search screen; what is new since the last time is indexed meanwhile."""
        from .screen import SearchScreen

        pane = self.app.pane
        if pane is not None and pane.pane_id in self.instead:
            self.instead[pane.pane_id]()
            return
        if self._screen is not None:
            return
        self._newest = 0
        self._screen = SearchScreen(self.ask, self.history)
        self.app.push_screen(self._screen, self._chosen)
        self.keep_up()

    def _chosen(self, entry: FoundEntry | None) -> None:
        """Go to what was chosen."""
        screen, self._screen = self._screen, None
        if screen is not None and screen.answer is not None and (entry is not None or screen.answer.every):
            text = screen.answer.query.text.strip()
            self._history = [text, *(one for one in self.history if one != text)][:LONGEST_HISTORY]
        if entry is None:
            return
        ref = entry.title if entry.kind == "config" else entry.ref
        pane = self.app.panes.mounted.get(pane_of(entry.file) or "")
        if pane is not None and pane.contents is not None and ref and pane.find(ref) is None:
            # A twin that came or went gave it another ref since it was indexed.
            ref = None
        self._navigation.jump(entry.file, ref or f"line:{entry.line}")

    # Asking

    def ask(self, text: str, number: int) -> None:
        """Answer in a worker; what is asked meanwhile makes the older question void."""
        self._newest = number

        def answered(answer: SearchAnswer | None) -> None:
            if answer is not None:
                self._found(answer, number)

        self.app.work(lambda: self._answer(text, number), answered, group="search", exclusive=True)

    def _answer(self, text: str, number: int) -> SearchAnswer | None:
        if number != self._newest:
            return None
        searcher = self._ready()
        query = self._read(text)
        answer: SearchAnswer | None = searcher.ask(query, self._limit)
        if answer is None and not self._updating:
            answer = searcher.scan(query, self._limit)
        elif answer is not None and not answer.hits and text[-1].isalnum():
            # A word of one or two letters is taken whole, but this one may still be typed.
            begun = searcher.ask(self._read(f"{text}*"), self._limit)
            if begun is not None and begun.hits and not begun.also:
                answer = begun._replace(query=query)
        return answer

    @property
    def _limit(self) -> int:
        from .screen import SHOWN

        return SHOWN

    def _read(self, text: str) -> Query:
        from memory.search import read_day, read_query

        today = self.app.clock().astimezone(self.app.zone).date()
        return read_query(text, lambda day: read_day(day, today))

    def _ready(self) -> Searcher:
        if self._searcher is None:
            from memory.systems import searcher_of

            assert self.app.workspace is not None
            self._searcher = searcher_of(self.app.workspace)
        return self._searcher

    def _found(self, answer: SearchAnswer, number: int) -> None:
        """Show an answer."""
        if self._screen is not None:
            remark = ""
            if self._updating:
                remark = "still reading, more may come"
            elif self._behind and answer.source == "index":
                remark = "without the newest changes"
            self._screen.show(answer, number, remark, reading=self._updating)

    # Keeping up

    def keep_up(self) -> None:
        """Index what is different by now, in a worker; afterwards what is typed is asked again."""
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
        worker = get_current_worker()
        return self._ready().update(lambda: not worker.is_cancelled and self.app.is_running, learn=True)

    def _not_indexed(self, error: MemdeckError) -> None:
        """Say why the index is not up to date; each question reads everything then."""
        self.app.say_error(error)
        self._indexed(done=False)

    def _indexed(self, done: bool) -> None:
        """The index is up to date; or it cannot be had, and everything is read for each question."""
        self._updating = False
        self._behind = not done
        if self._again:
            self.keep_up()
        elif self._screen is not None:
            self._screen.ask_again()

    def _ask_again(self) -> None:
        """Show what was indexed since."""
        if self._updating and self._screen is not None:
            self._screen.ask_again()
            self.app.set_timer(AGAIN_SECONDS, self._ask_again)

    def files_changed(self, _names: frozenset[str] = frozenset()) -> None:
        """Files are others now: what is on the search screen follows."""
        if self._screen is not None:
            self.keep_up()

    def stop(self) -> None:
        """Close the index."""
        if self._searcher is not None and not self._updating:
            self._searcher.close()
