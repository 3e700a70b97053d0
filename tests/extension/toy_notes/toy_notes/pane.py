"""The notes pane."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, ClassVar

from memory.extension import Snapshot, act
from widgets.detail import DetailLine, Link, Prose
from widgets.input.fields import FieldSpec
from widgets.pane.base import Badge, Build, FormPlan, Pane, Removal
from widgets.text.styled_text import Line, Piece, line

from .system import Look, Note, Notes


class NotesPane(Pane):
    """Notes by name; `a` writes one, `x` removes one."""

    pane_id: ClassVar[str] = "notes"
    title: ClassVar[str] = "Notes"
    files: ClassVar[tuple[str, ...]] = (".notes/",)
    empty: ClassVar[str] = "No notes. Press {entry.add|a} to write the first one."
    item_name: ClassVar[str] = "note"

    def rows(self, snapshot: Snapshot, now: datetime) -> Sequence[Any]:
        """Return all notes."""
        look = snapshot.of("notes", Look)
        return () if look is None else look.notes

    @classmethod
    def badge(cls, snapshot: Snapshot, now: datetime) -> Badge:
        """Return how many there are; one without a title needs a person."""
        look = snapshot.of("notes", Look)
        return Badge() if look is None else Badge(len(look.notes), any(not note.title for note in look.notes))

    def text(self, item: Note) -> str:
        """Return what the filter looks at."""
        return f"{item.name} {item.text}"

    def draw_row(self, item: Note, width: int) -> Line:
        """Return the name and the title."""
        return line(Piece(f"{item.name:<16} ", "muted"), item.title)

    def detail(self, item: Note) -> Sequence[DetailLine]:
        """Return the whole text."""
        return [Prose(item.text)]

    def links(self, item: Note) -> Sequence[Link]:
        """Return none."""
        return ()

    def adding(self, now: datetime) -> FormPlan | None:
        """Return the form of a new note."""

        def build(_changed: dict[str, str], values: dict[str, str], _now: datetime) -> Build:
            name, text = values["name"], values["text"]
            return act("notes", Notes, lambda notes, actor, now: notes.add(name, text, actor=actor, now=now))

        fields = [FieldSpec("name", "name", required=True), FieldSpec("text", "text", "multiline", required=True)]
        return FormPlan("New note", fields, build, "notes.add", focus="name")

    def removing(self, items: Sequence[Note]) -> Removal | None:
        """Return the question before notes are removed."""
        notes = tuple(items)

        def build(_now: datetime) -> Build:
            return act("notes", Notes, lambda system, actor, now: system.remove(notes, actor=actor, now=now))

        return Removal("Remove the note?", "\n".join(note.title for note in notes), build, "notes.remove")
