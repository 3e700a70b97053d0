"""The author of the text in a file, by the change log: the agent itself, another agent, or a person."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from memory.document.compare import apply, inverted
from memory.storage.changes import OWN, ChangeRecord, is_agent
from memory.storage.log.log import ChangeLog

Author = Literal["own", "agents", "person"]


MOST_LOOKED_AT = 300
"""How many changes of a file are searched for the author of a text; older text counts as a person's."""
_NEUTRAL = OWN - {"outside"}


def author_of_entry(history: ChangeLog, actor: str, ref: str) -> Author:
    """Return the author of an entry: an agent only where it added the entry and no one else changed it since."""
    found = history.list(entry=ref)
    if not found or not any(one.ref == ref or one.old_ref == ref for record in found for one in record.touched):
        return "person"
    # The oldest change that is known has to be the one by which the entry came.
    oldest = [one for one in found[-1].touched if one.ref is not None]
    if not any(one.kind == "added" for one in oldest):
        return "person"
    return _of(actor, (record.actor for record in found))


def author_of_file(history: ChangeLog, actor: str, path: str) -> Author:
    """Return the author of a whole file: an agent only where it made the file and no one else wrote to it since."""
    found = _of_file(history, path)
    if not found or next(file for file in found[-1].files if file.path == path).before is not None:
        return "person"
    return _of(actor, (record.actor for record in found))


def versions(history: ChangeLog, path: str, current: bytes) -> Iterator[tuple[str, bytes | None]]:
    """Yield for each change of a file, newest first, who made it and what the file held before; it ends where the
    bytes are no longer known.
    """
    data = current
    for record in _of_file(history, path)[:MOST_LOOKED_AT]:
        file = next(file for file in record.files if file.path == path)
        if file.kept is None:
            return
        try:
            data = apply(inverted(history.regions(record, file)), data)
        except ValueError:
            return
        yield record.actor, None if file.before is None else data


def whose(actor: str, writer: str) -> Author:
    """Return what a writer is to an agent."""
    if writer == actor:
        return "own"
    return "agents" if is_agent(writer) else "person"


def _of(actor: str, writers: Iterable[str]) -> Author:
    """Return whose text it is that several wrote; what memdeck does by itself makes no difference."""
    left = {whose(actor, writer) for writer in writers if writer not in _NEUTRAL}
    if not left or "person" in left:
        return "person"
    return "agents" if "agents" in left else "own"


def _of_file(history: ChangeLog, path: str) -> Sequence[ChangeRecord]:
    return [record for record in history.list(file=path) if path in record.paths]
