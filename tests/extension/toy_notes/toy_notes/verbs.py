"""`memdeck notes`."""

from __future__ import annotations

from app.cli.session import Session
from memory.extension import NotFoundError, system_of
from memory.operations import Group, argument, under

from .system import Notes

notes = Group("notes", "Notes: short texts in .notes/.")


def _notes(session: Session) -> Notes:
    return system_of(session.workspace, "notes", Notes)


@under(notes, "list", examples=("memdeck notes list -o json",))
def list_notes(session: Session) -> None:
    """List the notes by name."""
    found = _notes(session).look().notes
    session.listing(
        "notes",
        lambda: ({"ref": note.ref, "title": note.title} for note in found),
        lambda: (f"{note.name}  {session.paint.line(note.title)}" for note in found),
    )


@under(notes, "add", examples=("memdeck notes add shopping 'Milk and bread'",))
@argument("name")
@argument("text")
def add(session: Session, name: str, text: str) -> None:
    """Write a new note."""
    done = _notes(session).add(name, text, actor=session.actor, now=session.now)
    session.made = done.summary
    session.warn()
    session.answer(lambda: {"ref": done.ref, "change": done.change.id}, lambda: [done.summary])


@under(notes, "remove", examples=("memdeck notes remove shopping",))
@argument("name")
def remove(session: Session, name: str) -> None:
    """Remove a note; `memdeck undo` brings it back."""
    system = _notes(session)
    found = [note for note in system.look().notes if note.name == name]
    if not found:
        raise NotFoundError("notes.not_found", f"there is no note {name}", "see memdeck notes list")
    done = system.remove(found, actor=session.actor, now=session.now)
    session.made = done.summary
    session.warn()
    session.answer(lambda: {"change": done.change.id}, lambda: [done.summary])
