"""Changes of memdeck that saves of other programs undid, and redoing them without losing what else was saved."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memory.document import parse
from memory.document.compare import is_lines, take_over
from memory.document.merge import kind_of, merge
from memory.errors import ConflictError, MemdeckError
from memory.files.snapshot import plain_title
from memory.storage.log.rows import FILE, KEPT, TakenBack

from .changes import INSIDE, file_name

if TYPE_CHECKING:
    from memory.storage import Change
    from memory.workspace import Workspace

SETTING = "reapplyUndone"
"""The key of config.md that makes changes redone automatically where a save did nothing else to their entries."""
REAPPLY = "reapply"


@dataclass(frozen=True, slots=True)
class Undone:
    """One change by another program that undid changes of memdeck: its id, when it was noticed, and what it undid."""

    id: str
    time: datetime
    parts: tuple[TakenBack, ...]

    @property
    def files(self) -> tuple[str, ...]:
        """The files, by their names in the memory folder."""
        return tuple(dict.fromkeys(file_name(one.path) for one in self.parts))

    @property
    def titles(self) -> tuple[str, ...]:
        """The titles of the entries, or of the sections of texts; each once."""
        return tuple(dict.fromkeys(_title(one) for one in self.parts))

    @property
    def is_file(self) -> bool:
        """Whether a whole file was removed or emptied."""
        return self.parts[0].kind == FILE

    @property
    def words(self) -> str:
        """What was undone, in a few words."""
        if self.is_file:
            return f"{file_name(self.parts[0].path)} as a whole"
        first = self.titles[0]
        more = len(self.titles) - 1
        return f"{first!r}" + (f" and {more} more" if more else "")

    @property
    def told(self) -> str:
        """What was undone and where."""
        return self.words if self.is_file else f"{self.words} in {', '.join(self.files)}"

    @property
    def whole(self) -> bool:
        """Whether the save did nothing else to any of the entries, so that redoing needs no choice."""
        return all(one.whole for one in self.parts)

    def json(self) -> dict[str, Any]:
        """Return it as a dict with the keys of the JSON interface."""
        return {
            "change": self.id,
            "time": self.time.isoformat().replace("+00:00", "Z"),
            "whole": self.whole,
            "entries": [
                {
                    "file": file_name(one.path),
                    "ref": one.ref,
                    "title": _title(one),
                    "change": one.change,
                    "kind": one.kind,
                }
                for one in self.parts
            ],
        }


def _title(one: TakenBack) -> str:
    if one.kind == FILE:
        return f"all of {file_name(one.path)}"
    return plain_title(file_name(one.path), one.title) or file_name(one.path)


def undone_changes(workspace: Workspace) -> tuple[Undone, ...]:
    """Return what was undone and waits for a decision, newest first.

    Changes that are back in the files, for whatever reason, are settled by this call.
    """
    history = workspace.store.history
    found: dict[str, list[TakenBack]] = {}
    for one in history.taken_back():
        found.setdefault(one.by, []).append(one)
    waiting = []
    for change_id, parts in found.items():
        if _is_back(workspace, change_id, parts):
            history.settle(change_id, KEPT)
        else:
            waiting.append(Undone(change_id, history.get(change_id).time, tuple(parts)))
    return tuple(waiting)


def _is_back(workspace: Workspace, change_id: str, parts: Sequence[TakenBack]) -> bool:
    """Return whether redoing would change nothing."""
    if parts[0].kind == FILE:
        return _file_is_back(workspace, change_id, parts[0].path)
    for path, since in {one.path: one.since for one in parts}.items():
        base, ours = _sides(workspace, change_id, path, since)
        found = workspace.together.find(path)
        if base is None or ours is None or found is None:
            return False
        try:
            current = found[0].read(found[1])
            if not current.exists:
                return False
            if is_lines(path):
                wanted = take_over(base, ours, current.data)
                if wanted is None or not set(ours.splitlines()) <= set(current.data.splitlines()):
                    return False
                continue
            if _surely_missing(base, ours, current.data):
                return False
            merged = merge(parse(base), parse(ours), parse(current.data), kind_of(file_name(path)))
        except MemdeckError:
            return False
        # Differences in the front matter (the time of a change) are ignored.
        same = merged.document.replaced(front_raw=b"").dump() == parse(current.data).replaced(front_raw=b"").dump()
        if merged.conflicts or not same:
            return False
    return True


def _surely_missing(base: bytes, ours: bytes, current: bytes) -> bool:
    """Return whether the lines alone show that something is not back; merging long files takes much longer."""
    old, new, here = (
        {line for line in data.splitlines() if line.strip() and not line.startswith(b"updated:")}
        for data in (base, ours, current)
    )
    come, gone = new - old, old - new
    return not come <= here or (not come and bool(gone & here))


def _file_is_back(workspace: Workspace, change_id: str, path: str) -> bool:
    """Return whether a removed file holds again every line that it held."""
    before, found = workspace.store.history.before(change_id, path), workspace.together.find(path)
    if before is None or found is None:
        return False
    try:
        here = set(found[0].read(found[1]).data.splitlines())
    except MemdeckError:
        return False
    return all(line in here for line in before.splitlines() if line.strip() and not line.startswith(b"updated:"))


def _sides(workspace: Workspace, change_id: str, path: str, since: str) -> tuple[bytes | None, bytes | None]:
    """Return the bytes that the other program had read, and those that it overwrote."""
    history = workspace.store.history
    return history.before(since, path), history.before(change_id, path)


def revert_change(workspace: Workspace, change_id: str, *, actor: str, now: datetime) -> Change:
    """Undo one change of any actor; errors as `Workspace.revert`.

    Of another program's save that undid changes of memdeck, only that part is undone: the changes are redone, and what
    else it wrote stays; see `bring_back`.
    """
    history = workspace.store.history
    if history.taken_back(history.get(change_id).id):
        return bring_back(workspace, change_id, actor=actor, now=now)
    return workspace.revert(change_id, actor=actor, now=now)


def bring_back(workspace: Workspace, change_id: str, *, actor: str, now: datetime) -> Change:
    """Redo what a save of another program undid, and return the new change.

    What else it wrote, and later changes, stay. Raises `change.not_found`, `change.nothing_taken` where the save undid
    nothing that is still missing, `change.thinned`, and `document.conflict` where both changed the same part.
    """
    history = workspace.store.history
    undone = _undone(workspace, change_id)
    if undone.is_file:
        return _file_back(workspace, undone.id, undone.parts[0].path, actor, now)
    if not all(one.path.startswith(INSIDE) or is_lines(one.path) for one in undone.parts):
        # Versions of such a file cannot be merged: the save is reverted as a whole, or the revert is refused.
        return history.revert(undone.id, actor=actor, now=now)
    for path, since in {one.path: one.since for one in undone.parts}.items():
        base, ours = _sides(workspace, undone.id, path, since)
        if base is None or ours is None:
            said = f"the bytes of change {undone.id} are no longer kept"
            raise ConflictError("change.thinned", said, "restore it by hand", id=undone.id)
        what = replace(undone, parts=tuple(one for one in undone.parts if one.path == path))
        summary = f"brought back {what.words}"
        if path.startswith(INSIDE):
            change = workspace.save(
                REAPPLY, file_name(path), parse(base), parse(ours), actor=actor, now=now, summary=summary
            ).change
        else:
            change = _lines_back(workspace, path, base, ours, actor, now, summary)
    history.settle(undone.id, change.id if change.files else KEPT)
    return change


def _undone(workspace: Workspace, change_id: str) -> Undone:
    """Return what a change undid; ConflictError `change.nothing_taken` for nothing that is still missing."""
    history = workspace.store.history
    record = history.get(change_id)
    parts = history.taken_back(record.id)
    if not parts:
        said = f"change {record.id} took nothing back that is missing"
        raise ConflictError("change.nothing_taken", said, "show it to see what it did", id=record.id)
    return Undone(record.id, record.time, tuple(parts))


def _file_back(workspace: Workspace, change_id: str, path: str, actor: str, now: datetime) -> Change:
    """Restore a file byte for byte if it was not created again, else merge its entries into the current file."""
    history = workspace.store.history
    try:
        return history.revert(change_id, actor=actor, now=now)
    except ConflictError as error:
        before = history.before(change_id, path)
        if error.code != "document.conflict" or before is None or not path.startswith(INSIDE):
            raise
    name = file_name(path)
    done = workspace.save(
        REAPPLY, name, parse(b""), parse(before), actor=actor, now=now, summary=f"brought back {name}"
    ).change
    history.settle(change_id, done.id if done.files else KEPT)
    return done


def _lines_back(
    workspace: Workspace, path: str, base: bytes, ours: bytes, actor: str, now: datetime, summary: str
) -> Change:
    """Redo changed lines in a file of another system."""
    found = workspace.together.find(path)
    if found is None or not is_lines(path) or not workspace.together.knows(path):
        raise ConflictError("document.conflict", f"{path} is no file of lines", "make the change by hand", file=path)
    store, name = found
    with store.transaction(REAPPLY, actor=actor, now=now) as transaction:
        current = transaction.read(name)
        merged = take_over(base, ours, current.data)
        if merged is None:
            raise ConflictError(
                "document.conflict", f"somebody else changed the same lines of {path}", "make it by hand", file=path
            )
        transaction.write(name, merged, base=current.base)
        return transaction.commit(summary)


def leave(workspace: Workspace, change_id: str) -> Undone:
    """Accept another program's save as it is and stop reminding of it; errors as `bring_back`."""
    undone = _undone(workspace, change_id)
    workspace.store.history.settle(undone.id, KEPT)
    return undone


def bring_back_chosen(workspace: Workspace, now: datetime) -> tuple[Change, ...]:
    """Redo undone changes automatically if config.md says so (`reapplyUndone: true`); return the new changes.

    Only where the save did nothing else to the entries; anything else waits for a choice.
    """
    done: list[Change] = []
    with suppress(MemdeckError):
        if workspace.store.history.taken_back() and workspace.snapshot().config.truth(SETTING):
            for one in undone_changes(workspace):
                # What the user undid stays undone.
                if one.whole and not any(part.again or part.kind == FILE for part in one.parts):
                    with suppress(MemdeckError):
                        done.append(bring_back(workspace, one.id, actor="maintain", now=now))
    return tuple(done)
