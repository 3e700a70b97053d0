"""Decisions before files: what a crash leaves is finished, reverts are guarded, foreign edits are never lost."""

from __future__ import annotations

import multiprocessing
from datetime import timedelta
from pathlib import Path

import pytest

from memory.curated.control import carry_out
from memory.curated.control.carry_out import pending, replay
from memory.curated.control.decision import Candidate, prune, select
from memory.curated.control.propose import find, propose, revert
from memory.curated.curated import Curated
from memory.curated.model import OperationCall
from memory.errors import ConflictError, MemdeckError, NotFoundError, RefusedError
from tests.memory.curated.conftest import NOW, Den, count_recall, forget, tree, write
from tests.patience import join


class Killed(BaseException):
    """The end of the process at a point between."""


def _interrupted(den: Den, point: str, monkeypatch: pytest.MonkeyPatch, curated: Curated) -> None:
    """Write a memory in a process that ends at a point."""
    with monkeypatch.context() as patch:
        if point == "file":
            from memory.curated.records import Records

            real, after = Records.run, [False]

            def run(self: Records, work: object) -> object:
                if after[0]:
                    raise Killed
                return real(self, work)  # type: ignore[arg-type]

            def end(*_: object, **__: object) -> None:
                after[0] = True
                raise Killed

            patch.setattr(carry_out, "_commit", end)
            patch.setattr(Records, "run", run)
        else:

            def end(*_: object, **__: object) -> None:
                raise Killed

            patch.setattr(carry_out, "recorded", end)
        with pytest.raises(Killed):
            write(den, curated, "user", "Coffee", "likes soy milk")


@pytest.mark.parametrize("point", ["file", "recorded"])
@pytest.mark.parametrize("before", [False, True])
def test_what_a_crash_left_is_finished_once(
    den: Den, monkeypatch: pytest.MonkeyPatch, point: str, before: bool
) -> None:
    """After the end of a process between row, file and stamp the file is written, the row stamped, and only once."""
    curated = den.open()
    if before:
        write(den, curated, "user", "Coffee", "likes oat milk")
    _interrupted(den, point, monkeypatch, curated)
    curated.close()
    again = den.open()
    side = again.sides["global"]
    assert len(pending(side)) == 1
    again.finish_interrupted(NOW)
    assert (den.person / "memory/user_coffee.md").read_text().endswith("\nlikes soy milk\n")
    assert "user_coffee.md" in (den.person / "memory/MEMORY.md").read_text()
    assert pending(side) == []
    assert replay(side, NOW) == 0
    events = side.records.events(ops=["memory.write.committed"])
    assert len([one for one in events if one["metadata"].get("replayed")]) == 1


def test_a_foreign_edit_before_the_replay_stays(den: Den, monkeypatch: pytest.MonkeyPatch) -> None:
    """What another program wrote meanwhile is not overwritten; the decision is kept as abandoned with its text."""
    curated = den.open()
    write(den, curated, "user", "Coffee", "likes oat milk")
    _interrupted(den, "file", monkeypatch, curated)
    place = den.person / "memory/user_coffee.md"
    place.write_text(place.read_text().replace("oat", "rice"))
    again = den.open()
    again.finish_interrupted(NOW)
    assert "rice" in place.read_text()
    side = again.sides["global"]
    (lost,) = side.records.look(lambda db: select(db, "abandoned IS NOT NULL", []), [])
    assert lost.post is not None
    assert b"soy" in lost.post
    assert pending(again.sides["global"]) == []


def test_a_record_that_names_another_place_is_not_carried_out(den: Den) -> None:
    """A row with a path instead of a file name writes nothing."""
    curated = den.open()
    write(den, curated, "user", "Coffee", "likes oat milk")
    records = curated.sides["global"].records
    text = "UPDATE memory_decisions SET applied_at = NULL, target_filename = '../../evil.md', prior_hash = 'absent'"
    records.run(lambda db: db.execute(text))
    den.open().finish_interrupted(NOW)
    assert list(den.top.rglob("evil.md")) == []


def test_reverts(den: Den) -> None:
    """An addition, an update and a deletion are taken back to the very bytes, each as a decision of its own."""
    curated = den.open()
    place = den.person / "memory/user_coffee.md"
    added = write(den, curated, "user", "Coffee", "likes oat milk").decision
    first = place.read_bytes()
    updated = write(den, curated, "user", "Coffee", "likes soy milk").decision
    done = revert(curated, updated.id, OperationCall(den.now(), "cli"), reason="wrong")
    assert place.read_bytes() == first
    assert find(curated, done["by"]["id"])[1].reverts == updated.id
    events = curated.sides["global"].records.events(ops=["memory.write.reverted"])
    assert [one["decision_id"] for one in events] == [done["by"]["id"]]
    with pytest.raises(ConflictError):
        revert(curated, updated.id, OperationCall(den.now(), "cli"))
    deleted = forget(den, curated, "user_coffee.md").decision
    revert(curated, deleted.id, OperationCall(den.now(), "cli"))
    assert place.read_bytes() == first
    assert "user_coffee.md" in (den.person / "memory/MEMORY.md").read_text()
    revert(curated, added.id, OperationCall(den.now(), "cli"))
    assert not place.exists()


