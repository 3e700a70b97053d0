"""Form: the fields of one entry, one a line, with errors and live hints beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.message import Message
from textual.screen import ModalScreen

from widgets.chrome.keys import KeyHints, with_keys
from widgets.dialogs.dialogs import DIALOG_CSS, Dialog
from widgets.dialogs.pick import Confirm

from .editors import SafeInput, SafeText
from .fields import MARK, NEEDED, FieldRow, FieldSpec

SAVE = Binding.Group("save")
"""The keys that save; a form of one field names both."""

ROOMY = 22
"""In terminals with as many lines, the sentence of the edited field has one of them."""

Values = dict[str, str]
"""The values of a form by field name, as text."""


class Fields(VerticalScroll, inherit_bindings=False):
    """The fields of a form; it has no keys of its own, and scrolls by following the focus."""


class Form(Dialog, ModalScreen[Values | None]):
    """Edits the fields of one entry; returns all values when saved, None when left.

    ctrl+s saves, Enter goes to the next field and saves on the last one, Escape leaves and asks first when
    something was changed. `check` gets all values before saving and returns an error sentence by field name (the one
    under "" is shown at the form's foot); while there are errors, the form stays open.
    """

    DEFAULT_CSS = f"""
    Form {{
        {DIALOG_CSS}
        .form--fields {{ scrollbar-size-vertical: 1; }}
        .form--caption {{ color: $foreground-muted; text-style: bold; margin-top: 1; }}
        .form--note {{ color: $foreground-muted; margin-bottom: 1; display: none; }}
        .form--note.-shown {{ display: block; }}
        .form--note.-changed {{ color: $warning; text-style: bold; }}
        &.-low .form--note {{ margin-bottom: 0; max-height: 1; }}
        .form--error {{ color: $error; display: none; }}
        .form--error.-shown {{ display: block; }}
        .form--about {{ color: $foreground-muted; height: 1; margin-top: 1; }}
        .form--about {{ text-wrap: nowrap; text-overflow: ellipsis; }}
        KeyHints {{ margin-top: 1; }}
        &.-low KeyHints {{ margin-top: 0; }}
        &.-flat KeyHints {{ display: none; }}
    }}
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "save_one", "save", id="form.save_one", tooltip="Save", priority=True, group=SAVE),
        Binding("ctrl+s,f2", "save", "save", id="form.save", tooltip="Save", priority=True, group=SAVE),
        Binding("escape", "leave", "cancel", id="form.leave", tooltip="Leave without saving"),
        Binding("down", "next", "next field", id="form.next", tooltip="Go to the next field", show=False),
        Binding("up", "previous", "previous field", id="form.previous", tooltip="Go to the previous field", show=False),
    ]

    @dataclass
    class Edited(Message):
        """A value changed; carries all values typed so far, for a draft."""

        form: Form
        values: Values

        def can_replace(self, message: Message) -> bool:
            """Only the last state of a burst matters."""
            return isinstance(message, Form.Edited) and message.form is self.form

    def __init__(
        self,
        title: str,
        fields: Sequence[FieldSpec],
        *,
        check: Callable[[Values], Mapping[str, str]] | None = None,
        draft: Mapping[str, str] | None = None,
        focus: str | None = None,
        note: str = "",
        does: str = "save",
    ) -> None:
        """`draft`: values to begin with instead of the fields' own; `focus`: the field to begin in; `note`: words
        below the title; `does`: the word for what the keys that save do.
        """
        super().__init__()
        self._note = note
        self._changed = ("", "")
        self.heading = title
        for key in ("enter", "ctrl+s", "f2"):
            self.describe(key, does)
        self._fields = tuple(fields)
        self._check = check
        self._draft = dict(draft or {})
        self._first = focus
        self._rows = tuple(FieldRow(spec) for spec in self._fields)

    def parts(self) -> ComposeResult:
        """Yield the note, the fields, and the form's own error."""
        known = [row for row in self._rows if row.spec.known]
        unknown = [row for row in self._rows if not row.spec.known]
        yield SafeText(self._note, classes="form--note")
        with Fields(classes="form--fields dialog--body", can_focus=False):
            yield from known
            if unknown:
                yield SafeText("other fields", classes="form--caption")
                yield from unknown
        yield SafeText(classes="form--error")
        if any(spec.about for spec in self._fields):
            yield SafeText(classes="form--about")

    def on_descendant_focus(self) -> None:
        """Say what the field is for."""
        self._say_about()

    def _say_about(self) -> None:
        """Show the sentence of the field that is edited, unless it is the placeholder of the empty field."""
        for row in self._rows:
            if row.has_class("-focused"):
                about, shown = row.spec.about, isinstance(row.editor, SafeInput) and not row.value
                words = "" if shown and row.spec.placeholder and row.spec.placeholder in about else about
                for foot in self.query(".form--about").results(SafeText):
                    foot.say(with_keys(words, self.app), layout=False)

    def key_hints(self) -> KeyHints:
        """The keys, and what the mark of a required field means."""
        needed = any(spec.required for spec in self._fields)
        return KeyHints(indent=0, remark=f"{MARK} {NEEDED}" if needed else "")

    def on_mount(self) -> None:
        """Fill in the draft and begin in the first field."""
        for note in self.query(".form--note"):
            note.set_class(bool(self._note), "-shown")
        for row in self._rows:
            if row.spec.name in self._draft:
                row.value = self._draft[row.spec.name]
        self._follow(*self._rows)
        if self._rows:
            names = [row.spec.name for row in self._rows]
            index = names.index(self._first) if self._first in names else 0
            # At once: if set later, the focus would jump back after the next key has moved it.
            self.set_focus(self._rows[index].editor)
            # After the layout: before it, there is no place to scroll to.
            self.call_after_refresh(self._rows[index].scroll_visible, animate=False)

    def on_resize(self) -> None:
        """Keep the edited field in view, and word the note about an outside change for this height."""
        self.query(".form--about").set(display=self.app.size.height >= ROOMY)
        if self._changed[0]:
            self.call_after_refresh(self._say_note)
        if self.focused is not None:
            self.call_after_refresh(self.focused.scroll_visible, animate=False)

    def say_changed(self, words: str, brief: str = "") -> None:
        """Show that the form's entry changed while the form is open; empty: it is unchanged.

        A form with a single line for the note shows `brief`.
        """
        self._changed = (words, brief or words)
        self._say_note()

    def _say_note(self) -> None:
        words = self._changed[self.has_class("-low")]
        for note in self.query(".form--note").results(SafeText):
            note.say(words or self._note)
            note.set_class(bool(words), "-changed")
            note.set_class(bool(words or self._note), "-shown")

    def values(self) -> Values:
        """All values as they would be saved; untouched and hidden ones exactly as they were given."""
        return {row.spec.name: row.value if row.display else row.spec.value for row in self._rows}

    def changes(self) -> Values:
        """The values that differ from the initial ones."""
        return {row.spec.name: row.value for row in self._rows if row.display and row.value != row.spec.value}

    def errors(self) -> dict[str, str]:
        """The errors currently shown with the fields, by field name."""
        return {row.spec.name: row.error for row in self._rows if row.error and row.display}

    def _follow(self, *changed: FieldRow) -> None:
        """Show, hide and check again the fields that follow the changed ones."""
        values = {row.spec.name: row.value for row in changed}
        for row in self._rows:
            if row.spec.shown is not None and row.spec.follows in values:
                row.display = row.spec.shown(values[row.spec.follows])
                row.refresh_note()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Let Enter save a form with a single field, even a multi-line one."""
        return action != "save_one" or len(self._asked()) == 1

    def _asked(self) -> list[FieldRow]:
        """The fields that are asked now."""
        return [row for row in self._rows if row.display]

    def action_save_one(self) -> None:
        """Save a form of one field."""
        self.action_save()

    def action_save(self) -> None:
        """Save if everything is valid, else go to the first field that is not."""
        for row in self._rows:
            row.check()
        found = dict(self.errors())
        if not found and self._check is not None:
            found = dict(self._check(self.values()))
            for row in self._rows:
                if row.spec.name in found:
                    row.complain(found[row.spec.name])
        foot = self.query_one(".form--error", SafeText)
        foot.say(found.get("", ""))
        foot.set_class(bool(found.get("")), "-shown")
        for row in self._rows:
            if row.error and row.display:
                row.edit()
                return
        if not found:
            self.dismiss(self.values())

    def action_leave(self) -> None:
        """Leave; ask first when something was changed."""
        if not self.changes():
            self.dismiss(None)
            return
        names = ", ".join(row.spec.label for row in self._rows if row.value != row.spec.value)
        self.app.push_screen(
            Confirm("Discard changes?", f"Changed: {names}", yes="Discard", no="Keep editing", danger=True),
            self._left,
        )

    def _left(self, leave: object) -> None:
        if leave:
            self.dismiss(None)

    def action_next(self) -> None:
        """Go to the next field."""
        self.focus_next()

    def action_previous(self) -> None:
        """Go to the field before."""
        self.focus_previous()

    def on_field_row_edited(self, event: FieldRow.Edited) -> None:
        """Report the typed values so far."""
        event.stop()
        self._follow(event.row)
        self._say_about()
        if self.is_mounted:
            self.post_message(self.Edited(self, self.values()))

    def on_field_row_submitted(self, event: FieldRow.Submitted) -> None:
        """Go to the next field on Enter, or save on the last one."""
        event.stop()
        if event.row is self._asked()[-1]:
            self.action_save()
        else:
            self.focus_next()


class Prompt(Form):
    """Asks for one line; returns it, or None when left with Escape, which asks nothing.

    Pasted lines are returned as they are where `several` are welcome.
    """

    DEFAULT_CSS = """
    Prompt FieldRow {
        .field--label { display: none; }
        .field--note { margin-left: 1; min-height: 1; display: block; }
    }
    """

    def __init__(self, question: str, value: str = "", *, several: bool = False, **more: Any) -> None:
        """`more` are attributes of the field, such as `placeholder`, `validate` and `hint`."""
        super().__init__(question, (FieldSpec("line", question, value=value, **more),))
        self._several = several

    def on_mount(self) -> None:
        """Select the text, which the first character replaces."""
        self.query_one(SafeInput).select_all()

    def dismiss(self, result: object = None) -> AwaitComplete:
        """Leave with the line."""
        return super().dismiss(result["line"] if isinstance(result, dict) else None)

    def action_leave(self) -> None:
        """Leave without an answer."""
        self.dismiss(None)

    def on_safe_input_pasted(self, event: SafeInput.Pasted) -> None:
        """Return pasted lines, if several are welcome."""
        if self._several:
            event.stop()
            self.dismiss({"line": "\n".join([event.editor.text + event.lines[0], *event.lines[1:]])})
