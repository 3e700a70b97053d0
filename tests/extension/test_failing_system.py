"""Each question that a system of another package may fail at, and each declaration that is refused."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory import systems
from memory.errors import MemdeckError
from memory.registry import REGISTRY
from memory.registry import installed as offered
from memory.system import System
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import make_app, press, screen_text, settle, type_text

NOW = datetime(2024, 1, 15, 12, 0, tzinfo=UTC)
HOOKS = sorted(name for name in dir(System) if not name.startswith("_"))


NOT_CALLED = ("adopt", "close", "doctor_lines", "items", "may_be_told", "mend", "owns", "status", "take")
"""What nothing below asks for."""


def place(tmp_path: Path) -> Workspace:
    """Return a workspace with a fact and a note."""
    facts = tmp_path / "shop" / ".aegis" / "memory" / "memories.jsonl"
    facts.parent.mkdir(parents=True)
    facts.write_text('{"id":"m-1","text":"Milk is cold","tags":[],"scope":"user","ts":"2024-01-01T00:00:00Z"}\n')
    note = tmp_path / "shop" / ".notes" / "shopping.txt"
    note.parent.mkdir()
    note.write_text("Milk and bread\n")
    return Workspace.open(tmp_path / "shop", state_home=tmp_path / "state", machine_zone=UTC)


@pytest.mark.thorough(one_of=3)
@pytest.mark.parametrize("error", [ZeroDivisionError("toy"), MemdeckError("notes.toy", "toy")], ids=["bug", "error"])
@pytest.mark.parametrize("hook", [*HOOKS, "__init__"])
def test_a_hook_that_raises(
    tmp_path: Path, installed: None, monkeypatch: pytest.MonkeyPatch, hook: str, error: Exception
) -> None:
    """The other systems are searched, checked, kept small, shown and watched all the same, and the failure is said."""
    from toy_notes.system import Notes

    def fail(*_: object, **__: object) -> Any:
        raise error

    monkeypatch.setattr(Notes, hook, fail)
    with place(tmp_path) as workspace:
        records = {record.ref for record in systems.records_of_all(workspace, None, {})}
        assert "facts#m-1" in records
        searcher = systems.searcher_of(workspace)
        searcher.update()
        searcher.close()
        if hook in ("maintain", "look") and isinstance(error, MemdeckError):
            with pytest.raises(MemdeckError, match="toy"):
                systems.maintain_all(workspace, NOW, actor="maintain")
        else:
            report = systems.maintain_all(workspace, NOW, actor="maintain")
            assert "prune-facts" in {rule.rule for rule in report.rules}
        assert "facts" in {line.system for line in systems.brief_lines_of(workspace, NOW)}
        assert "facts" in {one.system for one in systems.contributions_of(workspace.systems(), "", NOW)}
        systems.entrust(workspace, systems.trust_of(workspace, workspace.root.parent / "config"), {})
        systems.asks_of_all(workspace)
        workspace.notice(NOW)
        workspace.watcher(lambda _: None)._more()  # type: ignore[attr-defined]
        assert workspace.stores()
        problems = systems.check_all(workspace, now=NOW)
        if isinstance(error, ZeroDivisionError) and hook not in NOT_CALLED:
            assert {(one.file, one.code) for one in problems} == {(".notes", "system.failed")}
            assert all("ZeroDivisionError: toy" in one.message for one in problems)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": "facts"}, "there is a system facts already"),
        ({"name": "No Name"}, "'No Name' is not a name"),
        ({"kinds": ("tasks",)}, "its kind tasks is already one of files"),
        ({"mark": "../.notes"}, "its mark '../.notes' is not a path in a workspace"),
        ({"mark": "/notes"}, "its mark '/notes' is not a path in a workspace"),
        ({"mark": ".aegis"}, "its mark .aegis is that of facts"),
        ({"mark": ".aiter/memory/notes"}, "its mark .aiter/memory/notes is that of files"),
        ({"place": "toy_notes"}, "'toy_notes' is not a place such as package.module:Name"),
        ({"verbs": ("notes",)}, "its verbs are not all VerbName"),
        ({"panes": (REGISTRY[1].panes[0],)}, "its pane facts is already one of facts"),
        ({"verbs": REGISTRY[0].verbs[:1]}, "its verb tasks is already one of files"),
    ],
)
def test_a_declaration_that_is_refused(
    installed: None, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], words: str
) -> None:
    """One that takes what another system has, or is none, is left out, with the reason."""
    import toy_notes

    assert [system.name for system in offered(REGISTRY)[0]] == ["notes"]
    monkeypatch.setattr(toy_notes, "SYSTEM", toy_notes.SYSTEM._replace(**change))
    found, (refused,) = offered(REGISTRY)
    assert found == ()
    assert (refused.name, refused.package) == ("notes", "toy-notes")
    assert refused.why.startswith(words)


async def test_its_pane_adds_and_removes(tmp_path: Path, installed: None) -> None:
    """A note is written by the form of its pane and taken back by the key of every pane."""
    with place(tmp_path) as workspace:
        app = make_app(workspace)
        async with app.run_test(size=(120, 30)) as pilot:
            await settle(pilot)
            app.navigation.open_pane("notes")
            await settle(pilot)
            assert "Milk and bread" in screen_text(app)
            await press(pilot, "a")
            await type_text(pilot, "garden")
            await press(pilot, "tab")
            await type_text(pilot, "Water the roses")
            await press(pilot, "ctrl+s")
            await settle(pilot)
            note = workspace.root / ".notes" / "garden.txt"
            assert note.read_text() == "Water the roses\n"
            assert "Water the roses" in screen_text(app)
            await press(pilot, "u")
            await settle(pilot)
            assert not note.exists()
            assert "Water the roses" not in screen_text(app)