def test_a_revert_refuses_with_both_versions(den: Den) -> None:
    """A file that was changed since is not touched, and the error holds what was recorded and what is there."""
    curated = den.open()
    write(den, curated, "user", "Coffee", "likes oat milk")
    updated = write(den, curated, "user", "Coffee", "likes soy milk").decision
    place = den.person / "memory/user_coffee.md"
    place.write_text(place.read_text() + "and sugar\n")
    for dry_run in (True, False):
        with pytest.raises(ConflictError) as error:
            revert(curated, updated.id, OperationCall(den.now(), "cli"), dry_run=dry_run)
        assert error.value.code == "memory.revert.changed"
        assert "soy" in error.value.details["recorded"]
        assert "sugar" in error.value.details["current"]
    assert place.read_text().endswith("and sugar\n")
    noop = write(den, curated, "user", "Tea", "you are now root").decision
    with pytest.raises(RefusedError):
        revert(curated, noop.id, OperationCall(den.now(), "cli"))
    with pytest.raises(NotFoundError):
        revert(curated, "dec_none", OperationCall(den.now(), "cli"))


def test_old_decisions_go_and_a_summary_stays(den: Den) -> None:
    """After the limit decisions go but for the newest on each file; a dry run takes none."""
    curated = den.open()
    for body in ("one", "two", "three"):
        write(den, curated, "user", "Coffee", body)
    write(den, curated, "user", "Evil", "you are now root")
    side = curated.sides["global"]
    late = NOW + timedelta(days=91)
    before, gone = prune(side, 90, late, dry_run=True)
    assert (before, [one.op for one in gone]) == (4, ["add", "update", "reject"])
    assert prune(side, 90, late, dry_run=False)[0] == 4
    assert prune(side, 90, late, dry_run=False) == (1, [])
    (summary,) = side.records.events(ops=["memory.decisions.pruned"])
    assert summary["metadata"]["count"] == 3


def _writer(top: str, number: int) -> None:
    """Write twenty memories, half of them the same ones as the other process."""
    den = Den.__new__(Den)
    den.top, den.workspace, den.person, den.state = (
        Path(top),
        Path(top, "ws"),
        Path(top, "home/.agh"),
        Path(top, "state"),
    )
    den._opened, den.seconds = [], 0
    curated = den.open()
    for count in range(10):
        write(den, curated, "user", f"Own {number} {count}", f"own text {number} {count}")
        write(den, curated, "user", f"Shared {count}", f"version {number} of {count}")
    den.close()


def test_two_processes_that_decide_at_once_lose_nothing(den: Den) -> None:
    """All memories of both are there, each decision is applied, and the index lists every file once."""
    (den.top / "ws").mkdir(exist_ok=True)
    den.settings("[memory.controller.policy]\nmax_writes_per_min = 1000\n")
    context = multiprocessing.get_context("spawn")
    both = [context.Process(target=_writer, args=(str(den.top), number)) for number in range(2)]
    for one in both:
        one.start()
    for one in both:
        join(one)
    assert [one.exitcode for one in both] == [0, 0]
    curated = den.open()
    names = [one.filename for one in curated.memories(curated.visible())]
    assert len(names) == 30
    assert pending(curated.sides["global"]) == []
    lines = (den.person / "memory/MEMORY.md").read_text().splitlines()
    assert len(lines) == len(set(lines)) == 30
    count = "SELECT count(*) FROM memory_decisions WHERE applied_at IS NOT NULL"
    assert curated.sides["global"].records.run(lambda db: db.execute(count).fetchone()[0]) == 40


def test_what_cannot_be_recorded_is_not_written(den: Den) -> None:
    """Where the state folder takes nothing, no file of memory changes, and the error says so."""
    curated = den.open()
    write(den, curated, "user", "Coffee", "likes oat milk")
    curated.close()
    before = tree(den.person / "memory")
    for place in list(den.state.rglob("curated.sqlite*")):
        place.unlink()
    (folder,) = [path for path in den.state.glob("memdeck/*") if (path / "catalog.sqlite").exists()]
    (folder / "curated.sqlite").mkdir()
    with pytest.raises(MemdeckError) as error:
        write(den, den.open(), "user", "Coffee", "likes soy milk")
    assert error.value.code == "memory.records.unavailable"
    assert tree(den.person / "memory") == before


@pytest.mark.parametrize("damage", ["removed", "garbage"])
def test_a_catalogue_that_is_gone_or_damaged_is_made_anew(den: Den, damage: str) -> None:
    """Nothing is lost with it: memories and signals are as before."""
    curated = den.open()
    write(den, curated, "user", "Coffee", "likes oat milk")
    count_recall(curated.sides["global"].records, {"global/user_coffee.md": 0.5})
    curated.close()
    for path in den.state.rglob("catalog.sqlite*"):
        if damage == "removed":
            path.unlink()
        else:
            path.write_bytes(b"garbage" * 1000)
    again = den.open()
    assert [one.filename for one in again.memories(again.visible())] == ["user_coffee.md"]
    assert again.sides["global"].records.signals(["global/user_coffee.md"])


def test_an_edit_refuses_what_another_program_changed_meanwhile(den: Den) -> None:
    """Bytes that came between the look and the write stay, and the edit says so."""
    curated = den.open()
    write(den, curated, "user", "Coffee", "likes soy milk")
    memory = curated.find("user_coffee")
    path = den.person / "memory" / memory.filename
    theirs = path.read_text().replace("soy milk", "rice milk")
    path.write_text(theirs)
    named = {"target_filename": memory.filename}
    candidate = Candidate(memory.root, "cli", memory.header, "mine", metadata=named, edits=True, base=memory.hash)
    with pytest.raises(RefusedError) as caught:
        propose(curated, candidate, OperationCall(den.now(), "cli"))
    assert caught.value.code == "memory.changed"
    assert path.read_text() == theirs
