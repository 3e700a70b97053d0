"""A program that has a file open and writes to it when it has long been displaced; two processes at once."""

from __future__ import annotations

import os
from contextlib import nullcontext
from pathlib import Path

from memory.errors import MemdeckError
from memory.files.tasks import edits as task_edits
from tests.crash.calls import without_leases
from tests.crash.foreign import MARK
from tests.crash.kill import Tally
from tests.crash.operations import NOW, Place, fails, sample
from tests.patience import reap

NAME = ".aiter/memory/contacts.md"


def late(top: Path) -> Tally:
    """Write late to what was displaced, and count with two processes."""
    tally = Tally("late writers, two at once")
    _through_the_stage(tally, Place(top / "late"))
    for leases in (True, False):
        for late_ones in ((1,), (2,), (0, 2), (1, 2), (0, 1, 2, 3)):
            _behind_others(tally, Place(top / "behind"), late_ones, leases)
    _open_before(tally, Place(top / "open"))
    _two(tally, Place(top / "two"))
    return tally


def _change(place: Place, settle: float) -> None:
    store = place.store()
    store.settle, store.patience = settle, 0
    with store.transaction("t", actor="cli", now=NOW) as transaction:
        before = transaction.read("memory/contacts.md").data
        transaction.write("memory/contacts.md", before + b"x\n", base=before)
        transaction.commit()


def _through_the_stage(tally: Tally, place: Place) -> None:
    """A file that was displaced and is still open keeps its name and its bytes, whoever starts next."""
    sample(place)
    _change(place, settle=60)
    stage = place.shop / ".aiter/.memdeck/stage"
    tally.points += 1
    names = [path for path in stage.iterdir() if path.read_bytes() + b"x\n" == (place.shop / NAME).read_bytes()]
    tally.expect(len(names) == 1, "the displaced file has no name")
    if not names:
        return
    with names[0].open("ab") as writer:
        place.recover()
        writer.write(MARK)
        writer.flush()
        place.recover()
        tally.expect(any(MARK in path.read_bytes() for path in stage.iterdir()), "open, and gone")
    place.recover()
    kept = place.recover().kept()
    tally.expect([one.data is not None and MARK in one.data for one in kept] == [True], f"late bytes: {kept}")


def _behind_others(tally: Tally, place: Place, late_ones: tuple[int, ...], leases: bool) -> None:
    """Bytes that came late to some of four displaced files are all found by the next start."""
    sample(place)
    stage = place.shop / ".aiter/.memdeck/stage"
    names: list[Path] = []
    for _ in range(4):
        _change(place, settle=60)
        names += [path for path in stage.iterdir() if path not in names]
    for number in late_ones:
        with names[number].open("ab") as writer:
            writer.write(MARK)
    with nullcontext() if leases else without_leases():
        store = place.store()
        store.settle = 1e-9
        with store.transaction("look", actor="cli", now=NOW):
            pass
        found = len(store.kept())
    tally.points += 1
    where = f"late bytes in {late_ones}, leases {leases}"
    tally.expect(found == len(late_ones), f"{where}: {found} of them were found")
    there = sum(MARK in path.read_bytes() for path in stage.iterdir())
    tally.expect(there == len(late_ones), f"{where}: {there} of them are there")
    place.clear()


def _open_before(tally: Tally, place: Place) -> None:
    """A file that a program has open for writing is not displaced at all."""
    sample(place)
    tally.points += 1
    with (place.shop / NAME).open("ab") as writer:
        error = fails(lambda: _change(place, settle=0))
        writer.write(MARK)
    code = error.code if isinstance(error, MemdeckError) else None
    tally.expect(code == "file.in_use", f"an open file was changed: {error}")
    tally.expect(MARK in (place.shop / NAME).read_bytes(), "an open file was displaced")


def _two(tally: Tally, place: Place, each: int = 15) -> None:
    """Of what several processes add, all is there."""
    sample(place)
    pids = []
    for number in range(4):
        pid = os.fork()
        if not pid:
            try:
                workspace = place.workspace()
                for turn in range(each):
                    title = f"Task {number}-{turn} end"
                    workspace.change("add", lambda s, t=title: task_edits.add_task(s, t, now=NOW), actor="cli", now=NOW)
            except BaseException:
                os._exit(1)
            os._exit(0)
        pids.append(pid)
    codes = [reap(pid) for pid in pids]
    text = (place.shop / ".aiter/memory/tasks.md").read_text()
    there = sum(f"Task {number}-{turn} end" in text for number in range(4) for turn in range(each))
    tally.points += 4 * each
    tally.expect(codes == [0] * 4 and there == 4 * each, f"{there} of {4 * each} additions, exits {codes}")
