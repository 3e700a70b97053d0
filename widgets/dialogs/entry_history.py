"""EntryHistory: the versions of one entry, newest first, and what restoring one of them would change."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.screen import ModalScreen

from memory.base.safe_text import visible
from widgets.detail import LineView
from widgets.input.editors import SafeText
from widgets.list.line_list import LineList
from widgets.panes.changes import diff_lines, plain_actor
from widgets.text.styled_text import Column, Columns, Line, Piece, line

from .dialogs import DIALOG_CSS, Dialog

WIDE = 84
"""Columns of the terminal from which versions and text are side by side."""

ROW = Columns(Column("time", 12, importance=3), Column("actor", 9, importance=1), Column("words", minimum=10))
"""The columns of a version."""


@dataclass(frozen=True, slots=True)
class VersionRow:
    """One version: `lines` are the diff from the current text (`-`) to the text of then (`+`).

    `known` False: its text is no longer kept; `there` False: the entry did not exist; `present`: it is the current one.
    `did`: `lines` are the diff of the change itself, for entries that cannot be restored one by one.
    """

    time: datetime
    actor: str
    words: str
    undone: bool = False
    known: bool = True
    there: bool = True
    present: bool = False
    lines: tuple[str, ...] = ()
    text: str = ""
    did: bool = False


class EntryHistory(Dialog, ModalScreen[int | None]):
    """Returns the place of the version to restore; None for none."""

    DEFAULT_CSS: ClassVar[str] = f"""
    EntryHistory {{
        {DIALOG_CSS}
        & > .dialog {{ width: 96%; max-width: 130; height: 90%; }}
        .history--body {{ height: 1fr; layout: vertical; }}
        .history--list {{ height: 2fr; }}
        .history--text {{ height: 3fr; }}
        .history--note {{ height: 1; color: $foreground-muted; }}
        .history--right {{ height: 3fr; border-top: solid $border-blurred; }}
        &.-side .history--body {{ layout: horizontal; }}
        &.-side .history--list {{ width: 5fr; height: 1fr; }}
        &.-side .history--right {{
            width: 6fr; height: 1fr; border-top: none; border-left: solid $border-blurred; padding-left: 1;
        }}
        .history--text {{ height: 1fr; }}
        &.-short > .dialog {{ width: 100%; height: 100%; .dialog--title {{ margin-bottom: 0; max-height: 1; }} }}
        &.-short .history--right {{ border-top: none; }}
        KeyHints {{ margin-top: 1; }}
        &.-short KeyHints {{ margin-top: 0; }}
    }}
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("B", "bring_back", "bring back", id="history.bring_back", tooltip="Give the entry this text again"),
        Binding("tab", "other", "other side", id="history.other", tooltip="Go to the text, or back to the versions"),
        Binding("escape,q,H", "leave", "close", id="history.leave", tooltip="Close the history"),
    ]

    def __init__(self, title: str, versions: Sequence[VersionRow], now: datetime, zone: tzinfo) -> None:
        """`versions`: newest first; dates in the year of `now` are shown without their year."""
        super().__init__()
        self.heading = f"History: {title}"
        self._versions, self._now, self._zone = tuple(versions), now, zone

    def parts(self) -> ComposeResult:
        """Yield the versions beside (or above) what restoring one would change."""
        with Container(classes="history--body"):
            yield LineList(self._draw, tuple(range(len(self._versions))), classes="history--list")
            with Vertical(classes="history--right"):
                yield SafeText(classes="history--note")
                yield LineView(classes="history--text")

    @property
    def versions(self) -> LineList:
        """The list of versions."""
        return self.query_one(LineList)

    def on_mount(self) -> None:
        """Begin with the newest version that differs from the current text."""
        other = next((place for place, one in enumerate(self._versions) if one.there and not one.present), 0)
        self.versions.focus()
        self.versions.cursor = other
        self._show()

    def on_resize(self) -> None:
        """Show list and text side by side if there is room."""
        size = self.app.size
        self.set_class(size.width >= WIDE, "-side")
        self.set_class(size.height < 16, "-short")
        self.set_class(size.width < 50, "-narrow")

    def _draw(self, key: Hashable, width: int) -> Line:
        one = self._versions[int(str(key))]
        local = one.time.astimezone(self._zone)
        year = "" if local.year == self._now.astimezone(self._zone).year else f" {local.year}"
        time = f"{local.day} {local:%b}{year}" if year else f"{local.day:>2} {local:%b %H:%M}"
        words = Piece(one.words, "muted" if one.undone or not one.known else "plain")
        present = Piece("now  " if one.present else "", "accent")
        own = one.actor in ("human", "cli")
        actor = Piece(plain_actor(one.actor).removeprefix("agent:"), "muted" if own else "accent")
        return ROW.line(width, {"time": Piece(time, "muted"), "actor": actor, "words": line(present, words)})

    @property
    def current(self) -> tuple[int, VersionRow] | None:
        """The version under the cursor."""
        cursor = self.versions.cursor
        return None if cursor is None else (int(str(cursor)), self._versions[int(str(cursor))])

    def _show(self) -> None:
        found = self.current
        if found is None:
            return
        one = found[1]
        if not one.known:
            note, lines = "Its text is no longer kept.", []
        elif one.did:
            note, lines = "What this change did; X in Changes takes it back:", diff_lines(one.lines)
        elif one.present:
            note = "What it says now:"
            lines = [line(Piece(text)) for text in visible(one.text.rstrip(), newlines=True).split("\n")]
        elif not one.there:
            note, lines = "The entry did not exist.", []
        else:
            note, lines = "B would change:", diff_lines(one.lines)
        self.query_one(".history--note", SafeText).say(note)
        self.query_one(".history--text", LineView).set_content(lines)
        self.refresh_bindings()

    def on_line_list_highlighted(self, event: LineList.Highlighted) -> None:
        """Show another version."""
        event.stop()
        if self.is_mounted:
            self._show()

    def on_line_list_opened(self, event: LineList.Opened) -> None:
        """Focus the text of the version on Enter."""
        event.stop()
        self.query_one(".history--text", LineView).focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Disable restoring for versions that cannot be restored, such as the current text or one no longer kept."""
        if action == "bring_back" and self.is_mounted:
            found = self.current
            return True if found is not None and _comes_back(found[1]) else None
        return True

    def action_bring_back(self) -> None:
        """Return the place of the version under the cursor."""
        found = self.current
        if found is not None and _comes_back(found[1]):
            self.dismiss(found[0])

    def action_other(self) -> None:
        """Move the focus from the versions to the text or back."""
        text = self.query_one(".history--text", LineView)
        (self.versions if text.has_focus else text).focus()

    def action_leave(self) -> None:
        """Close; from the text, first go back to the versions."""
        if self.versions.has_focus:
            self.dismiss(None)
        else:
            self.versions.focus()


def _comes_back(one: VersionRow) -> bool:
    return one.known and one.there and not one.present and not one.did
