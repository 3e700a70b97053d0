"""Notes: each file `.notes/NAME.txt` is one; its first line is the title."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, MutableMapping, Sequence
from datetime import datetime
from typing import NamedTuple

from memory.extension import (
    BriefLine,
    Contribution,
    Gone,
    MemdeckError,
    NotFoundError,
    Outcome,
    PlainReading,
    Problem,
    Record,
    Report,
    RuleReport,
    System,
    UsageError,
    Workspace,
    names_in,
)

FOLDER = ".notes"


class Note(NamedTuple):
    """One note; `path` is as seen from the workspace."""

    name: str
    text: str

    @property
    def ref(self) -> str:
        """The ref, such as `notes#shopping`."""
        return f"notes#{self.name}"

    @property
    def path(self) -> str:
        """The file."""
        return f"{FOLDER}/{self.name}.txt"

    @property
    def title(self) -> str:
        """The first line."""
        return self.text.partition("\n")[0].strip()

    @property
    def line(self) -> int:
        """The line in the file, from 0."""
        return 0


class Look(NamedTuple):
    """All notes at one moment, by name."""

    notes: tuple[Note, ...]


class Reading(PlainReading):
    """Tells the change log that the notes, and nothing else in the folder, may be written back."""

    def knows(self, path: str) -> bool:
        """Tell whether a path in the folder is a note."""
        return path.endswith(".txt") and "/" not in path


class Notes(System):
    """The notes of a workspace."""

    name = "notes"

    def __init__(self, workspace: Workspace) -> None:
        """Join the change log of the workspace; nothing is read yet."""
        self._folder = workspace.root / FOLDER
        self._root = workspace.root
        self._store = workspace.add_store(FOLDER, Reading())
        self._last = Look(())

    def present(self) -> bool:
        """Tell whether there is a folder of notes."""
        return self._folder.is_dir()

    def files(self) -> Iterable[str]:
        """Return the notes, for changes that other programs make."""
        return [f"{FOLDER}/{name}.txt" for name in self._names()]

    def folders(self) -> Iterable[str]:
        """Return the folder to watch."""
        return (FOLDER,)

    def owns(self, name: str) -> bool:
        """Tell whether a file is one of the folder."""
        return name.startswith(f"{FOLDER}/")

    def look(self) -> Look:
        """Return all notes; the same object as long as no file changes."""
        found = Look(tuple(self._note(name) for name in self._names()))
        if found != self._last:
            self._last = found
        return self._last

    def _names(self) -> list[str]:
        names = names_in(self._folder, self._root)
        names = names if isinstance(names, tuple) else ()
        return [name.removesuffix(".txt") for name in names if name.endswith(".txt") and name[0] != "."]

    def _note(self, name: str) -> Note:
        return Note(name, self._store.read(f"{name}.txt").data.decode("utf-8", "surrogateescape"))

    # -- what memdeck asks of every system ---------------------------------------------------------------------------

    def check(self, names: Sequence[str] | None = None) -> tuple[Problem, ...]:
        """Return the notes without a title."""
        found = [
            Problem("error", note.path, 1, "notes.untitled", "its first line is empty")
            for note in self.look().notes
            if note.text.strip() and not note.title
        ]
        return tuple(problem for problem in found if names is None or problem.file in names)

    def records(
        self, kinds: Collection[str] | None = None, refused: MutableMapping[str, MemdeckError] | None = None
    ) -> Iterator[Record]:
        """Yield a record for each note."""
        if kinds is not None and "notes" not in kinds:
            return
        for name in self._names():
            try:
                note = self._note(name)
            except MemdeckError as error:
                if refused is None:
                    raise
                refused[f"{FOLDER}/{name}.txt"] = error
            else:
                yield Record("notes", note.path, note.title, note.text, note)

    def maintain(self, now: datetime, *, actor: str, dry_run: bool = False, force: bool = False) -> Report:
        """Remove the notes that hold nothing, in one change."""
        notes = self.look().notes
        empty = [note for note in notes if not note.text.strip()]
        change = None
        if empty and not dry_run:
            change = self._remove("notes.clear", empty, f"cleared {len(empty)} empty notes", actor, now).change.id
        rule = RuleReport(
            "clear-empty-notes",
            FOLDER,
            before=len(notes),
            kept=len(notes) - len(empty),
            archived=0,
            cleared=len(empty),
            moves=tuple(Gone(note.ref, note.name, "the change log") for note in empty),
            what=("note", "cleared"),
            why="empty",
        )
        return Report(dry_run, now, (rule,), change=change)

    def status(self, now: datetime) -> Mapping[str, object]:
        """Return how many notes there are."""
        return {"counts": {"notes": len(self._names())}}

    def brief_lines(self, now: datetime) -> Iterable[BriefLine]:
        """Return a line with how many notes there are."""
        notes = self.look().notes
        empty = sum(not note.text.strip() for note in notes)
        yield BriefLine("notes", "", "notes", f"{len(notes)} notes", f"{empty} empty" if empty else "")

    def contributions(self, message: str, now: datetime) -> Iterable[Contribution]:
        """Return the notes that share a word with the message, those with the most words first."""
        asked = set(message.casefold().split())
        found = [(len(asked & set(note.text.casefold().split())), note) for note in self.look().notes]
        for count, note in sorted(found, key=lambda one: -one[0]):
            if count:
                yield Contribution("notes", note.ref, note.title, note.text, f"{count} words in common", float(count))

    # -- what the verbs and the pane of notes ask for ----------------------------------------------------------------

    def add(self, name: str, text: str, *, actor: str, now: datetime) -> Outcome:
        """Write a new note; UsageError `notes.name` for a name that is no file's, or is taken."""
        if not name.replace("-", "").isalnum():
            raise UsageError("notes.name", f"{name!r} is not a name: letters, digits and -")
        with self._store.transaction("notes.add", actor=actor, now=now) as transaction:
            if transaction.read(f"{name}.txt").exists:
                raise UsageError("notes.name", f"there is a note {name} already")
            transaction.write(f"{name}.txt", f"{text}\n".encode(), base=None)
            change = transaction.commit(f"added note {name}")
        return Outcome(change, f"added {name}", f"notes#{name}")

    def remove(self, notes: Sequence[Note], *, actor: str, now: datetime) -> Outcome:
        """Remove notes in one change; NotFoundError `notes.not_found`."""
        return self._remove("notes.remove", notes, f"removed {', '.join(note.name for note in notes)}", actor, now)

    def _remove(self, operation: str, notes: Sequence[Note], words: str, actor: str, now: datetime) -> Outcome:
        with self._store.transaction(operation, actor=actor, now=now) as transaction:
            for note in notes:
                stored = transaction.read(f"{note.name}.txt")
                if not stored.exists:
                    raise NotFoundError("notes.not_found", f"there is no note {note.name}")
                transaction.remove(f"{note.name}.txt", base=stored.data)
            change = transaction.commit(words)
        return Outcome(change, words)
