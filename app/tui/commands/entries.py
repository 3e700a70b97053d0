"""Commands of all panes: add, edit in a form or in $EDITOR, remove and copy."""

from __future__ import annotations

from typing import Any

from app.tui.forms.conflicts import ask_gone, ask_source
from memory.document import parse
from memory.document.lines import decode, encode
from memory.errors import ConflictError, MemdeckError, NotFoundError
from memory.files.edit import Edit
from memory.files.snapshot import Snapshot
from widgets.dialogs.dialogs import Confirm
from widgets.pane.base import Pane
from widgets.pane.rows import LineRow

from . import review
from .conditions import draft_of, removal_of
from .context import Context, Step, open_pane, steps
from .revert import leave

LONGEST_VALUE = 200_000
"""The most characters of a value for which a form is opened."""


# Forms


def add(context: Context) -> Step:
    """Add an entry with a form."""
    pane = open_pane(context)
    plan = pane.adding(context.clock())
    return None if plan is None else context.form(pane, plan)


def edit(context: Context) -> Step:
    """Edit the entry in a form."""
    return context.once_seen(lambda: _edit(context))


def _edit(context: Context) -> Step:
    pane = open_pane(context)
    item = pane.current()
    plan = None if item is None else pane.editing(item, context.clock())
    if plan is None:
        return context.say("Nothing here can be edited in a form.")
    if any(len(spec.value) > LONGEST_VALUE for spec in plan.fields):
        return context.say("This entry is too long for a form; E opens it in $EDITOR.")
    return context.form(pane, plan, item, note=_which(context, pane))


def _which(context: Context, pane: Pane) -> str:
    """Return a note for the form if other entries are selected: the form is about one entry only."""
    chosen = len(pane.line_list.selected)
    if not chosen or pane.selected() == (pane.current(),):
        return ""
    # One line, so that the form keeps its height.
    words = f"Only this {pane.item_name} is edited"
    if pane.pane_id != "tasks":
        return f"{words}; {chosen} selected."
    keys = map(context.key_of, ("task.due", "task.assign", "task.tags", "task.raise", "task.lower"))
    return f"{words}; {' '.join(keys)} change all {chosen} selected."


# Removing


def remove(context: Context) -> Step:
    """Remove the selected entries; asks first."""
    pane = open_pane(context)
    if draft := draft_of(pane):
        return context.discard(draft)
    if (lost := removal_of(pane, ())) is not None:
        return leave(context, (lost,))
    removal = pane.removing(pane.selected())
    if removal is None:
        return context.say("Nothing can be removed here.")

    def answered(_: bool) -> Step:
        return context.change(removal.operation, removal.build(context.clock()), taken_back=True)

    return context.ask(Confirm(removal.question, removal.details, yes="Remove", no="Keep", danger=True), answered)


# $EDITOR


def edit_source(context: Context) -> Step:
    """Edit the entry's text in $EDITOR."""
    return context.once_seen(lambda: _edit_source(context))


def _edit_source(context: Context) -> Step:
    pane = open_pane(context)
    if pane.pane_id == review.PANE:
        return review.edit(context)
    if (unread := pane.unread_line()) is not None:
        return _edit_file(context, pane, unread)
    item = pane.current()
    text = None if item is None else pane.source_text(item)
    if text is None:
        return context.say("Nothing here can be edited in $EDITOR.")
    return _in_editor(context, pane, item, text, text)


def _edit_file(context: Context, pane: Pane, place: LineRow) -> Step:
    """Edit a whole file at one of its lines; where it was changed meanwhile, nothing is written."""
    assert pane.snapshot is not None
    before = pane.snapshot.document(place.file).dump()

    def edited(text: str) -> Step:
        after = encode(text)
        if after == before:
            return context.say("Nothing was changed.")

        def build(look: Snapshot) -> Edit:
            if look.document(place.file).dump() != before:
                raise ConflictError("document.conflict", f"{place.file} was changed meanwhile", "edit it again")
            return Edit({place.file: parse(after)}, f"edited {place.file}")

        def otherwise(error: MemdeckError) -> Step:
            context.copy(text)
            return steps((context.fail(error), context.say("Your text is in the clipboard."), context.read_again()))

        return context.change(f"{pane.pane_id}.source", build, otherwise=otherwise, taken_back=True)

    return context.edit_text(decode(before), edited, line=place.line)


def _in_editor(context: Context, pane: Pane, item: Any, original: str, text: str) -> Step:
    def edited(new: str) -> Step:
        if new == original:
            return context.say("Nothing was changed.")
        return _write_source(context, pane, item, original, new)

    return context.edit_text(text, edited)


def _write_source(context: Context, pane: Pane, item: Any, original: str, text: str) -> Step:
    build = pane.from_source(item, text, context.clock())
    if build is None:
        return None

    def otherwise(error: MemdeckError) -> Step:
        if isinstance(error, ConflictError):
            return context.read_again(lambda: ask_source(context, pane, item, text))
        if isinstance(error, NotFoundError):
            return context.read_again(lambda: _source_gone(context, pane, item, original, text))
        return _ask_again(context, error, pane, item, original, text)

    return context.change(f"{pane.pane_id}.source", build, otherwise=otherwise, follow=True)


def _source_gone(context: Context, pane: Pane, item: Any, original: str, text: str) -> Step:
    """Ask what to do with a text whose entry was removed or renamed while it was in the editor."""

    def renamed(fresh: Any) -> Step:
        if pane.source_text(fresh) == original:
            return _write_source(context, pane, fresh, original, text)
        return ask_source(context, pane, item, text, fresh)

    title = str(getattr(item, "title", ""))
    return ask_gone(context, pane, text, title=title, ref=pane.ref(item), renamed=renamed)


def _ask_again(context: Context, error: MemdeckError, pane: Pane, item: Any, original: str, text: str) -> Step:
    """Ask about a text that cannot be written as it is: edit it again, or drop it."""
    details = f"{error.message}; {error.hint}" if error.hint else error.message
    return context.ask(
        Confirm("This cannot be written as it is", details, yes="Edit again", no="Leave"),
        lambda _: _in_editor(context, pane, item, original, text),
        left=lambda: context.copy(text, "The text is in the clipboard."),
    )


# Copying


def copy_ref(context: Context) -> Step:
    """Copy the ref of the entry."""
    pane = open_pane(context)
    refs = [ref for item in pane.selected() if (ref := pane.copied_ref(item))]
    if not refs:
        return context.say("Nothing here has a ref.")
    return context.copy("\n".join(refs), f"Copied {refs[0]}" if len(refs) == 1 else f"Copied {len(refs)} refs")


def copy_entry(context: Context) -> Step:
    """Copy the entry's text."""
    pane = open_pane(context)
    texts = [text for item in pane.selected() if (text := pane.source_text(item)) is not None]
    if not texts:
        return context.say("Nothing here has a text to copy.")
    return context.copy("".join(texts), "Copied the entry." if len(texts) == 1 else f"Copied {len(texts)} entries.")
