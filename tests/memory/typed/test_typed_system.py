"""Typed memory in a workspace: maintenance, status, check, search, and the history that all systems share."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from memory.history.undo import undo_in
from memory.systems import check_all, maintain_all
from memory.typed import ops
from memory.typed.system import TypedMemory
from memory.workspace import Workspace
from tests.memory.typed.conftest import NOW, Den, put, tree
from tests.patience import PATIENCE

AIDEFILE = '# mine\n[memory]\ncompact_after = "1k"\ncore_files = ["memory/persona.md"] # always\n'
LATER = NOW + timedelta(minutes=1)


@pytest.fixture
def shop(den: Den) -> Path:
    """A workspace with memory files, and two agents in it, one of them registered."""
    root = den.top / "shop"
    (root / ".aiter" / "memory").mkdir(parents=True)
    ada = den.add("ada", AIDEFILE, at="shop/agents/ada")
    put(ada, "memory/persona.md", "# Persona\ncalm\n", days=300)
    put(ada, "memory/episodic/old.md", "## Port\nredis is on 6380\n", days=8)
    put(ada, "memory/episodic/new.md", "new\n", days=1)
    put(ada, "memory/procedural/skills.md", "## Deploy\nuse the script\n", days=20)
    bob = den.add("bob", at="shop/agents/bob", registered=False)
    put(bob, "memory/episodic/old.md", days=80)
    den.add("far")
    return root


@pytest.fixture
def workspace(den: Den, shop: Path) -> Workspace:
    """The workspace, opened."""
    return Workspace.open(shop, state_home=den.state, home=den.home)


def _typed(workspace: Workspace) -> TypedMemory:
    system = workspace.system("typed")
    assert isinstance(system, TypedMemory)
    return system


def test_maintenance_prunes_registered_agents_inside(den: Den, shop: Path, workspace: Workspace) -> None:
    """Dry run and run report the same sum; an Aidefile that nobody registered, and agents elsewhere, lose nothing."""
    put(den.top / "far", "memory/episodic/old.md", days=30)
    dry = maintain_all(workspace, NOW, actor="maintain", dry_run=True)
    before = tree(shop)
    done = maintain_all(workspace, NOW, actor="maintain")
    assert dry.json()["rules"] == done.json()["rules"]
    (rule,) = [rule for rule in done.rules if rule.rule == "prune-typed-memory"]
    assert (rule.file, rule.before, rule.kept, rule.cleared) == ("agents/ada", 4, 3, 1)
    assert rule.before == rule.kept + rule.archived + rule.cleared
    assert set(before) - set(tree(shop)) == {"agents/ada/memory/episodic/old.md"}
    assert (den.top / "far/memory/episodic/old.md").exists()
    assert maintain_all(workspace, NOW, actor="maintain").moved == 0
    again = Workspace.open(shop, state_home=den.state, home=den.home)
    undo_in(again.together, actor="maintain", now=LATER)
    assert tree(shop) == before


def test_only_what_a_prune_deletes_is_announced(shop: Path, workspace: Workspace) -> None:
    """Nothing of folders that need an approval, and nothing of an Aidefile that nobody registered."""

    def due() -> list[str]:
        return [line.due for line in _typed(workspace).brief_lines(NOW)]

    assert due() == ["1 due for pruning"]
    (shop / "agents/ada/notes").mkdir()
    (shop / "agents/ada/Aidefile").write_text('[memory]\nprocedural_dir = "notes"\n')
    assert due() == ["pruning needs approval"]
    (shop / "Aidefile").touch()
    put(shop, "memory/episodic/old.md", days=9)
    assert due() == ["", "pruning needs approval"]


def test_what_stops_maintenance_of_one_agent_is_a_warning(den: Den, shop: Path, workspace: Workspace) -> None:
    """A broken Aidefile and a file that cannot go are said, and the other agents are pruned."""
    (shop / "agents/ada/Aidefile").write_text("[memory]\ncompact_after = 'x'\n")
    other = den.add("cid", at="shop/cid")
    put(other, "memory/episodic/a.md", days=9)
    put(other, "memory/episodic/b.md", days=9).chmod(0o400)
    done = maintain_all(workspace, NOW, actor="maintain")
    assert len(done.warnings) == 2
    assert done.warnings[0].startswith("ada: Aidefile:2: compact_after")
    assert done.warnings[1].startswith("cid: memory/episodic/b.md: ")
    assert not (other / "memory/episodic/a.md").exists()


def test_an_agent_that_nobody_registered_can_be_undone_too(den: Den, shop: Path, workspace: Workspace) -> None:
    """The history finds the store of a file by the Aidefile above it."""
    path = shop / "agents/bob/memory/x.md"
    ops.merge(path, "x\n", now=NOW, actor="cli", store=den.store(_agent_at(shop / "agents/bob")))
    undo_in(workspace.together, actor="cli", now=LATER)
    assert not path.exists()


def _agent_at(folder: Path):  # type: ignore[no-untyped-def]
    from memory.typed.registry import Agent

    return Agent(folder.name, folder, registered=False)


def test_check_tells_what_is_wrong(den: Den, shop: Path, workspace: Workspace) -> None:
    """Missing core files, stale locks, secrets, broken Aidefiles and registries, with file and line."""
    ada = shop / "agents/ada"
    assert [problem for problem in check_all(workspace) if problem.code.startswith("typed")] == []
    (ada / "memory/persona.md").unlink()
    code = "import sys; from memory.typed import ops; ops.lock(sys.argv[1])"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    command = [sys.executable, "-c", code, str(ada / "memory/episodic/new.md")]
    subprocess.run(command, check=True, env=environment, timeout=PATIENCE)
    put(ada, "memory/procedural/keys.md", "# Keys\npassword: hunter2\n")
    found = {(problem.file, problem.line, problem.code) for problem in workspace.system("typed").check()}
    assert found == {
        ("agents/ada/Aidefile", 0, "typed.no_core_file"),
        ("agents/ada/memory/episodic/new.md.lock", 0, "typed.stale_lock"),
        ("agents/ada/memory/procedural/keys.md", 2, "typed.secret"),
    }
    assert (ada / "memory/episodic/new.md.lock").exists()
    assert workspace.system("typed").owns("agents/ada/memory/episodic/new.md")
    assert not workspace.system("typed").owns(".aiter/memory/tasks.md")
    (ada / "Aidefile").write_text("[memory]\n\n[what]\n")
    assert [(one.level, one.file, one.line, one.code) for one in workspace.system("typed").check()] == [
        ("error", "agents/ada/Aidefile", 3, "typed.section")
    ]
    assert len(workspace.system("typed").check(["agents/ada/Aidefile"])) == 1
    assert workspace.system("typed").check(["tasks.md"]) == ()
