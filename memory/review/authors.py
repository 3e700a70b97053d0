"""The author of the text in a file, by the change log: the agent itself, another agent, or a person."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from memory.storage.changes import OWN, is_agent
from memory.storage.log.log import ChangeLog
from memory.storage.log.rows import OF_FILE, key

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
    found = history.records(OF_FILE, [key(path)], 0)
    if not found or next(file for file in found[-1].files if file.path == path).before is not None:
        return "person"
    return _of(actor, (record.actor for record in found))


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
