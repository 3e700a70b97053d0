"""ThreeWay: a dialog for what two writers changed in the same place, side by side or stacked, a key for each choice."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from memory.base.safe_text import visible
from widgets.chrome.keys import KeyHints
from widgets.detail import LineView
from widgets.input.editors import SafeText
from widgets.text.styled_text import Line, Piece, Tone, line, line_width, pad_line, wrap_line

from .dialogs import DIALOG_CSS, Dialog

COLUMNS = 66
"""Cells from which the three sides are shown side by side."""

NOTHING = "nothing"
"""The text shown for an empty side."""


@dataclass(frozen=True, slots=True)
class ThreeWayQuestion:
    """One place that both sides changed. A side without a text there is None.

    `name` is unique among the questions of a dialog, `label` is the shown name of the place, `group` that of its entry.
    """

    name: str
    label: str
    base: str | None
    mine: str | None
    theirs: str | None
    group: str = ""


class Sides(NamedTuple):
    """The shown names of the three sides."""

    base: str = "before"
    mine: str = "mine"
    theirs: str = "theirs"


Answers = dict[str, "str | None"]
"""The chosen text of each question by its name; None: nothing."""


class ThreeWayView(LineView):
    """Draws questions with their three sides; the cursor is on one question.

    | Component class | Styles |
    | :- | :- |
    | `three-way--cursor` | the question that a choice applies to |
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"three-way--cursor"}

    DEFAULT_CSS = """
    ThreeWayView {
        &:nocolor > .three-way--cursor { text-style: reverse; }
        & > .three-way--cursor { background: $block-cursor-background; color: $block-cursor-foreground; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "move(1)", "next", id="three_way.next", tooltip="Go to the next field", show=False),
        Binding("k,up", "move(-1)", "before", id="three_way.previous", tooltip="Go to the previous field", show=False),
    ]

    def __init__(self, questions: Sequence[ThreeWayQuestion], sides: Sides, *, classes: str | None = None) -> None:
        super().__init__(classes=classes)
        self._questions, self._sides = tuple(questions), sides
        self.answers: dict[str, tuple[str, str | None]] = {}
        """The side that was chosen for a question, and its text, by the name of the question."""
        self.position = 0
        self._spans: list[tuple[int, int]] = []

    @property
    def current(self) -> ThreeWayQuestion:
        """The question under the cursor."""
        return self._questions[self.position]

    @property
    def open_questions(self) -> int:
        """How many questions are not answered."""
        return sum(one.name not in self.answers for one in self._questions)

    def answer(self, side: str, text: str | None) -> None:
        """Answer the question under the cursor and go to the next one that is open."""
        self.answers[self.current.name] = side, text
        count = len(self._questions)
        for step in range(1, count):
            place = (self.position + step) % count
            if self._questions[place].name not in self.answers:
                self.position = place
                break
        self.lay_out_again(top=False)
        self._show()

    def answer_all(self, side: str) -> None:
        """Answer every question with one side."""
        for one in self._questions:
            self.answers[one.name] = side, getattr(one, side)
        self.lay_out_again(top=False)

    def action_move(self, step: int) -> None:
        """Go to another question; past the first or last one, scroll."""
        place = self.position + step
        if 0 <= place < len(self._questions):
            self.position = place
            self.refresh()
            self._show()
        else:
            self.action_scroll_by(step)

    def _show(self) -> None:
        """Bring the question under the cursor into view, its beginning first."""
        if not self._spans:
            return
        start, end = self._spans[self.position]
        top, height = round(self.scroll_y), max(1, self.scrollable_content_region.height)
        if start < top or end > top + height:
            self.scroll_to(y=start if end - start > height or start < top else end - height, animate=False, force=True)

    def marked_lines(self) -> tuple[range, str]:
        """Mark the question under the cursor."""
        alone = not self._spans or len(self._questions) == 1
        return range(0) if alone else range(*self._spans[self.position]), "three-way--cursor"

    def lay_out(self, width: int) -> Sequence[Line]:
        """Lay out each question with its sides, in columns if there is room."""
        width = max(1, width - 1)
        rows: list[Line] = []
        self._spans = []
        wide = width >= COLUMNS
        if wide:
            rows.append(self._head(width))
        group = ""
        for number, one in enumerate(self._questions):
            if one.group != group:
                group = one.group
                if rows and len(rows) > 1:
                    rows.append(())
                rows += wrap_line(line(Piece(group, "strong")), width)
            start = len(rows)
            rows += self._columns(one, width) if wide else self._stack(one, width)
            self._spans.append((start, len(rows)))
            if number + 1 < len(self._questions) and not wide:
                rows.append(())
        return rows

    def _head(self, width: int) -> Line:
        column = _column(width)
        cells = [pad_line(line(Piece(f"  {name.upper()}", "heading")), column) for name in self._sides]
        return line(Piece(" "), cells[0], " ", cells[1], " ", cells[2])

    def _columns(self, one: ThreeWayQuestion, width: int) -> list[Line]:
        column = _column(width)
        rows: list[Line] = [line(" ", self._label(one))]
        cells = [self._side(one, side, column - 2, line(self._sign(one, side))) for side in SIDES]
        for texts in zip_longest(*cells, fillvalue=()):
            rows.append(line(" ", *(part for text in texts for part in (pad_line(text, column), " "))))
        return [*rows, *self._edited(one, width)]

    def _stack(self, one: ThreeWayQuestion, width: int) -> list[Line]:
        rows: list[Line] = [line(self._label(one))]
        column = max(map(len, self._sides))
        for side, name in zip(SIDES, self._sides, strict=True):
            sign = self._sign(one, side)
            rows += self._side(one, side, width - column - 4, line(sign, Piece(f"{name:<{column}}  ", sign.tone)))
        return [*rows, *self._edited(one, width)]

    def _side(self, one: ThreeWayQuestion, side: str, width: int, head: Line) -> list[Line]:
        """The lines of a side in `width` cells, behind the head of the first one."""
        lines = _lines(getattr(one, side), self._tone(one, side), max(1, width))
        return [line(" " * line_width(head) if number else head, text) for number, text in enumerate(lines)]

    def _edited(self, one: ThreeWayQuestion, width: int) -> list[Line]:
        """The lines of a text typed instead of the three sides."""
        if self._chosen(one) != "edited":
            return []
        lines = _lines(self.answers[one.name][1], "strong", max(1, width - 13))
        head = line(Piece(f" {self.glyphs.mark} ", "accent"), Piece("edited    ", "accent"))
        return [line(head if number == 0 else " " * 13, text) for number, text in enumerate(lines)]

    def _label(self, one: ThreeWayQuestion) -> Line:
        if one.name in self.answers:
            return line(Piece(one.label, "strong"))
        return line(Piece(one.label, "strong"), Piece("  both changed it", "warn"))

    def _chosen(self, one: ThreeWayQuestion) -> str:
        return self.answers.get(one.name, ("", None))[0]

    def _sign(self, one: ThreeWayQuestion, side: str) -> Piece:
        chosen = self._chosen(one) == side
        return Piece(f"{self.glyphs.mark if chosen else ' '} ", "accent" if chosen else "muted")

    def _tone(self, one: ThreeWayQuestion, side: str) -> Tone:
        if getattr(one, side) is None:
            return "muted"
        chosen = self._chosen(one)
        if chosen:
            return "strong" if chosen == side else "muted"
        return "muted" if side == "base" else "plain"


SIDES = Sides._fields
"""The attributes of a question that are sides, in the order of the columns."""


def _column(width: int) -> int:
    return max(1, (width - 3) // 3)


def _lines(text: str | None, tone: Tone, width: int) -> list[Line]:
    """A side's text, wrapped; `NOTHING` for an empty one."""
    if text is None or not text.strip():
        text, tone = NOTHING, "muted"
    return [
        row
        for part in visible(text.strip("\n"), newlines=True).split("\n")
        for row in (wrap_line(line(Piece(part, tone)), width) or [()])
    ]


