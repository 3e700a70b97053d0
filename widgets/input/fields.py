"""Fields of a form: the question, its editor, and the note shown with it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.dom import DOMNode
from textual.message import Message
from textual.suggester import Suggester
from textual.widget import Widget
from textual.widgets import Input

from memory.base.safe_text import clip, visible
from memory.errors import UsageError

from .editors import Choice, SafeInput, SafeText, hold
from .text_area import SafeTextArea

Kind: TypeAlias = Literal["text", "date", "cron", "tags", "choice", "number", "multiline", "bool"]

YES, NO = "yes", "no"
"""The two values of a field of kind `bool`."""


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """One field of a form. Values are text as in the file; empty means absent.

    `validate` returns an error sentence or None, `hint` a live line about the value (such as the next runs of a
    cron expression; empty for none); both are called on each change and must be quick. `suggestions` complete
    the value, or in a field of kind `tags` the part after the last comma; a function is called in a thread with
    the first key, because it may have much to read. `known=False` marks a field of the file that memdeck does not
    know: it is shown under its own caption and kept. `follows` is the name of another field: `shown` returns for that
    field's value whether this field is asked, and this field is then checked again. A `required` field is marked and
    cannot be left empty; `about` is a sentence for its help.
    """

    name: str
    label: str
    kind: Kind = "text"
    value: str = ""
    options: tuple[str, ...] = ()
    validate: Callable[[str], str | None] | None = None
    hint: Callable[[str], str] | None = None
    suggestions: tuple[str, ...] | Callable[[], tuple[str, ...]] = ()
    placeholder: str = ""
    known: bool = True
    follows: str = ""
    shown: Callable[[str], bool] | None = None
    required: bool = False
    about: str = ""


PLACEHOLDERS: dict[Kind, str] = {
    "date": "fri 14:00, +2d, …",
    "cron": "min hour day mon wday",
    "tags": "comma, separated",
    "number": "a number",
}
"""What an empty field of a kind shows."""

NEEDED = "required"
"""The error of a required field that is empty."""

MARK = "*"
"""The mark after the label of a required field."""

LABEL, NARROW_LABEL = 14, 9
"""Cells of a label, and of one in a narrow form."""

NARROW = 46
"""Forms with fewer cells have narrow labels."""


def usage_error(check: Callable[[], object]) -> str | None:
    """The problem with a value that `check` reads, and the fix; None where it raises no UsageError."""
    try:
        check()
    except UsageError as error:
        return f"{error.message}; {error.hint}" if error.hint else error.message
    return None


class Completion(Suggester):
    """Completes the value, or the part after its last comma, from a list of values."""

    def __init__(self, values: Sequence[str] | Callable[[], Sequence[str]], *, list_of_values: bool) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._values: Sequence[str] = () if callable(values) else tuple(values)
        self._read = values if callable(values) else None
        self._list_of_values = list_of_values

    def _get_suggestion(self, requester: DOMNode, value: str) -> partial[Coroutine[Any, Any, None]]:  # type: ignore[override]
        # If the application ends in between, Python would complain of a coroutine that is never awaited.
        return partial(super()._get_suggestion, requester, value)

    async def get_suggestion(self, value: str) -> str | None:
        """Return the completed value, None when no candidate begins like it."""
        head, comma, last = value.rpartition(",") if self._list_of_values else ("", "", value)
        start = last.lstrip(" ")
        if not start:
            return None
        if self._read is not None:
            self._values, self._read = await asyncio.to_thread(self._read), None
        taken = {part.strip() for part in head.split(",")}
        for candidate in self._values:
            held = hold(candidate)
            if held.casefold().startswith(start.casefold()) and held not in taken and held != start:
                return head + comma + last[: len(last) - len(start)] + start + held[len(start) :]
        return None


class FieldRow(Widget):
    """One field: its label, its editor, and under the editor an error or a hint while there is one."""

    DEFAULT_CSS = f"""
    FieldRow {{
        height: auto;
        & > Horizontal {{ height: auto; }}
        .field--label {{ width: {LABEL}; height: 1; color: $foreground-muted; }}
        .field--note {{ margin-left: {LABEL + 1}; color: $foreground-muted; display: none; }}
        .field--note.-shown {{ display: block; }}
        .field--note.-error {{ color: $error; }}
        &.-focused .field--label {{ color: $accent; text-style: bold; }}
        SafeInput, Choice, SafeTextArea {{ width: 1fr; }}
        &.-narrow .field--note {{ margin-left: 1; }}
        &.-narrow .field--label {{ width: {NARROW_LABEL}; }}
    }}
    """

    @dataclass
    class Edited(Message):
        """The value of this field changed."""

        row: FieldRow

    @dataclass
    class Submitted(Message):
        """Enter was pressed in this field."""

        row: FieldRow

    def __init__(self, spec: FieldSpec) -> None:
        super().__init__()
        self.spec = spec
        self.error = ""
        """The error shown with the field; empty when there is none."""
        self.editor: SafeInput | SafeTextArea | Choice | None = None

    def _make_editor(self) -> SafeInput | SafeTextArea | Choice:
        spec = self.spec
        if spec.kind in ("choice", "bool"):
            return Choice(spec.options or (YES, NO), spec.value)
        # A value of several lines keeps them, even if its kind has one.
        if spec.kind == "multiline" or "\n" in spec.value:
            return SafeTextArea(spec.value)
        completion = Completion(spec.suggestions, list_of_values=spec.kind == "tags") if spec.suggestions else None
        return SafeInput(spec.value, placeholder=self._placeholder, suggester=completion)

    @property
    def value(self) -> str:
        """The value as it would be written; exactly the original while it is not edited."""
        match self.editor:
            case SafeInput() as editor:
                return editor.text
            case SafeTextArea() as editor:
                return editor.content
            case Choice() as editor:
                return editor.chosen
            case None:
                return self.spec.value

    @value.setter
    def value(self, value: str) -> None:
        match self.editor:
            case SafeInput() as editor:
                editor.text = value
            case SafeTextArea() as editor:
                editor.content = value
            case Choice() as editor:
                if value in editor.options:
                    editor.chosen = value

    def compose(self) -> ComposeResult:
        """The label and the editor on one line, the note below."""
        self.editor = self._make_editor()
        with Horizontal():
            yield SafeText(self._label(LABEL), classes="field--label")
            yield self.editor
        yield SafeText(classes="field--note")

    def _label(self, width: int) -> str:
        """The label, cut to `width` cells, and its mark."""
        mark = f" {MARK}" if self.spec.required else ""
        return clip(visible(self.spec.label), width - len(mark)) + mark

    def on_mount(self) -> None:
        """Show the first hint; a missing value is no error before the user has typed."""
        self.refresh_note()

    def edit(self) -> None:
        """Give the editor the focus."""
        if self.editor is not None:
            self.editor.focus()

    def on_descendant_focus(self) -> None:
        """Mark the field that is being edited."""
        self.add_class("-focused")

    def on_descendant_blur(self) -> None:
        """Unmark the field when another one is edited."""
        self.remove_class("-focused")

    def on_resize(self) -> None:
        """Give the editor more of a narrow terminal."""
        narrow = self.size.width < NARROW
        self.set_class(narrow, "-narrow")
        self.query_one(".field--label", SafeText).say(self._label(NARROW_LABEL if narrow else LABEL))
        if isinstance(self.editor, SafeInput):
            room = self.size.width - (NARROW_LABEL if narrow else LABEL) - 2
            self.editor.placeholder = clip(visible(self._placeholder), max(0, room))

    @property
    def _placeholder(self) -> str:
        return self.spec.placeholder or PLACEHOLDERS.get(self.spec.kind, "")

    def check(self) -> bool:
        """Validate the value and refresh the note of the field; True when the value is valid."""
        value = self.value
        error = (self.spec.validate(value) if self.spec.validate else None) or ""
        if self.spec.required and not value.strip():
            error = NEEDED
        self.complain(error)
        return not error

    def refresh_note(self) -> None:
        """Refresh the note because another field changed, not this one; an empty value is no error here."""
        if self.value:
            self.check()
        else:
            self.complain("")

    def complain(self, error: str) -> None:
        """Show an error with the field (empty: no error, the hint is shown again)."""
        self.error = error
        note = self.query_one(".field--note", SafeText)
        text = error or (self.spec.hint(self.value) if self.spec.hint else "")
        note.say(text)
        note.set_class(bool(text), "-shown")
        note.set_class(bool(error), "-error")

    def on_input_changed(self, event: Message) -> None:
        """Handle a change in an editor of any kind."""
        event.stop()
        self.check()
        self.post_message(self.Edited(self))

    on_text_area_changed = on_choice_changed = on_input_changed

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Submit the field on Enter."""
        event.stop()
        self.post_message(self.Submitted(self))

    def key_enter(self, event: events.Key) -> None:
        """Submit a choice on Enter; the other editors send their own message."""
        if isinstance(self.editor, Choice):
            # The focus moves on; the key must not act again in the next field.
            event.stop()
            event.prevent_default()
            self.post_message(self.Submitted(self))
