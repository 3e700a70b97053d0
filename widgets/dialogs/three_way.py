"""ThreeWay: a dialog for what two writers changed in the same place, with a key for each choice."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from widgets.chrome.keys import KeyHints
from widgets.input.editors import SafeText

from .dialogs import DIALOG_CSS, Dialog
from .three_way_view import SIDES, Answers, Sides, ThreeWayQuestion, ThreeWayView

__all__ = ["Answers", "Sides", "ThreeWay", "ThreeWayQuestion", "ThreeWayView"]


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
        Binding("enter,ctrl+s", "save", "save", id="three_way.save", tooltip="Write the choices"),
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
            "1 field to choose" if left == 1 else f"{left} fields to choose" if left else "Enter writes your choices."
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
        known = self.view.answers.get(one.name)
        start = (known.text if known else one.mine) or ""
        several = any("\n" in (getattr(one, side) or "").strip("\n") for side in SIDES)
        validate = self._validate.get(one.name)
        spec = FieldSpec("text", one.label, "multiline" if several else "text", start.strip("\n"), validate=validate)

        def typed(values: dict[str, str] | None) -> None:
            if values is not None:
                self.view.answer("edited", values["text"])
                self._say_left()

        self.app.push_screen(Form(f"Instead of both: {one.label}", (spec,)), typed)

    def action_save(self) -> None:
        """Return the answers, once every field has one."""
        if not self.view.open_questions:
            self.dismiss({name: answer.text for name, answer in self.view.answers.items()})
