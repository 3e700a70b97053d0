"""Commands of all panes: add, edit in a form or in $EDITOR, remove and copy."""

from __future__ import annotations

from functools import partial
from typing import Any

from app.tui.forms.conflicts import ask_source
from app.tui.forms.editor import in_editor
from app.tui.spine import Spine
from memory.document import parse
from memory.document.lines import decode, encode
from memory.errors import ConflictError, MemdeckError, NotFoundError
from memory.files.edit import Edit
from memory.files.snapshot import Snapshot
from widgets.dialogs.pick import Confirm
from widgets.pane.base import Pane
from widgets.pane.rows import LineRow

from . import review
from .undo import leave

LONGEST_VALUE = 200_000
"""The most characters of a value for which a form is opened."""


# Forms


def add(app: Spine) -> None:
    """Add an entry with a form."""
    pane = app.shown_pane
    plan = pane.adding(app.clock())
    if plan is not None:
        app.form_session.begin(pane, plan)


def edit(app: Spine) -> None:
    """Edit the entry in a form."""
    return app.once_shown(lambda: _edit(app))


def _edit(app: Spine) -> None:
    pane = app.shown_pane
    item = pane.current()
    plan = None if item is None else pane.editing(item, app.clock())
    if plan is None:
        app.say("Nothing to edit here.")
    elif any(len(spec.value) > LONGEST_VALUE for spec in plan.fields):
        app.say("This entry is too long for a form; press E to edit it in $EDITOR.")
    else:
        app.form_session.begin(pane, plan, item, note=_which(pane))


def _which(pane: Pane) -> str:
    """Return a note for the form if other entries are selected: the form is about one entry only."""
    chosen = len(pane.line_list.selected)
    if not chosen or pane.selected() == (pane.current(),):
        return ""
    return f"Only one {pane.item_name} can be edited at a time; {chosen} selected."


# Removing


def remove(app: Spine) -> None:
    """Remove the selected entries; asks first."""
    pane = app.shown_pane
    if draft := app.situation.draft:
        app.form_drafts.discard(draft)
    elif (lost := app.situation.lost) is not None:
        leave(app, (lost,))
    elif (removal := pane.removing(pane.selected())) is None:
        app.say("Nothing to remove here.")
    else:
        change = partial(app.change, removal.operation, taken_back=True)
        question = Confirm(removal.question, removal.details, yes="Remove", no="Keep", danger=True)
        app.ask(question, lambda _: change(removal.build(app.clock())))


# $EDITOR


def edit_source(app: Spine) -> None:
    """Edit the entry's text in $EDITOR."""
    return app.once_shown(lambda: _edit_source(app))


def _edit_source(app: Spine) -> None:
    pane = app.shown_pane
    if pane.pane_id == review.PANE:
        return review.edit(app)
    if (unread := pane.unread_line()) is not None:
        return _edit_file(app, pane, unread)
    item = pane.current()
    text = None if item is None else pane.source_text(item)
    if text is None:
        return app.say("Nothing to edit in $EDITOR here.")
    return _in_editor(app, pane, item, text, text)


def _edit_file(app: Spine, pane: Pane, place: LineRow) -> None:
    """Edit a whole file at one of its lines; where it changed meanwhile, nothing is written."""
    assert pane.snapshot is not None
    before = pane.snapshot.document(place.file).dump()

    def edited(text: str) -> None:
        after = encode(text)
        if after == before:
            return app.say("Nothing was changed.")

        def build(look: Snapshot) -> Edit:
            if look.document(place.file).dump() != before:
                raise ConflictError("document.conflict", f"{place.file} changed meanwhile", "edit it again")
            return Edit({place.file: parse(after)}, f"edited {place.file}")

        def otherwise(error: MemdeckError) -> None:
            app.copy(text)
            app.say_error(error)
            app.say("Your text is in the clipboard.", beside=True)

        return app.change(f"{pane.pane_id}.source", build, otherwise=otherwise, taken_back=True)

    return in_editor(app, decode(before), edited, line=place.line)


def _in_editor(app: Spine, pane: Pane, item: Any, original: str, text: str) -> None:
    def edited(new: str) -> None:
        if new == original:
            return app.say("Nothing was changed.")
        return _write_source(app, pane, item, original, new)

    return in_editor(app, text, edited)


def _write_source(app: Spine, pane: Pane, item: Any, original: str, text: str) -> None:
    build = pane.from_source(item, text, app.clock())
    if build is None:
        return None

    def merge() -> None:
        ask_source(app, pane, item, text, lambda entry, settled: _write_source(app, pane, entry, original, settled))

    def otherwise(error: MemdeckError) -> None:
        if isinstance(error, ConflictError | NotFoundError):
            return app.changed(then=merge)
        return _ask_again(app, error, pane, item, original, text)

    return app.change(f"{pane.pane_id}.source", build, otherwise=otherwise, follow=True)


def _ask_again(app: Spine, error: MemdeckError, pane: Pane, item: Any, original: str, text: str) -> None:
    """Ask about a text that cannot be written as it is: edit it again, or drop it."""
    details = f"{error.message}; {error.hint}" if error.hint else error.message
    return app.ask(
        Confirm("This cannot be saved as it is", details, yes="Edit again", no="Leave"),
        lambda _: _in_editor(app, pane, item, original, text),
        left=lambda: app.copy(text, "The text is in the clipboard."),
    )


# Copying


def copy_ref(app: Spine) -> None:
    """Copy the ref of the entry."""
    pane = app.shown_pane
    refs = [ref for item in pane.selected() if (ref := pane.copied_ref(item))]
    if not refs:
        return app.say("This row has no ref.")
    return app.copy("\n".join(refs), f"Copied {refs[0]}" if len(refs) == 1 else f"Copied {len(refs)} refs")


def copy_entry(app: Spine) -> None:
    """Copy the entry's text."""
    pane = app.shown_pane
    texts = [text for item in pane.selected() if (text := pane.source_text(item)) is not None]
    if not texts:
        return app.say("This row has no text to copy.")
    return app.copy("".join(texts), "Copied the entry." if len(texts) == 1 else f"Copied {len(texts)} entries.")
