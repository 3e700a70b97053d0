"""Pruning: what goes, what stays and why, at the nanosecond; and that dry run, run and undo agree to the file."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest

from memory.errors import ConfigError
from memory.history.undo import undo_in
from memory.typed.pruning import look_at, plan_prune, prune
from memory.workspace import Workspace
from tests.memory.typed.conftest import NOW, Den, put

CORE = '[memory]\ncore_files = ["memory/persona.md", "memory/episodic/rules.md"]\n'
LATER = NOW + timedelta(seconds=5)


@pytest.mark.parametrize(
    ("path", "days", "extra", "goes"),
    [
        ("memory/episodic/a.md", 7, 0, False),
        ("memory/episodic/a.md", 7, 1000, True),
        ("memory/episodic/a.md", 6.9, 0, False),
        ("memory/episodic/a.md", -3, 0, False),
        ("memory/episodic/deep/er/a.md", 8, 0, True),
        ("memory/episodic/deep/er/a.txt", 5000, 0, False),
        ("memory/procedural/a.md", 90, 0, False),
        ("memory/procedural/a.md", 90, 1000, True),
        ("memory/procedural/a.md", 8, 0, False),
        ("memory/persona.md", 5000, 0, False),
        ("memory/episodic/rules.md", 5000, 0, False),
        ("memory/other.md", 5000, 0, False),
        ("memory/episodic/a.lock", 5000, 0, False),
    ],
)
def test_types_have_their_ages_strictly(den: Den, path: str, days: float, extra: int, goes: bool) -> None:
    """Episodic goes after 7 days, procedural after 90, by mtime and strictly; core, locks and other files never."""
    place = put(den.add("ada", CORE), path, days=days, extra_ns=extra)
    found = prune(den.agent("ada"), den.store, NOW, actor="cli")
    assert ([file.path for file in found.deleted], place.exists()) == ([path] if goes else [], not goes)
    assert found.errors == ()


def _den_of_all(den: Den) -> Path:
    """Make an agent with some of everything, old and young."""
    folder = den.add("ada", CORE)
    for number in range(5):
        put(folder, f"memory/episodic/old{number}.md", f"## {number}\nold\n", days=8 + number)
        put(folder, f"memory/episodic/sub/new{number}.md", "new\n", days=number)
    put(folder, "memory/procedural/skills.md", "s\n", days=91)
    put(folder, "memory/procedural/failures.md", "f\n", days=89)
    put(folder, "memory/episodic/rules.md", "core\n", days=400)
    put(folder, "memory/persona.md", "core\n", days=400)
    put(folder, "memory/episodic/held.md", "held\n", days=30)
    put(folder, "memory/episodic/held.md.lock", "", days=30)
    put(folder, "memory/episodic/raw.md", "\x00\x01\n", days=30)
    put(folder, "memory/episodic/raw.bin", "\x00\x01\n", days=30)
    put(den.top, "elsewhere/secret.md", "secret\n", days=400)
    (folder / "memory/episodic/link.md").symlink_to(den.top / "elsewhere" / "secret.md")
    (folder / "memory/episodic/linked").symlink_to(den.top / "elsewhere")
    os.mkfifo(folder / "memory/episodic/pipe")
    put(folder, "memory/episodic/twice.md", "t\n", days=30)
    os.link(folder / "memory/episodic/twice.md", den.top / "elsewhere" / "twice.md")
    put(folder, "memory/episodic/closed.md", "c\n", days=30).chmod(0)
    return folder


def test_dry_run_run_and_undo_agree_to_the_file(den: Den) -> None:
    """What a dry run names is what goes, all else stays, and undo brings back each byte of it."""
    folder = _den_of_all(den)
    agent, before = den.agent("ada"), _names(folder)
    # A file without rights stays, and only root may read it here.
    readable = [path for path in _regular(folder) if os.access(folder / path, os.R_OK)]
    data = {path: (folder / path).read_bytes() for path in readable}
    planned = prune(agent, den.store, NOW, actor="cli", dry_run=True)
    assert _names(folder) == before
    assert not (folder / ".memdeck").exists()
    done = prune(agent, den.store, NOW, actor="cli")
    assert done == planned
    gone = {file.path for file in done.deleted}
    assert before - _names(folder) == gone
    assert gone == {
        *(f"memory/episodic/old{number}.md" for number in range(5)),
        "memory/procedural/skills.md",
        "memory/episodic/raw.md",
    }
    assert done.freed == sum(len(data[path]) for path in gone)
    assert prune(agent, den.store, NOW, actor="cli").deleted == ()
    workspace = Workspace.open(folder, state_home=den.state, home=den.home)
    change = undo_in(workspace.together, actor="human", now=LATER)
    assert {file.path for file in change.files} == gone
    assert _names(folder) == before
    assert {path: (folder / path).read_bytes() for path in data} == data
    # What came back is as good as new for the next seven days.
    assert prune(agent, den.store, LATER, actor="cli").deleted == ()


def _names(folder: Path) -> set[str]:
    return {
        os.path.relpath(os.path.join(top, name), folder)
        for top, _, names in os.walk(folder)
        for name in names
        if ".memdeck" not in top
    }


def _regular(folder: Path) -> set[str]:
    return {path for path in _names(folder) if (folder / path).is_file() and not (folder / path).is_symlink()}


def test_a_core_file_behind_a_link_is_never_touched(den: Den) -> None:
    """A file is core whatever way the Aidefile names it: by a link, or with the folder that it lies in."""
    folder = den.add("ada", '[memory]\ncore_files = ["memory/me.md", "memory/procedural/kept"]\n')
    put(folder, "memory/episodic/real.md", days=99)
    put(folder, "memory/procedural/kept/deep/a.md", days=999)
    (folder / "memory/me.md").symlink_to(folder / "memory/episodic/real.md")
    found = prune(den.agent("ada"), den.store, NOW, actor="cli")
    assert (found.deleted, found.kept) == ((), 2)


def test_the_inner_of_two_folders_counts(den: Den) -> None:
    """Where one folder lies in the other, a file is of the inner one's type."""
    folder = den.add("ada", '[memory]\nprocedural_dir = "memory"\nepisodic_dir = "memory/episodic"\n')
    put(folder, "memory/episodic/a.md", days=8)
    put(folder, "memory/b.md", days=8)
    assert [file.path for file in plan_prune(look_at(den.agent("ada")), NOW).deleted] == ["memory/episodic/a.md"]


