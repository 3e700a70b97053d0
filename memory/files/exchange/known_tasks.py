"""The tasks that a workspace has or had: whether a task that a conversion brings is one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory.files.tasks.values import Head, created_of, is_run

if TYPE_CHECKING:
    from memory.document import Entry
    from memory.files.snapshot import Snapshot


class KnownTasks:
    """The tasks of tasks.md and its archives, whatever became of them since they were converted.

    Two are the same by their `uuid`; by their `id` if title or `created` are the same too, because other projects count
    from 1 as well; without either by their title, and by `created` if both have it. A completed run of a recurring task
    is another one than the task.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        """Read all tasks."""
        self._known: dict[tuple[str, ...], list[Entry]] = {}
        for tasks in (snapshot.tasks, *snapshot.archived_tasks()):
            for task in tasks.tasks:
                for key in (_key(task.entry), _title(task.entry)):
                    self._known.setdefault(key, []).append(task.entry)

    def __contains__(self, entry: Entry) -> bool:
        """Return whether there is such a task."""
        key, title, created = _key(entry), _title(entry), created_of(entry)
        found = self._known.get(key, ())
        if key[0] == "uuid":
            return bool(found)
        if key[0] == "id":
            return any(_title(one) == title or created == (created_of(one) or "") for one in found)
        return any(None in (created, created_of(one)) or created == created_of(one) for one in found)


def _key(entry: Entry) -> tuple[str, ...]:
    for name in ("uuid", "id"):
        if value := entry.fields.get(name):
            return (name, value, *_run(entry))
    return _title(entry)


def _title(entry: Entry) -> tuple[str, ...]:
    return ("title", entry.memo(Head).title, *_run(entry))


def _run(entry: Entry) -> tuple[str, ...]:
    return (entry.fields.get("completed") or "",) if is_run(entry) else ()
