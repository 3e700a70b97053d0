"""Another program saves the copy that it read before a change of ours: ours is gone from the file, and not unnoticed.

Its write stands: memdeck never takes another program's bytes away. But whoever looks next records it as a change from
outside that names the entries of ours, which can be brought back without touching the bytes of the other program.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from memory.files.edit import Edit
from memory.files.journal import edits as journal_edits
from memory.files.snapshot import Snapshot
from memory.files.tasks import edits as task_edits
from memory.history.changes import views_of
from memory.history.versions import restore_version
from memory.storage.changes import OUTSIDE, ChangeRecord
from tests.crash.foreign import MARK
from tests.crash.kill import Tally
from tests.crash.operations import LATER, Place, changed, sample

Saver = Callable[[Path, bytes], None]


def _in_place(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def _appended(path: Path, data: bytes) -> None:
    with path.open("r+b") as file:
        file.truncate(0)
    with path.open("ab") as file:
        file.write(data)


def _replaced(path: Path, data: bytes) -> None:
    other = path.with_name("other.tmp")
    other.write_bytes(data)
    other.replace(path)


def _created_anew(path: Path, data: bytes) -> None:
    path.unlink()
    path.write_bytes(data)


SAVERS: tuple[Saver, ...] = (_in_place, _appended, _replaced, _created_anew)


def _progressed(snapshot: Snapshot) -> Edit:
    return task_edits.edit_task(snapshot, "First of all", set={"notes": "ours"}, now=LATER)


CHANGES: dict[str, tuple[str, str, str, Callable[[Snapshot], Edit]]] = {
    # what: the file, the entry, what the stale save did to it, our change
    "add": ("tasks.md", "Second", "removed", lambda s: task_edits.add_task(s, "Second", now=LATER)),
    "edit": ("tasks.md", "First of all", "edited", _progressed),
    "move": ("tasks.md", "First of all", "moved", lambda s: task_edits.start_task(s, "First of all", now=LATER)),
    "remove": ("tasks.md", "First of all", "added", lambda s: task_edits.remove_task(s, "First of all", now=LATER)),
    "note": ("journal.md", "Noted", "removed", lambda s: journal_edits.add_entry(s, "Noted", ("a line",), now=LATER)),
}


def stale(top: Path) -> Tally:
    """Undo changes of ours by stale saves of every kind, with and without bytes of the other program's own."""
    tally = Tally("a stale save undoes a change of ours")
    for name, (file, entry, kind, build) in CHANGES.items():
        for saver in SAVERS:
            for own in (MARK, b""):
                for by_a_change in (False, True):
                    place = Place(top / "stale")
                    where = f"{name}, {saver.__name__}, {len(own)} bytes of its own, change {by_a_change}"
                    _undone(tally, place, file, entry, kind, build, saver, own, by_a_change, where)
                    place.clear()
    return tally


def _undone(
    tally: Tally,
    place: Place,
    file: str,
    entry: str,
    kind: str,
    build: Callable[[Snapshot], Edit],
    saver: Saver,
    own: bytes,
    by_a_change: bool,
    where: str,
) -> None:
    tally.points += 1
    sample(place)
    path = place.shop / ".aiter/memory" / file
    old = path.read_bytes() + own
    changed(place, build, now=LATER)
    (ours,) = place.workspace().store.history.list(1)
    ours_bytes = path.read_bytes()
    saver(path, old)
    if by_a_change:
        # Nobody looked before the next change of the same file: it notices as well.
        titles = task_edits.add_task, journal_edits.add_entry
        changed(place, lambda s: titles[file == "journal.md"](s, "Later on", now=LATER), now=LATER)
    else:
        noted = place.workspace().notice(LATER)
        tally.expect(noted == 1, f"{where}: {noted} changes were noted")
        tally.expect(path.read_bytes() == old, f"{where}: the other program's file was touched")
    workspace = place.workspace()
    found = workspace.store.history.list(actor=OUTSIDE)
    touched = [(one.title.rpartition("] ")[2], one.kind) for record in found for one in record.touched]
    fits = any(entry in title and how == kind for title, how in touched)
    tally.expect(len(found) == 1 and fits, f"{where}: recorded is {touched}")
    again = place.workspace().notice(LATER)
    tally.expect(again == 0, f"{where}: noted again")
    if found and kind != "added":
        _brought_back(tally, place, ours, found[0], entry, ours_bytes, own, path, where)


def _brought_back(
    tally: Tally,
    place: Place,
    ours: ChangeRecord,
    theirs: ChangeRecord,
    entry: str,
    ours_bytes: bytes,
    own: bytes,
    path: Path,
    where: str,
) -> None:
    """What ours had made of the entry stands again, beside the bytes of the other program."""
    workspace = place.workspace()
    views = [view for view in views_of(workspace, ours) if view.file == path.name and entry in view.title]
    tally.expect(len(views) == 1, f"{where}: our change shows {len(views)} entries")
    restore_version(workspace, ours.id, views[0].entry or entry, actor="cli", now=LATER, after=True)
    after = path.read_bytes()
    source = (views[0].after or "").strip().encode()
    tally.expect(source in after, f"{where}: the entry is not as ours had made it")
    tally.expect(after.count(b"### ") >= ours_bytes.count(b"### "), f"{where}: an entry is missing")
    tally.expect(own.strip() in after, f"{where}: the other program's bytes are gone")
    tally.expect(theirs.undone_by is None, f"{where}: their change is called undone")