def test_folders_that_are_links_stay_inside(den: Den) -> None:
    """A folder of a type may be a link within the agent's folder; one that leads out is an error of the Aidefile."""
    folder = den.add("ada", '[memory]\nepisodic_dir = "scratch"\n')
    put(folder, "real/a.md", days=8)
    (folder / "scratch").symlink_to("real")
    found = prune(den.agent("ada"), den.store, NOW, actor="cli")
    assert [file.path for file in found.deleted] == ["real/a.md"]
    (folder / "scratch").unlink()
    put(den.top, "out/b.md", days=80)
    (folder / "scratch").symlink_to(den.top / "out")
    found = prune(den.agent("ada"), den.store, NOW, actor="cli")
    assert isinstance(found.error, ConfigError)
    assert (found.error.code, (den.top / "out/b.md").exists()) == ("typed.outside", True)


def test_nothing_is_deleted_without_a_copy(den: Den) -> None:
    """Where the change log cannot be written no file goes, and the reason is told for each."""
    folder = den.add("ada")
    put(folder, "memory/episodic/a.md", days=8)
    agent = den.agent("ada")
    store = den.store(agent)
    assert store.state is not None
    log = store.state.folder.path / "changes.sqlite"
    log.mkdir(parents=True)
    for part in (den.state, den.state / "memdeck", log.parent):
        part.chmod(0o700)
    found = prune(agent, lambda _: store, NOW, actor="cli")
    assert found.deleted == ()
    assert (folder / "memory/episodic/a.md").exists()
    assert [left.path for left in found.errors] == ["memory/episodic/a.md"]