class ThreeWay(Dialog, ModalScreen[Answers | None]):
    """Asks about each place that both sides changed; returns the answers, None when left with Escape."""

    DEFAULT_CSS = f"""
    ThreeWay {{
        {DIALOG_CSS}
        & > .dialog {{ max-width: 112; }}
        .dialog--note {{ color: $foreground-muted; margin-bottom: 1; }}
        .dialog--left {{ color: $foreground-muted; margin-top: 1; }}
        .dialog--left.-open {{ color: $warning; }}
        KeyHints {{ margin-top: 1; }}
        &.-low .dialog--note {{ display: none; }}
        &.-low .dialog--left {{ margin-top: 0; }}
        &.-low KeyHints {{ margin-top: 0; }}
        &.-flat .dialog--left {{ display: none; }}
    }}
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("m", "choose('mine')", "mine", id="three_way.mine", tooltip="Take mine for this field"),
        Binding("t", "choose('theirs')", "theirs", id="three_way.theirs", tooltip="Take theirs for this field"),
        Binding("b", "choose('base')", "before", id="three_way.base", tooltip="Take the text before both changes"),
        Binding("e", "edit", "edit", id="three_way.edit", tooltip="Type something else for this field"),
        Binding("enter,ctrl+s", "save", "save", id="three_way.save", tooltip="Save your choices"),
        Binding("escape", "leave", "cancel", id="three_way.leave", tooltip="Write nothing"),
        Binding("M", "all('mine')", "all mine", id="three_way.all_mine", tooltip="Take mine everywhere"),
        Binding("T", "all('theirs')", "all theirs", id="three_way.all_theirs", tooltip="Take theirs everywhere"),
    ]

    def __init__(
        self,
        title: str,
        questions: Sequence[ThreeWayQuestion],
        *,
        note: str = "",
        sides: Sides | None = None,
        validate: Mapping[str, Callable[[str], str | None] | None] | None = None,
    ) -> None:
        """`note` explains how the conflict arose; `sides` name columns and keys; `validate` maps the name of a question
        to the check of its edited text.
        """
        super().__init__()
        self.heading, self._questions, self._note = title, tuple(questions), note
        self._sides = sides or Sides()
        self._validate = dict(validate or {})
        for key, name in zip("bmt", self._sides, strict=True):
            self.describe(key, name)

    def parts(self) -> ComposeResult:
        """Yield the note, the questions, and how many are left."""
        if self._note:
            yield SafeText(self._note, classes="dialog--note")
        yield ThreeWayView(self._questions, self._sides, classes="dialog--body")
        yield SafeText(classes="dialog--left")

    def key_hints(self) -> KeyHints:
        """The keys; those that save and leave are always among them."""
        return KeyHints(indent=0, pinned=("three_way.save", "three_way.leave"))

    @property
    def view(self) -> ThreeWayView:
        """The view with the questions."""
        return self.query_one(ThreeWayView)

    def on_mount(self) -> None:
        """Focus the questions."""
        self.view.focus()
        self._say_left()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Hide the keys for all questions if there is only one; disable `save` while a question is open."""
        if action == "all":
            return len(self._questions) > 1
        if action == "save" and self.is_mounted:
            return True if not self.view.open_questions else None
        return True

    def _say_left(self) -> None:
        left = self.view.open_questions
        words = (
            "1 field to choose" if left == 1 else f"{left} fields to choose" if left else "Enter saves your choices."
        )
        note = self.query_one(".dialog--left", SafeText)
        note.say(words)
        note.set_class(bool(left), "-open")
        self.refresh_bindings()

    def action_choose(self, side: str) -> None:
        """Take a side for the field under the cursor."""
        self.view.answer(side, getattr(self.view.current, side))
        self._say_left()

    def action_all(self, side: str) -> None:
        """Take a side everywhere."""
        self.view.answer_all(side)
        self._say_left()

    def action_edit(self) -> None:
        """Edit the text of the field under the cursor, beginning with its answer, or with mine if there is none."""
        from widgets.input.fields import FieldSpec
        from widgets.input.form import Form

        one = self.view.current
        start = self.view.answers.get(one.name, ("", one.mine))[1] or ""
        several = any("\n" in (getattr(one, side) or "").strip("\n") for side in SIDES)
        validate = self._validate.get(one.name)
        spec = FieldSpec("text", one.label, "multiline" if several else "text", start.strip("\n"), validate=validate)

        def typed(values: dict[str, str] | None) -> None:
            if values is not None:
                self.view.answer("edited", values["text"])
                self._say_left()

        self.app.push_screen(Form(f"Your own text: {one.label}", (spec,)), typed)

    def action_save(self) -> None:
        """Return the answers, once every field has one."""
        if not self.view.open_questions:
            self.dismiss({name: text for name, (_, text) in self.view.answers.items()})
