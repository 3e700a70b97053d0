"""Curated memory and kill -9 before each call that changes a file: either all of a decision is there, or nothing."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from memory.curated.control.candidate import Candidate
from memory.curated.control.carry_out import pending
from memory.curated.control.decision import select
from memory.curated.control.propose import propose
from memory.curated.control.revert import revert
from memory.curated.curated import Curated
from memory.curated.files.listing import digest
from memory.curated.model import Header
from memory.storage import PrivateState, Store
from tests.crash.calls import Calls, in_force
from tests.crash.kill import killed_at, some
from tests.examples import WHOLE
from tests.memory.curated.conftest import NOW

Run = Callable[[Curated], object]


def _open(top: Path) -> Curated:
    """Return the memory as a new process sees it; displaced files are looked at right away."""
    person = top / "agh"
    store = Store(person, state=PrivateState(top / "state", person), workspace=person, settle=0, patience=0.5)
    return Curated(None, store, state_home=top / "state")


def _write(curated: Curated, name: str, body: str, kind: str = "user", number: int = 0) -> str:
    candidate = Candidate(curated.root("global"), "cli", Header(name, "about it", kind, "global"), body)
    return propose(curated, candidate, actor="cli", now=NOW.replace(minute=number)).decision.id


def _forget(curated: Curated) -> object:
    metadata = {"operation": "delete", "target_filename": "user_coffee.md"}
    candidate = Candidate(curated.root("global"), "cli", None, "", "", "", metadata)
    return propose(curated, candidate, actor="cli", now=NOW)


def _retype(curated: Curated) -> object:
    memory = curated.find("user_coffee")
    candidate = Candidate(
        memory.root, "cli", memory.header._replace(type="project"), memory.body, "", "",
        {"target_filename": memory.filename}, edits=True,
    )  # fmt: skip
    return propose(curated, candidate, actor="cli", now=NOW)


def _take_back(curated: Curated) -> object:
    side = curated.sides["global"]
    found = side.records.look(lambda db: select(side, db, "op = 'update'", []), [])
    return revert(curated, found[0].id, actor="cli", now=NOW)


_RUNS: dict[str, Run] = {
    "first": lambda curated: _write(curated, "Tea", "likes green tea"),
    "update": lambda curated: _write(curated, "Coffee", "likes rice milk", number=3),
    "delete": _forget,
    "retype": _retype,
    "revert": _take_back,
}


def _state(top: Path) -> dict[str, str]:
    """Return the memories by file, without the times that differ from run to run."""
    return {path.name: path.read_text() for path in sorted((top / "agh/memory").glob("*_*.md"))}


@pytest.mark.parametrize("name", _RUNS)
@pytest.mark.thorough(but=("first", "delete"))
def test_a_decision_is_whole_or_never_was(tmp_path: Path, name: str) -> None:
    """After each kill the next process has the files before or after, the index and the records that fit them, and a
    decision that was recorded is carried out.
    """
    run = _RUNS[name]
    start = tmp_path / "start"
    start.mkdir()
    top = tmp_path / "place"
    # The state folder goes by the path, so that every try is made in the same place.
    start.rename(top)
    curated = _open(top)
    _write(curated, "Coffee", "likes oat milk")
    _write(curated, "Coffee", "likes soy milk", number=1)
    curated.close()
    kept = tmp_path / "kept"
    shutil.copytree(top, kept)
    before = _state(top)
    curated = _open(top)
    with in_force(Calls()) as calls:
        run(curated)
    curated.close()
    after = _state(top)
    assert before != after
    count = len(calls.names)
    assert count > 10
    seen = set()
    tried = some(1 if WHOLE else 5, seed=count)
    for number in range(count):
        # The last call comes behind everything that matters, the first one before.
        if not (tried() or number in (0, count - 1)):
            continue
        shutil.rmtree(top)
        shutil.copytree(kept, top)
        killed_at(number, lambda: run(_open(top)))
        again = _open(top)
        again.finish_interrupted(NOW)
        side = again.sides["global"]
        where = f"{name}, before {calls.names[number]} ({number})"
        found = _state(top)
        assert found in (before, after), where
        seen.add(found == after)
        assert pending(side) == [], where
        rows = side.records.look(partial(select, side, where="1 ORDER BY seq", values=[]), [])
        assert not any(one.abandoned for one in rows), where
        assert (len(rows) == 3) == (found == after), where
        for file, text in found.items():
            newest = next(one for one in reversed(rows) if one.target_filename == file)
            assert newest.post_hash == digest(text.encode()), where
        index = top / "agh/memory/MEMORY.md"
        lines = index.read_text().splitlines() if index.exists() else []
        assert sorted(line.partition("](")[2].partition(")")[0] for line in lines) == sorted(found), where
        assert sorted(one.filename for one in again.memories(again.visible())) == sorted(found), where
        _write(again, "More", "one more memory", number=5)
        assert "user_more.md" in _state(top), where
        again.close()
    assert seen == {False, True}
