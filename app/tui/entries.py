"""Entries: adding, editing in a form or in $EDITOR, removing and copying, whatever the pane."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from memory.errors import ConflictError, MemdeckError

from .part import Part

if TYPE_CHECKING:
    from memory.workspace import Outcome
    from widgets.pane import Pane
    from widgets.pane_plans import FormPlan, Values


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
        plan = self._pane.adding(self.app.clock())
        if plan is not None:
            self._fill_in(plan)

    def edit(self) -> None:
        """The entry under the cursor."""
        pane = self._pane
        item = pane.current()
        plan = None if item is None else pane.editing(item, self.app.clock())
        if plan is None:
            self.app.say("Nothing here can be edited in a form.")
        elif any(len(spec.value) > LONGEST_VALUE for spec in plan.fields):
            self.app.say("This entry is too long for a form; E opens it in $EDITOR.")
        else:
            self._fill_in(plan, item=item)

    def fill_in(self, plan: FormPlan, item: Any) -> None:
        """Show a form that another part made, about an entry."""
        self._fill_in(plan, item=item)

    def _fill_in(self, plan: FormPlan, *, item: Any = None, draft: Mapping[str, str] | None = None) -> None:
        """Show the form; what was typed stays typed until it is written or thrown away on purpose."""
        from widgets.forms import Form

        pane = self._pane

        def check(values: Values) -> Mapping[str, str]:
            found = dict(plan.check(values)) if plan.check else {}
            return found or self._try(plan, values, existing=item is not None)

        def saved(values: Values | None) -> None:
            if values is None:
                return
            changed = changes_of(plan, values)
            if not changed:
                self.app.say("Nothing was changed.")
                return
            build = plan.build(changed, values, self.app.clock())

            def otherwise(error: MemdeckError) -> bool:
                if isinstance(error, ConflictError):
                    self._conflict(error, pane, plan, item, values)
                else:
                    self.app.say_error(error)
                    self._fill_in(plan, item=item, draft=values)
                return True

            self.app.changing.change(plan.operation, build, then=self._go_to, otherwise=otherwise)

        form = Form(plan.title, plan.fields, check=check, draft=draft, focus=plan.focus)
        self.app.push_screen(form, saved)

    def _try(self, plan: FormPlan, values: Values, *, existing: bool) -> Mapping[str, str]:
        """Errors of the edit itself, tried on the files as they were last seen."""
        snapshot = self._pane.snapshot
        changed = changes_of(plan, values)
        if snapshot is None or not changed:
            return {}
        try:
            plan.build(changed, values, self.app.clock())(snapshot)
        except ConflictError:
            return {}  # Asked when it is written.
        except MemdeckError as error:
            if existing and error.code.endswith(".not_found"):
                return {"": "somebody removed or renamed this entry meanwhile; copy what you need, Esc leaves"}
            field = str(error.details.get("field", ""))
            names = {spec.name for spec in plan.fields}
            return {field if field in names else "": f"{error.message}; {error.hint}" if error.hint else error.message}
        return {}

    def _conflict(self, error: ConflictError, pane: Pane, plan: FormPlan, item: Any, values: Values) -> None:
        """Somebody else changed the same fields: show theirs and mine, and go on from theirs with what was typed."""
        from widgets.dialogs import Preview
        from widgets.pieces import Line, Piece, line

        fresh = None if item is None or pane.snapshot is None else self._fresh(pane, item)
        again = None if fresh is None else pane.editing(fresh, self.app.clock())
        theirs = {} if again is None else {spec.name: spec.value for spec in again.fields}
        lines: list[Line] = [line(error.message), ()]
        for spec in plan.fields:
            mine = values[spec.name]
            if mine == spec.value and theirs.get(spec.name, spec.value) == spec.value:
                continue
            lines.append(line(Piece(spec.label, "heading")))
            for name, text in (("was", spec.value), ("theirs", theirs.get(spec.name, "")), ("mine", mine)):
                lines.append(line(Piece(f"  {name:<7}", "muted"), text.replace("\n", " ⏎ ") or "-"))
        if again is None:
            lines += [(), line("The entry is gone; what you typed can be copied from here.")]

        def answered(go_on: bool | None) -> None:
            if go_on and again is not None:
                names = {spec.name for spec in again.fields}
                mine = {name: value for name, value in changes_of(plan, values).items() if name in names}
                self._fill_in(again, item=fresh, draft=mine)

        self.app.push_screen(
            Preview(
                "Somebody else changed this entry",
                lines,
                summary="Enter: go on with their version and what you typed. Esc: leave theirs.",
                applicable=again is not None,
            ),
            answered,
        )

    def _fresh(self, pane: Pane, item: Any) -> Any | None:
        """The entry as it is in the files now."""
        workspace = self.app.workspace
        assert workspace is not None
        pane.show(workspace.snapshot(), self.app.clock())
        ref = pane.ref(item)
        return pane.find(ref)

    def _go_to(self, outcome: Outcome) -> None:
        pane = self._pane
        if outcome.ref is not None:
            pane.go_to(outcome.ref)

    # Removing

    def remove(self) -> None:
        """Remove the selected entries, or the one under the cursor, after a question."""
        from widgets.dialogs import Confirm

        pane = self._pane
        removal = pane.removing(pane.selected())
        if removal is None:
            self.app.say("Nothing can be removed here.")
            return

        def answered(yes: bool | None) -> None:
            if yes:
                pane.line_list.select(())
                self.app.changing.change(removal.operation, removal.build(self.app.clock()))

        self.app.push_screen(Confirm(removal.question, removal.details, yes="Remove", no="Keep", danger=True), answered)

    # $EDITOR

    def edit_source(self) -> None:
        """The entry's text in $EDITOR; nothing happens when it comes back unchanged."""
        pane = self._pane
        item = pane.current()
        text = None if item is None else pane.source_text(item)
        if text is None:
            self.app.say("Nothing here can be edited in $EDITOR.")
        else:
            self._in_editor(pane, item, text, text)

    def _in_editor(self, pane: Pane, item: Any, original: str, text: str) -> None:
        from textual.app import SuspendNotSupported

        from .editor import edit_text

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
            self._ask_again(error, pane, item, original, text)
            return True

        self.app.changing.change(f"{pane.pane_id}.source", build, then=self._go_to, otherwise=otherwise)

    def _ask_again(self, error: MemdeckError, pane: Pane, item: Any, original: str, text: str) -> None:
        """The text cannot be written as it is: edit it again, or throw it away on purpose."""
        from widgets.dialogs import Confirm

        fresh = self._fresh(pane, item) if isinstance(error, ConflictError) else item

        def answered(again: bool | None) -> None:
            if again:
                self._in_editor(pane, fresh if fresh is not None else item, original, text)
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


def changes_of(plan: FormPlan, values: Mapping[str, str]) -> Values:
    """The values that differ from what the form was given."""
    return {spec.name: values[spec.name] for spec in plan.fields if values.get(spec.name, spec.value) != spec.value}
