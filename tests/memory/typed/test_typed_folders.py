"""Folders that an Aidefile chose: nothing in them is deleted before a person approved them, and some never."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory.errors import BlockedError, RefusedError
from memory.systems import asks_of_all
from memory.trust.consent import Trust
from memory.typed.pruning import AgentPrune, prune
from memory.workspace import Workspace
from tests.memory.typed.conftest import NOW, Den, put

CHOSEN = '[memory]\nepisodic_dir = "{}"\n'


def pruned(den: Den, name: str = "ada") -> AgentPrune:
    """Prune an agent as the verb does."""
    return prune(den.agent(name), den.store, NOW, actor="cli", approvals=den.state)


def decide(den: Den, folder: Path, *, approve: bool = True) -> None:
    """Let a person decide about everything that waits."""
    workspace = Workspace.open(folder, state_home=den.state, home=den.home)
    trust = Trust(den.state, workspace.root)
    for ask in asks_of_all(workspace):
        if not trust.decide(ask).allowed:
            (trust.approve if approve else trust.deny)(ask, who="human", now=NOW)


def test_the_usual_folders_need_nobody(den: Den) -> None:
    """An Aidefile without settings, and one that names the usual folders, is pruned at first sight."""
    folder = den.add("ada", '[memory]\nprocedural_dir = "memory/procedural"\n')
    put(folder, "memory/episodic/a.md", days=8)
    assert len(pruned(den).deleted) == 1


def test_changed_folders_are_asked_about(den: Den) -> None:
    """They are blocked with what waits, pruned once approved, and blocked again by the next change, also back."""
    folder = den.add("ada")
    put(folder, "notes/a.md", days=8)
    put(folder, "docs/b.md", days=8)
    put(folder, "memory/episodic/c.md", days=8)
    (folder / "Aidefile").write_text(CHOSEN.format("notes"))
    found = pruned(den)
    assert isinstance(found.error, BlockedError)
    assert (found.error.code, found.error.exit_code, found.deleted) == ("trust.blocked", 3, ())
    (row,) = found.error.details["blocked"]
    assert (row["role"], row["name"], row["state"]) == ("folders", "ada", "pending")
    assert row["text"].endswith('episodic_dir = "notes"')
    decide(den, folder)
    assert [file.path for file in pruned(den).deleted] == ["notes/a.md"]
    for then in (CHOSEN.format("docs"), ""):
        (folder / "Aidefile").write_text(then)
        error = pruned(den).error
        assert error is not None
        assert "approved once, but changed" in error.message
    (folder / "Aidefile").write_text("# another remark\n" + CHOSEN.format("./notes"))
    assert pruned(den).error is None
    decide(den, folder, approve=False)
    assert {path.name for path in folder.rglob("*.md")} == {"b.md", "c.md"}


def test_a_link_that_leads_elsewhere_is_another_folder(den: Den) -> None:
    """What counts is where a folder really is, whatever the Aidefile calls it."""
    folder = den.add("ada")
    put(folder, "docs/b.md", days=8)
    (folder / "memory").mkdir()
    (folder / "memory" / "episodic").symlink_to("../docs")
    error = pruned(den).error
    assert error is not None
    assert error.code == "trust.blocked"
    decide(den, folder)
    (folder / "memory" / "episodic").unlink()
    (folder / "memory" / "episodic").symlink_to("../src")
    put(folder, "src/b.md", days=8)
    assert pruned(den).error is not None


@pytest.mark.parametrize(
    "name", [".git", ".git/objects", "notes/.hidden", ".obsidian/../.git", "src", "linked", "./.a"]
)
def test_hidden_folders_and_those_without_markdown_are_refused(den: Den, name: str) -> None:
    """No approval is possible, and `trust list` says why; a folder with a hidden one in it leaves that alone."""
    folder = den.add("ada", CHOSEN.format(name))
    for path in (".git/objects/aa.md", "notes/.hidden/a.md", "src/a.py", ".a/b.md", ".obsidian/c.md"):
        put(folder, path, days=9)
    (folder / "linked").symlink_to(".git")
    for found in (pruned(den), prune(den.agent("ada"), den.store, NOW, actor="cli")):
        assert isinstance(found.error, RefusedError)
        assert (found.error.code, found.deleted) == ("typed.folder", ())
    with pytest.raises(RefusedError):
        decide(den, folder)


def test_hidden_folders_within_are_left_alone(den: Den) -> None:
    """What lies in an approved folder under a name with a dot stays."""
    folder = den.add("ada", CHOSEN.format("notes"))
    put(folder, "notes/a.md", days=9)
    kept = put(folder, "notes/.git/objects/b.md", days=9)
    decide(den, folder)
    found = pruned(den)
    assert [file.path for file in found.deleted] == ["notes/a.md"]
    assert ("notes/.git", kept.exists()) == (found.skipped[0].path, True)
