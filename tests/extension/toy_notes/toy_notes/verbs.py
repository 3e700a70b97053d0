"""`memdeck notes`."""

from __future__ import annotations

from memory.extension import NotFoundError, system_of
from memory.operations import Context, Group, Result, argument, listing, said, under

from .system import Notes

notes = Group("notes", "Notes: short texts in .notes/.")


def _notes(context: Context) -> Notes:
    return system_of(context.workspace, "notes", Notes)


@under(notes, "list", serves="look", examples=("memdeck notes list -o json",))
def list_notes(context: Context) -> Result:
    """List the notes by name."""
    found = _notes(context).look().notes
    return listing(
        "notes",
        lambda: ({"ref": note.ref, "title": note.title} for note in found),
        lambda paint: (paint.line(f"{note.name}  {note.title}") for note in found),
    )


@under(notes, "add", serves="change", examples=("memdeck notes add shopping 'Milk and bread'",))
@argument("name")
@argument("text")
def add(context: Context, name: str, text: str) -> Result:
    """Write a new note."""
    done = _notes(context).add(name, text, actor=context.actor, now=context.now)
    context.made = done.summary
    return said({"ref": done.ref, "change": done.change.id}, done.summary)


@under(notes, "remove", serves="change", examples=("memdeck notes remove shopping",))
@argument("name")
def remove(context: Context, name: str) -> Result:
    """Remove a note; `memdeck undo` brings it back."""
    system = _notes(context)
    found = [note for note in system.look().notes if note.name == name]
    if not found:
        raise NotFoundError("notes.not_found", f"there is no note {name}", "see memdeck notes list")
    done = system.remove(found, actor=context.actor, now=context.now)
    context.made = done.summary
    return said({"change": done.change.id}, done.summary)
