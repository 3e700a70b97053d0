"""Merges what other programs wrote to a file at the moment in which a change replaced it.

Such a program had the file open, so its bytes went to the displaced file. They are kept, and are one more version of
the file, based on the bytes before the change.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from memory.errors import MemdeckError
from memory.lazy import NamedTuple

if TYPE_CHECKING:
    from memory.files.snapshot import Snapshot
    from memory.storage.contracts import ChangingStore
    from memory.storage.protection import LateBytes
    from memory.workspace import Workspace

_INSIDE = "memory/"
_MORE = "more came after it was merged once"
_UNKNOWN = "what it started from is no longer known"


class Late(NamedTuple):
    """One late write: the file (relative to the memory folder), and why it was not merged ("": it was)."""

    file: str
    name: str
    why: str = ""


def merge(workspace: Workspace, store: ChangingStore, kept: LateBytes, now: datetime) -> Late:
    """Merge one late write into the current file, as a change of `outside`.

    Bytes that cannot be merged stay kept, with the reason: the version they are based on is no longer known, the same
    part was changed meanwhile, or another program is still writing.
    """
    own = store is workspace.store
    file = kept.path.removeprefix(_INSIDE) if own else store.shown(kept.path)
    try:
        why = _merge_entries(workspace, kept, file, now) if own else _merge_lines(store, kept, file, now)
        if not why:
            store.forget(kept, now)
    except MemdeckError as error:
        why = error.message
    return Late(file, kept.name, why)


def _merge_lines(store: ChangingStore, kept: LateBytes, shown: str, now: datetime) -> str:
    """Merge late bytes of a file of another system, which has to be a file of lines; return as `_merge_entries`."""
    from memory.document.compare import is_lines, take_over

    if kept.data is None or not kept.data.strip():
        return "it is empty, or cannot be read"
    if not kept.change:
        return _MORE
    if not is_lines(shown) or not store.reading.knows(kept.path):
        return "it is no file of lines"
    before = store.history.before(kept.change, shown)
    if before is None:
        return _UNKNOWN
    with store.transaction("merge", actor="outside", now=now) as transaction:
        current = transaction.read(kept.path)
        merged = take_over(before, kept.data, current.data)
        if merged is None:
            return "somebody else changed the same lines"
        transaction.write(kept.path, merged, base=current.base)
        transaction.commit(f"merged what another program wrote late to {shown}")
    return ""


def _merge_entries(workspace: Workspace, kept: LateBytes, file: str, now: datetime) -> str:
    """Merge late bytes of a memory file; return why that failed, "" if it did not."""
    from memory.document import parse
    from memory.files.edit import Edit
    from memory.files.merging import merge_file

    if kept.data is None:
        return "its bytes cannot be read"
    if not kept.change:
        return _MORE
    if not kept.data.strip():
        return "it is empty"  # The program was interrupted: this is not how a file is deleted.
    history = workspace.store.history
    if not kept.path.startswith(_INSIDE) or not workspace.store.reading.knows(kept.path):
        return "it is no memory file"
    before = history.before(kept.change, workspace.store.shown(kept.path))
    if before is None:
        return _UNKNOWN
    base, late = parse(before), parse(kept.data)

    def build(snapshot: Snapshot) -> Edit:
        merged = merge_file(file, base, late, snapshot.document(file))
        return Edit({file: merged.document}, f"merged what another program wrote late to {file}")

    workspace.change("merge", build, actor="outside", now=now)
    return ""
