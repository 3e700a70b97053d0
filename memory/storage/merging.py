"""Merges a change into files that moved on since: an undo, a redo, a revert, or accepting a proposal.

Each is the same merge: base is what the change started from, ours what it makes of that, theirs the current file. Of
an undo, base is what the change left and ours what was there before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple

from memory.document import Document
from memory.document.compare import is_lines
from memory.document.merge import Conflict, kind_of, merge, source
from memory.document.merge.sequences import merge_files
from memory.document.nodes import bare

from .changes import FileChange, file_name
from .store import SharedLog

State = Literal["ready", "moved", "conflict", "gone", "decided"]
Side = Literal["proposal", "file", "before"]
Key = tuple[str, str, str]
_ANY = b"any"
"""Bytes of a file; of one that is made from others, none are authored."""


class FileConflict(NamedTuple):
    """A part that both a change and a later one modified; `file` is relative to the workspace."""

    file: str
    conflict: Conflict

    @property
    def key(self) -> Key:
        """A key that is unique among the conflicts of a change."""
        one = self.conflict
        return (self.file, f"{one.section}/{one.entry}/{one.number}", one.field)

    def json(self) -> dict[str, Any]:
        """Return it for programs: base, `ours` (the change) and `theirs` (the current file)."""
        return {"file": file_name(self.file), **self.conflict.json()}


class Written(NamedTuple):
    """What a person wrote instead of all three sides, as conflicts show these; None takes the part away."""

    text: str | None


Choice = Side | Written
Take = Callable[[FileConflict], Choice]
"""Returns which side of a conflict counts (the change, the current file, the version before both), or another text."""


def taking(side: Side | None) -> Take | None:
    """Return a function that settles all conflicts by one side, None if no side is given."""
    return None if side is None else lambda _: side


def taking_each(chosen: Mapping[Key, Choice]) -> Take:
    """Return a function that settles each conflict by the person's choice for it; others stay as in the file."""
    return lambda clash: chosen.get(clash.key, "file")


class MergedChange(NamedTuple):
    """What making a change now would write, and what was changed on both sides.

    `files` have the current bytes and those to write, with paths relative to the workspace. The state is `ready` where
    the files are as the change expects them, `moved` where it is merged, `gone` where there is nothing left to do.
    `reasons` are sentences about files that cannot be merged.
    """

    state: State
    files: tuple[FileChange, ...] = ()
    clashes: tuple[FileConflict, ...] = ()
    reasons: tuple[str, ...] = ()

    def json(self) -> dict[str, Any]:
        """Return it for programs."""
        return {
            "state": self.state,
            "conflicts": [one.json() for one in self.clashes],
            "reasons": list(self.reasons),
        }


def merge_change(
    stores: SharedLog,
    files: Sequence[FileChange],
    read: Callable[[str], bytes | None],
    now: datetime,
    take: Take | None = None,
    *,
    stamped: bool = True,
) -> MergedChange:
    """Return what making a change would do to the files; `read` gets a path in the workspace, and returns its bytes.

    `take` settles conflicts if given. With `stamped`, files that are as the change expects them get the time of the
    change, too; else they become what it says byte for byte. Nothing is written.
    """
    found: list[FileChange] = []
    clashes: list[FileConflict] = []
    reasons: list[str] = []
    states: set[str] = set()
    for file in files:
        current = read(file.path)
        if not stores.authored(file.path, _ANY):
            found += _derived(file, current)
        elif current == file.after:
            states.add("same")
        elif current == file.before:
            states.add("ready")
            after = _stamped(stores, file.path, file.after, now) if stamped else file.after
            found.append(FileChange(file.path, current, after, file.mode))
        else:
            match _merged(stores, file, current, now, take):
                case str() as why:
                    reasons.append(f"{file.path}: {why}")
                case None:
                    states.add("moved")
                case bytes() as data:
                    states.add("moved")
                    found.append(FileChange(file.path, current, data, file.mode))
                case both:
                    clashes += both
    if clashes or reasons:
        return MergedChange("conflict", (), tuple(clashes), tuple(reasons))
    if not found or states == {"same"}:
        return MergedChange("gone")
    if "same" in states:
        # A part of it was already done in another way: doing the rest would add an entry a second time.
        written = {one.path for one in found}
        done = [file.path for file in files if file.path not in written and stores.authored(file.path, _ANY)]
        return MergedChange("conflict", (), (), tuple(f"{path}: it already says so" for path in done))
    return MergedChange("moved" if "moved" in states else "ready", tuple(found))


def _derived(file: FileChange, current: bytes | None) -> list[FileChange]:
    """Return a file made from others as it is after a change: with its lines, or as it is where they do not fit."""
    data = file.after
    if current != file.before:
        data = merge_files(file.before or b"", file.after or b"", current or b"")
        if data is None:
            return []
    return [] if data == current else [FileChange(file.path, current, data or None, file.mode)]


def _merged(
    stores: SharedLog, file: FileChange, current: bytes | None, now: datetime, take: Take | None
) -> bytes | str | list[FileConflict] | None:
    """Return a file that moved on with a change merged into it; None where there is nothing left to do, a sentence
    where it cannot be merged, or the parts that both changed.
    """
    path, before, after = file.path, file.before or b"", file.after or b""
    if current is None:
        return "the file is gone"
    if is_lines(path):
        data = merge_files(before, after, current)
        if data is None:
            return "the same lines were changed since"
        return data if data != current else None
    base, ours, theirs = (stores.document(path, data) for data in (before, after, current))
    if base is None or ours is None or theirs is None:
        return "the file was changed since, and it is merged by hand only"
    # Different times of the change are no conflict.
    base, ours, theirs = (stores.stamp(path, one, now) for one in (base, ours, theirs))

    def decide(one: Conflict) -> str | None:
        return _chosen(one, "file" if take is None else take(FileConflict(path, one)))

    result = merge(base, ours, theirs, kind_of(path), strict=True, decide=decide)
    if take is None and result.conflicts:
        return [FileConflict(path, conflict) for conflict in result.conflicts]
    document = result.document
    if _entries(base) != _entries(ours) and _entries(document) == _entries(theirs):
        return None  # Of its entries nothing is left to do: the text around them stays, too.
    merged = document.dump()
    return merged if merged not in (current, theirs.dump()) else None


def _entries(document: Document) -> Counter[tuple[str, bytes]]:
    return Counter((part.title, bare(entry)) for _, part in document.all_sections() for entry in part.entries)


def _stamped(stores: SharedLog, path: str, data: bytes | None, now: datetime) -> bytes | None:
    document = None if data is None else stores.document(path, data)
    return data if document is None else stores.stamp(path, document, now).dump()


def _chosen(conflict: Conflict, choice: Choice) -> str | None:
    """Return the source of what was chosen for a conflict."""
    match choice:
        case Written(text):
            return source(conflict, text)
        case "before":
            return conflict.base
        case "proposal":
            return conflict.ours
        case _:
            return conflict.theirs
