"""ConsentScreen: shows everything that a decision covers, and asks a question whose default answer is no."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from memory.base.safe_text import cell_width
from widgets.detail import LineView
from widgets.input.editors import SafeText
from widgets.text.styled_text import EMPTY, Line, Piece, cut_text, line, wrap_line

from .dialogs import DIALOG_CSS, Dialog

if TYPE_CHECKING:
    from memory.trust.view import ConsentView

APPROVE, DENY = "approve", "deny"
"""What the screen returns; None when the person left."""
_BAR = "│ "

NARROW = 46
"""Cells below which the values follow their labels closely."""
LONG = 100
"""Cells of a question from which it is the beginning of the text: the title has no room for it in a small terminal."""


class ConsentLines(LineView):
    """The lines of a question; it records whether the last one was ever on the screen."""

    def __init__(self, view: ConsentView, *, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self._view = view
        self._was_at_end = False

    @property
    def read_to_end(self) -> bool:
        """Whether the last line was on the screen."""
        return self._was_at_end or round(self.scroll_y) >= self.max_scroll_y

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Record when the end is reached."""
        super().watch_scroll_y(old_value, new_value)
        self._was_at_end = self._was_at_end or round(new_value) >= self.max_scroll_y

    def lay_out(self, width: int) -> Sequence[Line]:
        """Lay out the command, cut at the edge without losing a space of it, then the remarks about it."""
        return list(_lines(self._view, width))


def _lines(view: ConsentView, width: int) -> Iterator[Line]:
    if cell_width(view.question) > LONG:
        yield from (*wrap_line(line(view.question), width), EMPTY)
    for text in view.text:
        for part in cut_text(text, max(8, width - len(_BAR))):
            yield line(Piece(_BAR, "accent"), Piece(part, "strong"))
    yield EMPTY
    if not view.approvable:
        yield from wrap_line(line(Piece(f"! Refused: {view.why}", "alert")), width, indent=2)
    for warning in view.warnings:
        yield from wrap_line(line(Piece(f"! {warning}", "warn")), width, indent=2)
    if view.warnings or not view.approvable:
        yield EMPTY
    column = 14 if width >= NARROW else 9
    files = [("file", line(path, Piece(f"  {said}", "muted"))) for path, said in view.files]
    for label, value in (*((label, line(value)) for label, value in view.facts), *files):
        yield from wrap_line(line(Piece(f"{label:<{column - 1}} ", "muted"), *value), width, indent=column)
    if view.diff:
        yield EMPTY
        yield line(Piece("CHANGED SINCE IT WAS APPROVED", "heading"))
        for change in view.diff:
            tone = {"-": "alert", "+": "good"}.get(change.sign, "muted")
            for part in cut_text(f"{change.sign} {change.text}", max(8, width)):
                yield line(Piece(part, tone))  # type: ignore[arg-type]


class ConsentScreen(Dialog, ModalScreen[str | None]):
    """Asks about one thing. Only its own key approves, and only after the last line was on the screen.

    Keys count only from the moment the question is visible, no matter what opened it. A question that follows another
    one takes Enter first: a second `y`, meant to confirm the answer before, decides nothing.
    """

    DEFAULT_CSS = f"""
    ConsentScreen {{
        {DIALOG_CSS}
        & > .dialog {{ max-width: 90; border: round $warning; }}
        KeyHints {{ margin-top: 1; }}
        .consent--note {{ color: $warning; height: auto; display: none; }}
        .consent--note.-said {{ display: block; }}
        &.-low KeyHints {{ margin-top: 0; }}
        &.-low > .dialog .dialog--title {{ max-height: 3; text-wrap: wrap; }}
    }}
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "approve", "approve", id="consent.approve", tooltip="Approve exactly this"),
        Binding("enter", "begin", "answer", id="consent.begin", tooltip="Answer the next question of several"),
        Binding("n,enter", "answer('skip')", "skip", id="consent.no", tooltip="Decide later"),
        Binding("r,d", "deny", "deny", id="consent.deny", tooltip="Deny it and do not ask again"),
        Binding("escape,q", "leave", "cancel", id="consent.leave", tooltip="Leave this and all later questions"),
    ]

    def __init__(self, view: ConsentView, *, place: str = "", follows: bool = False) -> None:
        """`place` is the number of this question among all, shown after the question; it `follows` another one."""
        super().__init__()
        self._view = view
        number = f"  ({place})" if place else ""
        self.heading = (view.question if cell_width(view.question) <= LONG else "Needs your approval") + number
        self.deaf_until = math.inf
        self._begun = not follows
        if not place:
            # With one question, to skip it and to cancel are the same.
            for key in ("n", "enter"):
                self.describe(key, "")

    def parts(self) -> ComposeResult:
        """Yield what the question covers, and a note."""
        yield ConsentLines(self._view, classes="dialog--body")
        yield SafeText(classes="consent--note")

    def on_mount(self) -> None:
        """Focus the text, so that it scrolls at once."""
        self.query(ConsentLines).focus()
        if not self._begun:
            self._note("The next question: press Enter, then answer it.")

    def _note(self, words: str) -> None:
        note = self.query_one(".consent--note", SafeText)
        note.say(words)
        note.set_class(bool(words), "-said")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Hide the keys to approve and deny before the question begins and where approval is impossible, and to deny
        where there is no id.
        """
        if action == "begin":
            return not self._begun
        if action == "deny" and not self._view.id:
            return False
        return action not in ("approve", "deny") or (self._begun and self._view.approvable)

    def action_begin(self) -> None:
        """Let the keys decide this question."""
        self._begun = True
        self._note("")
        self.refresh_bindings()

    def action_approve(self) -> None:
        """Approve, if the last line was on the screen; else scroll on."""
        lines = self.query_one(ConsentLines)
        if lines.read_to_end:
            self.dismiss(APPROVE)
        else:
            self._note("Read to the end first: this key scrolls on.")
            lines.action_scroll_page(1)

    def action_deny(self) -> None:
        """Deny for good."""
        self.dismiss(DENY)

    def action_answer(self, answer: str) -> None:
        """Leave this question with an answer."""
        self.dismiss(answer)
