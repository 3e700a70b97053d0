"""Entries: adding, editing in a form or in $EDITOR, removing and copying, whatever the pane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.tui.part import Part
from memory.errors import ConflictError, MemdeckError, NotFoundError
from widgets.chrome.footer import with_keys

from .conditions import draft_of, lost_of

if TYPE_CHECKING:
    from memory.workspace import Outcome
    from widgets.pane.base import Pane


LONGEST_VALUE = 200_000
"""The most characters of a value that a form is opened for."""


class Entries(Part):
    """What can be done with the entry under the cursor, or with the selected ones."""

    @property
    def _pane(self) -> Pane:
        pane = self.app.navigation.pane
        assert pane is not None
        return pane

    # Forms

    def add(self) -> None:
        """A new entry."""
        pane = self._pane
        plan = pane.adding(self.app.clock())
        if plan is not None:
            self.app.filling.begin(pane, plan)

    def edit(self) -> None:
        """The entry under the cursor, as it is after one's own last change."""
        self.app.changing.once_seen(self._edit)

    def _edit(self) -> None:
        pane = self._pane
        item = pane.current()
        plan = None if item is None else pane.editing(item, self.app.clock())
        if plan is None:
            self.app.say("Nothing here can be edited in a form.")
        elif any(len(spec.value) > LONGEST_VALUE for spec in plan.fields):
            self.app.say("This entry is too long for a form; E opens it in $EDITOR.")
        else:
            self.app.filling.begin(pane, plan, item, note=self._says_which(pane))

    def _says_which(self, pane: Pane) -> str:
        """Words for a form where others are selected: it is about one entry, whatever is."""
        chosen = len(pane.line_list.selected)
        if not chosen or pane.selected() == (pane.current(),):
            return ""
        # One line, so that the form keeps its height.
        words = f"Only this {pane.item_name} is edited"
        if pane.pane_id != "tasks":
            return f"{words}; {chosen} selected."
        keys = ("task.due|D", "task.assign|@", "task.tags|t", "task.raise|+", "task.lower|-")
        all_keys = " ".join(f"{{{key}}}" for key in keys)
        return with_keys(f"{words}; {all_keys} change all {chosen} selected.", self.app)

    def go_to(self, outcome: Outcome) -> None:
        """Put the cursor on the entry that a change was about; a filter that hid it is cleared, which is said."""
        pane = self._pane
        if outcome.ref is None:
            return
        before = pane.filter
        pane.go_to(outcome.ref)
        if before and not pane.filter and not outcome.secrets:
            words = outcome.summary[:1].upper() + outcome.summary[1:]
            self.app.say(f"{words}.\nIt does not fit the filter “{before}”, which was cleared.")

    # Removing

    def remove(self) -> None:
        """Remove the selected entries, or the one under the cursor, or the draft there, after a question."""
        from widgets.dialogs.dialogs import Confirm

        pane = self._pane
        if draft := draft_of(pane):
            self.app.drafting.discard(draft)
            return
        if (lost := lost_of(pane)) is not None:
            self.app.reverting.leave(lost)
            return
        removal = pane.removing(pane.selected())
        if removal is None:
            self.app.say("Nothing can be removed here.")
            return

        def answered(yes: bool | None) -> None:
            if yes:
                pane.line_list.select(())
                self.app.changing.change(removal.operation, removal.build(self.app.clock()), taken_back=True)

        self.app.push_screen(Confirm(removal.question, removal.details, yes="Remove", no="Keep", danger=True), answered)

    # $EDITOR

    def edit_source(self) -> None:
        """The entry's text in $EDITOR; nothing happens when it comes back unchanged."""
        self.app.changing.once_seen(self._edit_source)

    def _edit_source(self) -> None:
        pane = self._pane
        item = pane.current()
        text = None if item is None else pane.source_text(item)
        if text is None:
            self.app.say("Nothing here can be edited in $EDITOR.")
        else:
            self._in_editor(pane, item, text, text)

    def _in_editor(self, pane: Pane, item: Any, original: str, text: str) -> None:
        from textual.app import SuspendNotSupported

        from app.tui.forms.editor import edit_text

        try:
            edited = edit_text(text, self.app.environ, self.app.hand_over)
        except MemdeckError as error:
            self.app.say_error(error)
            return
        except SuspendNotSupported:
            self.app.say("This terminal cannot be handed over to an editor.", severity="warning")
            return
        if edited == original:
            self.app.say("Nothing was changed.")
            return
        self._write_source(pane, item, original, edited)

    def _write_source(self, pane: Pane, item: Any, original: str, text: str) -> None:
        build = pane.from_source(item, text, self.app.clock())
        if build is None:
            return

        def otherwise(error: MemdeckError) -> bool:
            if isinstance(error, ConflictError):
                self.app.looking.request(lambda: self.app.conflicts.source(pane, item, text))
            elif isinstance(error, NotFoundError):
                self.app.looking.request(lambda: self._source_gone(pane, item, original, text))
            else:
                self._ask_again(error, pane, item, original, text)
            return True

        self.app.changing.change(f"{pane.pane_id}.source", build, then=self.go_to, otherwise=otherwise)

    def _source_gone(self, pane: Pane, item: Any, original: str, text: str) -> None:
        """The entry that was in the editor is not there any more."""

        def renamed(fresh: Any) -> None:
            if pane.source_text(fresh) == original:
                self._write_source(pane, fresh, original, text)
            else:
                self.app.conflicts.source(pane, item, text, fresh)

        self.app.conflicts.gone(pane, item, text, title=str(getattr(item, "title", "")), renamed=renamed, source=text)

    def _ask_again(self, error: MemdeckError, pane: Pane, item: Any, original: str, text: str) -> None:
        """The text cannot be written as it is: edit it again, or throw it away on purpose."""
        from widgets.dialogs.dialogs import Confirm

        def answered(again: bool | None) -> None:
            if again:
                self._in_editor(pane, item, original, text)
            else:
                self.app.copy_to_clipboard(text)
                self.app.say("The text is in the clipboard.")

        details = f"{error.message}; {error.hint}" if error.hint else error.message
        self.app.push_screen(
            Confirm("This cannot be written as it is", details, yes="Edit again", no="Leave"), answered
        )

    # Copying

    def copy_ref(self) -> None:
        """Copy the refs of the selected entries."""
        pane = self._pane
        refs = [ref for item in pane.selected() if (ref := pane.copied_ref(item))]
        if not refs:
            self.app.say("Nothing here has a ref.")
            return
        self.app.copy_to_clipboard("\n".join(refs))
        self.app.say(f"Copied {refs[0]}" if len(refs) == 1 else f"Copied {len(refs)} refs")

    def copy_entry(self) -> None:
        """Copy the texts of the selected entries."""
        pane = self._pane
        texts = [text for item in pane.selected() if (text := pane.source_text(item)) is not None]
        if not texts:
            self.app.say("Nothing here has a text to copy.")
        else:
            self.app.copy_to_clipboard("".join(texts))
            self.app.say("Copied the entry." if len(texts) == 1 else f"Copied {len(texts)} entries.")
