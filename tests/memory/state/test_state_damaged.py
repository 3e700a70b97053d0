"""Damaged stores: each is named by its code, nothing crashes, nothing outside is touched, and a repair mends it."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

import pytest

from memory.errors import MemdeckError
from memory.history.undo import undo_in
from memory.state.check import validate
from memory.state.files.model import STATE
from memory.state.recall.recall import preview, scope_of_recall
from memory.state.repair import plan_repair, repair
from memory.state.retention import prune
from memory.state.status import status_of

from .damages import DAMAGES, Damage
from .states import ACTOR, Repository


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a store with some history once; each test damages a copy."""
    folder = tmp_path_factory.mktemp("sound")
    repository = Repository(folder)
    repository.imported("one", "DECISION: Use SQLite", "GOTCHA: Lock: two writers")
    repository.recall()
    repository.update()
    assert repository.codes() == []
    # It outlives every test, and what closes the databases of one is not there yet.
    repository.workspace.close()
    return folder


@pytest.fixture
def repository(sound: Path, tmp_path: Path) -> Repository:
    """Return a copy of the sound store, with a folder beside it that nobody may touch."""
    found = Repository.__new__(Repository)
    shutil.copytree(sound / "shop", tmp_path / "shop", symlinks=True)
    found.root, found.home, found.state_home = tmp_path / "shop", sound / "home", tmp_path / "state"
    found.at = Repository.at_of(found.root)
    found.open()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "canary").write_text('{"id": "chk-000001"}')
    (tmp_path / "outside" / "chk-000001.json").write_text("{}")
    return found


def outside(repository: Repository) -> dict[str, tuple[bytes, int]]:
    """Return what lies beside the workspace, with the times of the files."""
    folder = repository.root.parent / "outside"
    return {path.name: (path.read_bytes(), os.stat(path).st_mtime_ns) for path in sorted(folder.iterdir())}


@pytest.mark.thorough(one_of=3)
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.name)
def test_a_damage_is_named_and_nothing_crashes(repository: Repository, damage: Damage) -> None:
    """Validate gives the codes; every reader answers or says what is wrong; nothing outside is read or written."""
    damage.do(repository)
    before = outside(repository)
    found = validate(repository.memory, repository.at)
    codes = {one.code for one in found if one.level == damage.level}
    assert set(damage.codes) <= codes
    assert 'chk-000001"}' not in "".join(one.message for one in found)
    for read in (
        lambda: status_of(repository.memory, repository.at),
        lambda: preview(repository.memory, scope_of_recall(repository.memory.config)),
        lambda: list(repository.system.records(None, {})),
        lambda: repository.system.look().backlog,
        lambda: prune(repository.store, actor=ACTOR, now=repository.at),
        lambda: repository.system.maintain(repository.at, actor=ACTOR),
        lambda: list(repository.system.files()),
    ):
        with suppress(MemdeckError):
            read()
    assert all(problem.level in ("error", "warning", "note") for problem in repository.system.check())
    assert outside(repository) == before


@pytest.mark.thorough(one_of=3)
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.name)
def test_a_repair_shows_its_plan_and_mends(repository: Repository, damage: Damage) -> None:
    """The plan alone writes nothing; done, it leaves only what no repair can mend, and undo takes it back."""
    damage.do(repository)
    before = outside(repository)
    files = _files(repository)
    plan = plan_repair(repository.memory, repository.at)
    assert _files(repository) == files
    if plan.steps:
        repair(repository.store, plan, actor=ACTOR, now=repository.at)
    assert set(repository.codes()) == set(damage.left)
    assert outside(repository) == before
    if plan.steps and not damage.left:
        assert plan_repair(repository.memory, repository.at).steps == []
        undo_in(repository.workspace.together, actor=ACTOR, now=repository.later())
        assert _files(repository) == files


def _files(repository: Repository) -> dict[str, bytes]:
    """Return every regular file of the workspace but memdeck's own."""
    found = (path for path in repository.root.rglob("*") if ".memdeck" not in path.parts)
    return {str(path): path.read_bytes() for path in found if path.is_file() and not path.is_symlink()}


def test_a_repair_keeps_what_is_sound_of_a_state(repository: Repository) -> None:
    """A bundle that cannot be kept takes neither the cursors nor the provider with it, and the plan says what comes."""
    state = repository.json()
    repository.put(STATE, {**state, "bundle": {}})
    plan = plan_repair(repository.memory, repository.at)
    assert "write a new state, with the bundle of chk-000003" in [step.action for step in plan.steps]
    repair(repository.store, plan, actor=ACTOR, now=repository.at)
    assert repository.json()["maintenance"]["recallCursors"] == state["maintenance"]["recallCursors"]
    assert repository.memory.unrecalled("all") == []
    repository.put(STATE, {**state, "maintenance": {}})
    (step, *_) = plan_repair(repository.memory, repository.at).steps
    assert step.action == "write a new state, with its own bundle; every event counts as not recalled"


def test_a_state_that_is_gone_is_repaired_not_made_anew(repository: Repository) -> None:
    """Where checkpoints are left, the error names the repair."""
    repository.path(STATE).unlink()
    with pytest.raises(MemdeckError) as caught:
        _ = repository.memory.state
    assert caught.value.hint == "`memdeck state validate --repair` shows what can be done"
