"""Curated memory in the parts of the crash harness: each decision is made whole or not at all, whatever happens."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from memory.curated.operations.operation import OperationCall
from memory.curated.operations.registry import BY_NAME
from memory.curated.overview import overview
from memory.errors import MemdeckError, RefusedError
from memory.storage import PrivateState
from tests.crash import errors, foreign, kill, log_faults, power
from tests.crash.kill import Tally
from tests.crash.operations import CURATED, NOW, Place, curating, decides_on, fails
from tests.examples import WHOLE

STRIDE = 1 if WHOLE else 4
"""Parts with few points are tried at half of them at least."""
PARTS: dict[str, Callable[[Path], Tally]] = {
    "kill": lambda folder: kill.kills(folder, every=10 * STRIDE),
    "kill in recovery": lambda folder: kill.compound(folder, every=60 * min(STRIDE, 2), inner=3),
    "power, ordered": lambda folder: power.power(folder, weak=False, every=10 * STRIDE),
    "power, weak": lambda folder: power.power(folder, weak=True, every=60 * STRIDE, samples=2),
    "full disks and other errors": lambda folder: errors.errors(folder, every=25 * STRIDE),
    "a log that fails": lambda folder: log_faults.log_faults(folder, every=90 * STRIDE, real=()),
    "foreign writers": lambda folder: foreign.foreign(folder, every=60 * min(STRIDE, 2)),
}


@pytest.mark.parametrize("part", PARTS)
def test_no_decision_is_half_made(top: Path, part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is written, moved or taken back: the files of before or after with their index, and nothing left."""
    for module in (kill, errors, power, log_faults, foreign):
        monkeypatch.setattr(module, "OPERATIONS", CURATED)
    tally = PARTS[part](top)
    assert tally.points > 10
    assert tally.violations == []


def test_an_edit_refuses_what_another_program_changed_meanwhile(top: Path) -> None:
    """Bytes that came between the look and the write stay, and the edit says so."""
    from memory.curated.control.candidate import Candidate
    from memory.curated.control.propose import propose

    place = Place(top / "place")
    curating(place)
    curated = place.curated()
    memory = curated.find("user_coffee")
    path = place.shop / ".agh/memory/user_coffee.md"
    theirs = path.read_text().replace("soy milk", "rice milk")
    path.write_text(theirs)
    named = {"target_filename": memory.filename}
    candidate = Candidate(memory.root, "cli", memory.header, "mine", metadata=named, edits=True, base=memory.hash)
    with pytest.raises(RefusedError) as caught:
        propose(curated, candidate, actor="cli", now=NOW.replace(minute=20))
    assert caught.value.code == "memory.changed"
    assert path.read_text() == theirs
    curated.close()


def test_a_file_that_cannot_be_read_just_now_keeps_its_line(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of the disk takes no memory out of the catalogue or the index; the next look has it again."""
    from memory.storage import Store

    place = Place(top / "place")
    curating(place)
    path = place.shop / ".agh/memory/user_tea.md"
    path.write_text(path.read_text().replace("green", "white"))
    real = Store.read

    def read(self: Store, name: str) -> object:
        if name.endswith("user_tea.md"):
            raise MemdeckError("file.io", "cannot read it: Input/output error (EIO)") from OSError(5, "EIO")
        return real(self, name)

    curated = place.curated()
    with monkeypatch.context() as patch:
        patch.setattr(Store, "read", read)
        from tests.crash.operations import _curate

        _curate(place, "Cellar", "the key")
        assert "user_tea.md" in (place.shop / ".agh/memory/MEMORY.md").read_text()
        assert curated.invalid(curated.visible()) == []
    assert "white" in next(one.body for one in curated.memories(curated.visible()) if one.filename == "user_tea.md")
    curated.close()


@pytest.mark.parametrize("kind", ["write", "forget", "retype"])
def test_what_came_between_decision_and_write_is_not_overwritten(
    top: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A memory that another program changes after the decision on it stays, and the operation says so."""
    from memory.curated.control import carry_out

    place = Place(top / "place")
    curating(place)
    path = place.shop / ".agh/memory/user_coffee.md"
    theirs = path.read_text().replace("soy milk", "no milk")
    real, came = carry_out._commit, []

    def write(*args: object) -> object:
        if not came:
            came.append(True)
            path.write_text(theirs)
        return real(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(carry_out, "_commit", write)
    number = {"write": 1, "forget": 2, "retype": 3}[kind]
    with pytest.raises(MemdeckError) as caught:
        CURATED[number].run(place)
    assert caught.value.code == "memory.changed"
    assert came
    assert path.read_text() == theirs


def test_an_index_edited_between_decision_and_write_is_no_reason_to_refuse(
    top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The decision is made again on the newer index, and the line of the person stays in it."""
    from memory.curated.control import carry_out

    place = Place(top / "place")
    curating(place)
    index = place.shop / ".agh/memory/MEMORY.md"
    real, came = carry_out._write_index, []

    def write(*args: object) -> None:
        real(*args)  # type: ignore[arg-type]
        if not came:
            came.append(True)
            index.write_text(index.read_text() + "\nwritten by hand\n")

    monkeypatch.setattr(carry_out, "_write_index", write)
    CURATED[1].run(place)
    assert came
    assert "written by hand" in index.read_text()
    assert "rice milk" in (place.shop / ".agh/memory/user_coffee.md").read_text()


@pytest.mark.parametrize("name", ["folder", "link", "garbage"])
def test_records_that_cannot_be_used_are_told_and_lose_nothing(top: Path, name: str) -> None:
    """Whatever stands in the place of the records: a write is refused with a code, or made and recorded; a list of
    decisions never says that there are none.
    """
    place = Place(top / "place")
    curating(place)
    path = PrivateState(place.state, place.shop / ".agh").folder.path / "curated.sqlite"
    # As another process left it: all in one file.
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    before = (place.shop / ".agh/memory/user_coffee.md").read_bytes()
    with log_faults.REAL[name](path):
        curated = place.curated()
        with pytest.raises(MemdeckError) as caught:
            BY_NAME["decisions list"].call(curated, {}, OperationCall(NOW))
        assert caught.value.code == "memory.records.unavailable"
        seen = overview(curated, NOW)
        assert (seen.error, len(seen.memories)) == (None, 2)
        assert any(word in str(seen.health) for word in ("cannot be used", "was damaged"))
        curated.close()
        error = fails(lambda: CURATED[1].run(place))
        if name == "garbage":
            assert error is None
        else:
            assert error is not None
            assert error.code == "memory.records.unavailable"
            assert (place.shop / ".agh/memory/user_coffee.md").read_bytes() == before
    if name == "garbage":
        assert path.with_name("curated.damaged.sqlite").exists()


def test_a_stamp_that_cannot_be_made_is_made_later(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the records fail once the file is written the write is done, and the next look notes it."""
    from memory.curated.control import carry_out

    place = Place(top / "place")
    curating(place)

    def stamp(*_: object, **__: object) -> None:
        raise MemdeckError("memory.records.unavailable", "full")

    with monkeypatch.context() as patch:
        patch.setattr(carry_out, "stamp", stamp)
        CURATED[1].run(place)
    assert "rice milk" in (place.shop / ".agh/memory/user_coffee.md").read_text()
    assert decides_on(place) == ""
