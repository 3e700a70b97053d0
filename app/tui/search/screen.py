"""The search screen: the query, the hits found while typing, and the keys."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import ClassVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.screen import ModalScreen

from app.tui.shell import Shell
from memory.search.hits import Hit, SearchAnswer
from memory.search.records import FoundEntry
from widgets.chrome.frame import Frame
from widgets.chrome.keys import KeyHints
from widgets.dialogs.finder import Finder, finder_bindings
from widgets.input.editors import SafeInput, SafeText
from widgets.list.line_list import LineList
from widgets.list.rows import Continuation, Heading, Note
from widgets.text.styled_text import Line, Piece, Tone, clip_line, line, line_width, pad_line

SHOWN = 50
"""The most hits that are listed."""

NARROW = 60
"""Columns below which there is no room for the date."""

EXAMPLES = (
    ("deploy staging", "entries with all words, then with some; questions work, too"),
    ('"to staging"', "exactly this phrase"),
    ("-draft", "without this word"),
    ("in:tasks", "one kind or file: tasks, journal, archive, …"),
    ("tag:infra", "with a tag"),
    ("after:7d", "the last seven days; also before:2026-02-01"),
)


class SearchScreen(Finder, ModalScreen["FoundEntry | None"]):
    """Returns the entry that was chosen. Each query is answered in a worker; a newer one makes an older one void."""

    AUTO_FOCUS = "SafeInput"

    DEFAULT_CSS: ClassVar[str] = """
    SearchScreen {
        background: $background;
        layout: vertical;
        #search-line { height: 1; padding: 0 1; background: $surface; }
        #search-line SafeInput { width: 1fr; background: $surface; }
        #search-sign { width: 8; color: $accent; text-style: bold; }
        #search-note { height: auto; max-height: 3; padding: 0 1; color: $foreground-muted; display: none; }
        #search-note.-said { display: block; }
        Frame { height: 1fr; }
        LineList { height: 1fr; }
        KeyHints { dock: bottom; }
        &.-low Frame { border: none; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "open", id="search.choose", tooltip="Go to the entry in its pane", priority=True),
        Binding("escape", "leave", "back", id="search.leave", tooltip="Back to where you were"),
        *finder_bindings("search", "result"),
    ]

    def __init__(
        self,
        find: Callable[[str], SearchAnswer | None],
        told: Callable[[SearchAnswer], tuple[str, bool]],
        *,
        place: Callable[[FoundEntry], str] | None = None,
        over: str = "in everything",
        begin: tuple[str, FoundEntry] | None = None,
    ) -> None:
        """`find` answers a query, in a thread; None: not yet.

        `told` returns what to say beside an answer, and whether more may come because files are still being read.
        `place` returns the words beside a hit (default: its kind), `over` names the searched places. `begin` is the
        query to begin with, and the entry to put the cursor on.
        """
        super().__init__()
        self._place = place or _kind
        self._over = over
        self._begin = begin
        self._find, self._told = find, told
        self._number = 0
        self._answered = 0
        self._waits = False
        """Whether Enter was pressed before the answer to the current query came."""
        self._reading = False
        self._hits: dict[Hashable, Hit] = {}
        self._column = 0
        self.answer: SearchAnswer | None = None
        """The answer on the screen."""

    def compose(self) -> ComposeResult:
        """The query, notes, hits, keys."""
        with Horizontal(id="search-line"):
            yield SafeText("search", id="search-sign")
            yield SafeInput(placeholder=f"words {self._over}")
        yield SafeText(id="search-note")
        with Frame(name="Search"):
            finds = LineList(self._draw)
            finds.can_focus = False
            yield finds
        yield KeyHints()

    def on_mount(self) -> None:
        """Show how to ask, or ask the first query."""
        self._show_start()
        if self._begin is not None:
            self.query_one(SafeInput).value = self._begin[0]

    def on_resize(self) -> None:
        """Leave out the frame if there are few lines."""
        self.set_class(self.app.size.height < 14, "-low")

    @property
    def asked(self) -> str:
        """The query of the answer on the screen; empty where there is none."""
        return "" if self.answer is None else self.answer.query.text

    @property
    def _is_ready(self) -> bool:
        """Whether all widgets are mounted: an answer may come while the screen is built or removed."""
        return self.is_mounted and len(self.query("SafeInput, SafeText, Frame, LineList")) > 4

    # Queries

    def typed(self) -> None:
        """Ask again; text typed after Enter makes it another query."""
        self._waits = False
        self._number += 1
        if self.text.strip():
            self._ask()
        else:
            self._answered = self._number
            self._show_start()

    def ask_again(self) -> None:
        """Run the current query again, because the files or the index changed."""
        if self._is_ready and self.text.strip():
            self._number += 1
            self._ask()

    def _ask(self) -> None:
        text, number, app = self.text, self._number, cast("Shell", self.app)

        def work() -> SearchAnswer | None:
            return self._find(text) if number == self._number else None

        def answered(answer: SearchAnswer | None) -> None:
            if answer is not None:
                remark, reading = self._told(answer)
                self.show(answer, number, remark, reading=reading)

        app.work(work, answered, group="search", exclusive=True)

    def show(self, answer: SearchAnswer, number: int, remark: str = "", *, reading: bool = False) -> None:
        """Show an answer, unless a newer one was shown or the query is empty; while `reading` more may come."""
        if number < self._answered or not self._is_ready or not self.text.strip():
            return
        same = self.answer is not None and self.answer.query == answer.query
        self._answered = number
        self._reading = reading
        self.answer = answer
        self._hits = dict(enumerate(answer.every))
        self._column = max((len(self._place(hit.entry)) for hit in answer.every), default=0)
        self._arrange()
        if not same:
            self.listed.action_first()
        wanted = self._begin and self._begin[1]
        if (found := next((key for key, hit in self._hits.items() if hit.entry == wanted), None)) is not None:
            self.listed.cursor, self._begin = found, None
        count = f"{answer.count}{'+' if answer.more else ''} found" if answer.count else _nothing(answer)
        if answer.count > 1:
            count += f" {self._dot} {'best first' if answer.query.terms else 'newest first'}"
        self._say(count + (f" {self._dot} {remark}" if remark else ""), answer.notes)
        # A late answer to an older query does not count for Enter, and neither does a partial answer.
        if self._waits and number == self._number and not reading:
            self._waits = False
            self.action_choose()

    @property
    def _dot(self) -> str:
        glyphs = getattr(self.app, "glyphs", None)
        return glyphs.dot if glyphs is not None else "·"

    def _say(self, remark: str, notes: Sequence[str] = ()) -> None:
        self.query_one(Frame).say("Search", remark)
        note = self.query_one("#search-note", SafeText)
        low = self.app.size.height < 14
        words = [*([remark] if low and remark else []), *notes]
        note.say((f" {self._dot} " if low else "\n").join(words))
        note.set_class(bool(words), "-said")

    def _show_start(self) -> None:
        """Show examples."""
        self.answer = None
        self._hits = {}
        self._reading = False
        self.listed.set_rows([Note(f"{text:<18}{words}") for text, words in EXAMPLES])
        self._say("search syntax")

    # The list

    def _arrange(self) -> None:
        if self.answer is None:
            return
        rows: list[Hashable] = []
        for key, hit in self._hits.items():
            if key == len(self.answer.hits):
                rows.append(Heading("Some of the words", str(len(self.answer.partial))))
            rows.append(key)
            if hit.snippet != hit.entry.title:
                rows.append(Continuation(key))
        self.listed.set_rows(rows)

    def _draw(self, key: Hashable, width: int) -> Line:
        if isinstance(key, Continuation):
            hit = self._hits[key.owner]
            # Without the sign of a bullet.
            cut = 2 if hit.snippet.startswith("- ") else 0
            marks = [(start - cut, end - cut) for start, end in hit.marks]
            return line("  ", *_marked(hit.snippet[cut:], marks, "muted"))
        hit = self._hits[key]
        entry = hit.entry
        right = line(Piece(self._place(entry), "muted"))
        if width >= NARROW:
            right = line(Piece(f"{entry.date[:10]:<12}", "muted"), pad_line(right, self._column))
        left = clip_line(_marked(entry.title or "(no title)", hit.title_marks), max(0, width - line_width(right) - 2))
        return line(pad_line(left, max(0, width - line_width(right) - 1)), " ", right)

    def action_move(self, step: int) -> None:
        """Move the cursor; Enter then opens the entry under it."""
        self._waits, self._begin = False, None
        super().action_move(step)

    def action_page(self, pages: int) -> None:
        """Move the cursor by pages; Enter then opens the entry under it."""
        self._waits = False
        super().action_page(pages)

    # The end

    def action_choose(self) -> None:
        """Go to the entry under the cursor; wait for the answer to the typed query."""
        if self._answered < self._number or (self._reading and not self._hits):
            # Enter right after the last letter is meant for the current query, not for the previous hits. While files
            # are still being read, another Enter chooses from the hits so far.
            self._waits = True
            return
        if self.listed.cursor in self._hits:
            self.dismiss(self._hits[self.listed.cursor].entry)


def _nothing(answer: SearchAnswer) -> str:
    """Return what to say if nothing matches all words."""
    return "no entry has all words" if answer.partial else "nothing found"


def _kind(entry: FoundEntry) -> str:
    """Return the text of the right column: the kind, and whether it is archived."""
    return f"{entry.kind}, archived" if entry.file.startswith("archive/") else entry.kind


def _marked(text: str, marks: Sequence[tuple[int, int]], tone: Tone = "plain") -> Line:
    """Return the text with the matches underlined."""
    pieces: list[Piece] = []
    at = 0
    for start, end in marks:
        pieces += [Piece(text[at:start], tone), Piece(text[start:end], "link")]
        at = end
    pieces.append(Piece(text[at:], tone))
    return tuple(piece for piece in pieces if piece.text)
