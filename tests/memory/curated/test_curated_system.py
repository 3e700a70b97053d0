"""Curated memory as one of the systems: what it answers to whoever goes over all of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from memory.curated.system import CuratedMemory
from memory.registry import workspace_of
from memory.systems import contributions_of, system_of
from memory.workspace import Workspace
from tests.memory.curated.conftest import NOW, Den, write


@pytest.fixture
def workspace(den: Den, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    """Yield a workspace with two memories."""
    monkeypatch.delenv("AGH_HOME", raising=False)
    curated = den.open()
    write(den, curated, "project", "Deploy window", "we deploy on tuesdays before lunch", scope="workspace")
    write(den, curated, "user", "Tone", "be brief in reviews", scope="agent", agent="ada")
    den.close()
    opened = Workspace.open(den.workspace, state_home=den.state, home=den.top / "home")
    yield opened
    opened.close()


def test_an_identity_makes_a_folder_a_workspace(den: Den, workspace: Workspace) -> None:
    """The folder with `.agh/workspace.toml` is found from within; the person's own folder is none by itself."""
    assert workspace.root == den.workspace
    assert [one.name for one in workspace.systems()] == ["curated"]
    write(den, den.open(), "user", "Coffee", "likes oat milk")
    assert workspace_of(str(den.person / "memory")) is None


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc to see what is open")
def test_a_closed_workspace_holds_no_database_open(den: Den, workspace: Workspace) -> None:
    """The databases of both sides and the change logs are closed with it, and open again with the next question."""
    curated = system_of(workspace, "curated", CuratedMemory).curated
    write(den, curated, "user", "Coffee", "likes oat milk")
    assert len(curated.memories(curated.all_roots())) == 3
    workspace.store.history.list()
    assert databases(den.state)
    workspace.close()
    assert databases(den.state) == []
    assert len(curated.memories(curated.all_roots())) == 3


def databases(folder: Path) -> list[str]:
    """Return the databases below a folder that this process has open."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):  # the listing's own
            found.append(os.readlink(f"/proc/self/fd/{name}"))
    return [path for path in found if path.startswith(f"{folder}/") and ".sqlite" in path]


def test_it_offers_memories_for_a_prompt(workspace: Workspace) -> None:
    """Those that the message may be about, with the terms of their score; nothing for a trivial message."""
    (one,) = contributions_of(workspace.systems(), "when do we deploy before lunch?", NOW)
    assert (one.system, one.title, one.text) == ("curated", "Deploy window", "we deploy on tuesdays before lunch")
    assert one.reason.startswith("unicode=0.550")
    assert contributions_of(workspace.systems(), "is it", NOW) == ()


def test_damaged_records_are_told(den: Den, workspace: Workspace) -> None:
    """Doctor names each database that was moved aside, and says that the memories are whole."""
    system = system_of(workspace, "curated", CuratedMemory)
    assert list(system.doctor_lines()) == []
    system.curated.close()
    for path in [*den.state.rglob("curated.sqlite*")]:
        path.write_bytes(b"garbage" * 1000)
    assert system.curated.sides["workspace"].records.look(lambda _: "read", "damaged") == "damaged"
    (advice,) = system.doctor_lines()
    assert "curated.damaged.sqlite" in advice.message
    assert "whole" in advice.hint
