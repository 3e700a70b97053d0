"""Curated memory in the parts of the crash harness: each decision is made whole or not at all, whatever happens."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memory.errors import MemdeckError, RefusedError
from tests.crash import errors, kill, power
from tests.crash.kill import Tally
from tests.crash.operations import CURATED, NOW, Place, curating
from tests.examples import WHOLE

STRIDE = 1 if WHOLE else 2
PARTS: dict[str, Callable[[Path], Tally]] = {
    "kill": lambda folder: kill.kills(folder, every=10 * STRIDE),
    "kill in recovery": lambda folder: kill.compound(folder, every=60 * STRIDE, inner=3),
    "power, ordered": lambda folder: power.power(folder, weak=False, every=10 * STRIDE),
    "power, weak": lambda folder: power.power(folder, weak=True, every=60 * STRIDE, samples=2),
    "full disks and other errors": lambda folder: errors.errors(folder, every=25 * STRIDE),
    "locks and leases": lambda folder: errors.errors(folder, every=15 * STRIDE, locking=True),
}


@pytest.fixture
def top() -> Iterator[Path]:
    """Make a folder in memory, where syncing costs nothing."""
    folder = tempfile.mkdtemp(prefix="memdeck-crash-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    yield Path(folder)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.parametrize("part", PARTS)
def test_no_decision_is_half_made(top: Path, part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is written, moved or taken back: the files of before or after with their index, and nothing left."""
    for module in (kill, errors, power):
        monkeypatch.setattr(module, "OPERATIONS", CURATED)
    tally = PARTS[part](top)
    assert tally.points > 10
    assert tally.violations == []


def test_an_edit_refuses_what_another_program_changed_meanwhile(top: Path) -> None:
    """Bytes that came between the look and the write stay, and the edit says so."""
    from memory.curated.control.apply import propose
    from memory.curated.control.candidate import Candidate

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
