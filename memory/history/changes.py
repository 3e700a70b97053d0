"""The history of a workspace for those who look at it: what each change did, entry by entry."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from memory.document import Entry
from memory.errors import AmbiguousError, ConflictError, NotFoundError
from memory.files.diff import ChangeView, FileRegions, change_views
from memory.files.refs.refs import read_ref
from memory.workspace import MEMORY_FOLDER

if TYPE_CHECKING:
    from memory.storage import Change
    from memory.storage.log.history import History
    from memory.storage.log.records import ChangeRecord
    from memory.workspace import Workspace

INSIDE = MEMORY_FOLDER + "/"


def list_changes(
    workspace: Workspace,
    *,
    limit: int = 0,
    actor: str | None = None,
    file: str | None = None,
    entry: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    before: int | None = None,
) -> tuple[ChangeRecord, ...]:
    """Return changes, newest first; the filters are those of `History.list`, `before` the `seq` a page goes on from."""
    history = workspace.store.history
    return history.list(limit, actor=actor, file=file, entry=entry, since=since, until=until, before=before)


def views_of(workspace: Workspace, record: ChangeRecord, history: History | None = None) -> tuple[ChangeView, ...]:
    """Return what a change did, entry by entry; nothing where its bytes are no longer kept.

    `history` is the log that holds it where that is not the workspace's.
    """
    history = history or workspace.store.history
    files = [FileRegions(file_name(file.path), history.regions(record, file)) for file in record.files]
    return change_views(
        files,
        id=record.id,
        time=record.time,
        actor=record.actor,
        operation=record.operation,
        summary=record.summary,
    )


def file_name(path: str) -> str:
    """Return a file as faces name it: by its name in the memory folder, or as seen from the workspace."""
    return path.removeprefix(INSIDE)


def row(record: ChangeRecord, store: str = "") -> dict[str, Any]:
    """Return a change under the keys of the interface; `file` and `entry` are the first of `files` and `entries`.

    `store` is the folder that the paths count from where that is not the workspace.
    """
    named = [one for one in record.touched if one.ref is not None]
    # The note that a change of a task leaves in the journal is not what it was about.
    first = next((one for one in named if file_name(one.file) != "journal.md"), named[0] if named else None)
    files = [file_name(path) for path in record.paths]
    return {
        "id": record.id,
        "time": record.time.isoformat().replace("+00:00", "Z"),
        "actor": record.actor,
        "operation": record.operation,
        "file": file_name(first.file) if first else (files[0] if files else None),
        "entry": first.ref if first else None,
        "summary": record.summary,
        "undoneBy": record.undone_by,
        "reviewedBy": record.reviewer,
        "proposal": record.proposal,
        "store": store or None,
        "files": files,
        "entries": [
            {"file": file_name(one.file), "ref": one.ref, "title": one.title, "kind": one.kind}
            for one in record.touched
        ],
        "revertible": record.kept and record.undone_by is None,
    }


def unrecorded_row(change: Change, store: str = "") -> dict[str, Any]:
    """Return the row of a change that the log does not have; see `row`."""
    files = [file_name(file.path) for file in change.files]
    return {
        "id": change.id,
        "time": change.time.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "actor": change.actor,
        "operation": change.operation,
        "file": files[0] if files else None,
        "entry": None,
        "summary": change.summary,
        "undoneBy": None,
        "reviewedBy": change.reviewer,
        "proposal": change.proposal,
        "store": store or None,
        "files": files,
        "entries": [],
        "revertible": False,
    }


@dataclass(frozen=True, slots=True)
class PastEntry:
    """An entry as it once was; `names` are the refs and titles that it had around the change."""

    file: str
    section: str | None
    entry: Entry
    names: tuple[str, ...]


def version_of(workspace: Workspace, change_id: str, entry: str, *, after: bool) -> PastEntry:
    """Return the source of an entry before or after a change; raises as `memory.history.versions.restore_version`."""
    record = workspace.store.history.get(change_id)
    if not record.kept:
        raise ConflictError(
            "change.thinned", f"the bytes of change {record.id} are no longer kept", "restore it by hand", id=record.id
        )
    found = [view for view in views_of(workspace, record) if (view.after if after else view.before) is not None]
    wanted = _matching(found, entry)
    if len(wanted) != 1:
        titles = [view.entry or view.title for view in wanted or found]
        kind = AmbiguousError if wanted else NotFoundError
        raise kind(
            "change.ambiguous_entry" if wanted else "change.no_entry",
            f"change {record.id} holds {len(wanted) or 'no'} {'entries' if wanted else 'entry'} {entry[:60]!r}",
            f"it has {', '.join(titles[:4])}" if titles else "show it to see its entries",
            candidates=titles,
        )
    (view,) = wanted
    source = view.after if after else view.before
    assert source is not None
    names = tuple(dict.fromkeys(name for name in _names(view) if name))
    section = view.section
    if not after and view.kind == "moved" and view.moved_from is not None and ": " not in view.moved_from:
        section = view.moved_from
    return PastEntry(view.file, section, Entry.from_text(source), names)


def _matching(views: Iterable[ChangeView], entry: str) -> list[ChangeView]:
    text = entry.strip()
    read = read_ref(text)
    views = list(views)
    if read is not None:
        digits = read[1][:10]
        found = [view for view in views if view.entry and view.entry.partition("#")[2].startswith(digits)]
        if found:
            return found
    exact = [view for view in views if view.title == text]
    return exact or [view for view in views if text and text.casefold() in view.title.casefold()]


def _names(view: ChangeView) -> Iterable[str | None]:
    yield view.entry
    for source in (view.before, view.after):
        if source is not None:
            yield Entry(source.encode("utf-8", "surrogateescape")).title
