"""Partial revert of a change: the current state of its entries, and undoing those that the user chooses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memory.document import Document, Entry
from memory.errors import ConflictError
from memory.files.edit import Edit
from memory.files.merging import OpenEntry, open_entry
from memory.files.snapshot import ref_of

from .changes import views_of

if TYPE_CHECKING:
    from memory.files.diff import ChangeView
    from memory.files.snapshot import Snapshot
    from memory.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Contested:
    """One entry of a change and its current version.

    `merge` holds what the change wrote (base), the entry before it (ours) and the current entry (theirs); None where
    the change added the entry, so that undoing means removing `current`. `same` says that the entry is as the change
    left it.
    """

    view: ChangeView
    current: Entry
    merge: OpenEntry | None

    @property
    def same(self) -> bool:
        """Whether the entry is unchanged since."""
        return self.view.after is not None and self.current.text.rstrip() == self.view.after.rstrip()


def contested_entries(workspace: Workspace, change_id: str) -> tuple[tuple[Contested, ...], tuple[str, ...]]:
    """Return the entries of a change that still exist, and sentences about those that cannot be undone here."""
    record = workspace.store.history.get(change_id)
    snapshot = workspace.snapshot()
    found: list[Contested] = []
    lost: list[str] = []
    for view in views_of(workspace, record):
        if view.before is None and view.after is None:
            lost.append(f"{view.title}: the text around the entries stays as it is")
            continue
        current = _current(snapshot.document(view.file), view)
        if view.after is None:
            lost.append(f"{view.title} was removed by it; H and the history bring it back")
        elif current is None:
            lost.append(f"{view.title} is not there any more")
        elif view.before is None:
            found.append(Contested(view, current, None))
        else:
            after, before = Entry.from_text(view.after), Entry.from_text(view.before)
            found.append(Contested(view, current, open_entry(after, before, current)))
    return tuple(found), tuple(lost)


def settle(snapshot: Snapshot, chosen: Sequence[tuple[Contested, Entry | None]], summary: str) -> Edit:
    """Replace entries by the chosen versions; None removes one.

    Raises ConflictError `document.conflict` where an entry changed since the choice was made.
    """
    documents: dict[str, Document] = {}
    ref: str | None = None
    for one, entry in chosen:
        file = one.view.file
        document = documents.get(file) or snapshot.document(file)
        place = next((at for at, here in _entries(document) if here.raw.rstrip() == one.current.raw.rstrip()), None)
        if place is None:
            raise ConflictError(
                "document.conflict", f"{one.view.title!r} was changed once more", "look at it again", file=file
            )
        if entry is None:
            document = document.remove_entry(*place)
        else:
            here = document.section(place[0]).entries[place[1]]
            tail = here.raw[len(here.raw.rstrip(b" \t\r\n")) :]
            new = Entry.from_text(Entry(entry.raw.rstrip(b" \t\r\n") + tail).text)
            document = document.replace_entry(*place, new)
            ref = ref_of(file, document.section(place[0]).title or None, new) if place[0] >= 0 else None
        documents[file] = document
    return Edit(documents, summary, ref)


def _entries(document: Document) -> Iterator[tuple[tuple[int, int], Entry]]:
    for index, part in document.all_sections():
        for number, entry in enumerate(part.entries):
            yield (index, number), entry


def _current(document: Document, view: ChangeView) -> Entry | None:
    """Return the current entry of a view: by its source, else by ref or title; None where that is not exactly one."""
    wanted = (view.after or view.before or "").rstrip()
    exact = [entry for _, entry in _entries(document) if entry.title == view.title and entry.text.rstrip() == wanted]
    if exact:
        return exact[0]
    named = [
        entry
        for at, entry in _entries(document)
        if entry.title == view.title
        or (
            view.entry and ref_of(view.file, document.section(at[0]).title if at[0] >= 0 else None, entry) == view.entry
        )
    ]
    return named[0] if len(named) == 1 else None
