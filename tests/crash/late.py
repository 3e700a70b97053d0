"""A program that writes to a file that was just displaced; two processes at once."""

from __future__ import annotations

import os
from pathlib import Path

from memory.files.tasks import edits as task_edits
from tests.crash.foreign import MARK
from tests.crash.kill import Tally
from tests.crash.operations import NOW, Place, sample
from tests.patience import reap

NAME = ".aiter/memory/contacts.md"


def late(top: Path) -> Tally:
    """Write late to what was displaced, and count with two processes."""
    tally = Tally("late writers, two at once")
    _through_the_stage(tally, Place(top / "late"))
    for late_ones in ((1,), (2,), (0, 2), (1, 2), (0, 1, 2, 3)):
        _behind_others(tally, Place(top / "behind"), late_ones)
    _two(tally, Place(top / "two"))
    return tally


def _change(place: Place, settle: float) -> None:
    store = place.store()
    store.settle = settle
    with store.transaction("t", actor="cli", now=NOW) as transaction:
        before = transaction.read("memory/contacts.md").data
        transaction.write("memory/contacts.md", before + b"x\n", base=before)
        transaction.commit()


def _through_the_stage(tally: Tally, place: Place) -> None:
    """What a program writes to a file that was just displaced is kept, and listed for the person."""
    sample(place)
    _change(place, settle=60)
    stage = place.shop / ".aiter/.memdeck/stage"
    tally.points += 1
    names = [path for path in stage.iterdir() if path.read_bytes() + b"x\n" == (place.shop / NAME).read_bytes()]
    tally.expect(len(names) == 1, "the displaced file has no name")
    if not names:
        return
    with names[0].open("ab") as writer:
        writer.write(MARK)
    place.recover()
    kept = place.recover().kept()
    tally.expect([one.data is not None and MARK in one.data for one in kept] == [True], f"late bytes: {kept}")


def _behind_others(tally: Tally, place: Place, late_ones: tuple[int, ...]) -> None:
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
    store = place.store()
    store.settle = 1e-9
    with store.transaction("look", actor="cli", now=NOW):
        pass
    found = len(store.kept())
    tally.points += 1
    where = f"late bytes in {late_ones}"
    tally.expect(found == len(late_ones), f"{where}: {found} of them were found")
    there = sum(MARK in path.read_bytes() for path in stage.iterdir())
    tally.expect(there == len(late_ones), f"{where}: {there} of them are there")
    place.clear()


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
