"""What other programs wrote to a file in the very moment in which a change took its place: merged afterwards.

Such a program had the file open, so its bytes went to what was displaced. They are kept beside, and are one more
version of the file, made from the bytes before the change.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING

from memory.errors import MemdeckError
from memory.named_tuple import NamedTuple

if TYPE_CHECKING:
    from memory.files.snapshot import Snapshot
    from memory.storage.contracts import ChangingStore
    from memory.storage.files.protection import LateBytes
    from memory.workspace import Workspace

_INSIDE = "memory/"
_MORE = "more came after it was merged once"


class Late(NamedTuple):
    """One late write: the file (relative to the memory folder), and why it was not merged ("": it was)."""

    file: str
    name: str
    why: str = ""


def merge_late(workspace: Workspace, now: datetime) -> tuple[Late, ...]:
    """Merge what came too late into the files as they are now, as changes of `outside`; return what was found.

    What cannot be merged stays kept, with the reason: the bytes it started from are no longer known, somebody else
    changed the same meanwhile, or another program is still at it. Doing it twice is doing it once.
    """
    stores = dict.fromkeys((workspace.store, *workspace.stores()))
    for store in stores:
        with suppress(MemdeckError):
            store.look_after(now)
    if not any(store.kept() for store in stores):
        return ()
    found = [_merge(workspace, kept, now) for kept in workspace.store.kept()]
    for store in stores:
        if store is not workspace.store:
            found += [_merge_lines(store, kept, now) for kept in store.kept()]
    return tuple(found)


def _merge_lines(store: ChangingStore, kept: LateBytes, now: datetime) -> Late:
    """Merge what came too late to a file of another system, which has to be one of lines."""
    from memory.document.compare import is_lines, take_over

    shown, why = store.shown(kept.path), ""
    try:
        if kept.data is None or not kept.data.strip():
            why = "it is empty, or cannot be read"
        elif not kept.change:
            why = _MORE
        elif not is_lines(shown) or not store.reading.knows(kept.path):
            why = "it is no file of lines"
        elif (before := store.history.before(kept.change, shown)) is None:
            why = "what it started from is no longer known"
        else:
            with store.transaction("merge", actor="outside", now=now) as transaction:
                current = transaction.read(kept.path)
                merged = take_over(before, kept.data, current.data)
                if merged is None:
                    why = "somebody else changed the same lines"
                else:
                    transaction.write(kept.path, merged, base=current.base)
                    transaction.commit(f"merged what another program wrote late to {shown}")
            if not why:
                store.forget(kept, now)
    except MemdeckError as error:
        why = error.message
    return Late(shown, kept.name, why)


def _merge(workspace: Workspace, kept: LateBytes, now: datetime) -> Late:
    file = kept.path.removeprefix(_INSIDE)
    try:
        why = _why_not(workspace, kept, file, now)
        if not why:
            workspace.store.forget(kept, now)
    except MemdeckError as error:
        why = error.message
    return Late(file, kept.name, why)


def _why_not(workspace: Workspace, kept: LateBytes, file: str, now: datetime) -> str:
    """Merge one of them; return why that could not be done."""
    from memory.document import parse
    from memory.files.edit import Edit
    from memory.files.merging import merge_file

    if kept.data is None:
        return "its bytes cannot be read"
    if not kept.change:
        return _MORE
    if not kept.data.strip():
        return "it is empty"  # A program that was interrupted: nobody deletes a whole file like that.
    history = workspace.store.history
    if not kept.path.startswith(_INSIDE) or not workspace.store.reading.knows(kept.path):
        return "it is no memory file"
    before = history.before(kept.change, workspace.store.shown(kept.path))
    if before is None:
        return "what it started from is no longer known"
    base, late = parse(before), parse(kept.data)

    def build(snapshot: Snapshot) -> Edit:
        merged = merge_file(file, base, late, snapshot.document(file))
        return Edit({file: merged.document}, f"merged what another program wrote late to {file}")

    workspace.change("merge", build, actor="outside", now=now)
    return ""
