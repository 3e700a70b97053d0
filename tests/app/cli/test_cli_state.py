"""The verbs of project state: answers, exit codes, errors, and what they leave in the repository."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import NOW, Answer

SESSION = [
    {"type": "user", "timestamp": "2024-01-15T10:00:00.000Z", "message": {"role": "user", "content": "Fix the cache"}},
    {
        "type": "assistant",
        "timestamp": "2024-01-15T10:01:00.000Z",
        "message": {
            "role": "assistant",
            "content": [
                {
                    "type": "text",
                    "text": "DECISION: Use SQLite for the cache\nGOTCHA: Lock: two writers\nNEXT: Test it: now",
                }
            ],
        },
    },
]


@pytest.fixture
def state(shop: Path, memdeck: Callable[..., Answer]) -> Callable[..., Answer]:
    """Make a project state in the sample workspace, and return what runs its verbs at one time."""
    (shop / "README.md").write_text("# Shop\n\nA shop that sells tea to people who like tea.\n")
    (shop / ".git").mkdir()

    def run(*arguments: str, **more: Any) -> Answer:
        return memdeck("state", *arguments, "--now", NOW, **more)

    assert run("init").code == 0
    return run


@pytest.fixture
def sessions(shop: Path) -> Path:
    """Write one session of Claude Code; return the folder of the agent."""
    folder = shop.parent / "home" / ".claude" / "transcripts"
    folder.mkdir(parents=True)
    (folder / "s1.jsonl").write_text("".join(json.dumps(line) + "\n" for line in SESSION))
    return folder.parent


def imported(state: Callable[..., Answer]) -> None:
    """Add the sessions and import them."""
    assert state("add", "--type", "claude-local", "--path", "~/.claude", "--name", "claude").code == 0
    assert state("sync", "--all").out == "claude: imported 1, learned 3\n"


def test_a_repository_within_a_workspace_has_its_own(shop: Path, memdeck: Callable[..., Answer]) -> None:
    """A repository beneath a workspace is not the workspace: its state is made where it is."""
    (shop / "lib" / ".git").mkdir(parents=True)
    assert memdeck("state", "init", "-w", str(shop / "lib"), "--now", NOW).code == 0
    assert (shop / "lib" / ".agent-memory" / "state.json").exists()
    assert not (shop / ".agent-memory").exists()


def test_validate_runs_nothing_unapproved(state: Callable[..., Answer], shop: Path) -> None:
    """Validation commands of the bundle are listed as waiting, exit code 3, and nothing runs."""
    commands = [{"label": "tests", "command": ["touch", "ran"], "purpose": "p"}]
    (shop / "commands.json").write_text(json.dumps(commands))
    assert state("edit", "validation-commands", "--json", "commands.json").code == 0
    answer = state("validate", "--run", "-o", "json")
    assert answer.code == 3
    assert answer.data["error"]["details"]["blocked"][0]["text"] == "touch ran"
    assert not (shop / "ran").exists()


def test_checkpoints_diff_and_events(state: Callable[..., Answer], sessions: Path) -> None:
    """Lists are newest first; a diff of two checkpoints goes section by section, in both directions."""
    imported(state)
    state("recall", "--yes")
    assert [one["id"] for one in state("show", "checkpoints", "-o", "json").data["checkpoints"]] == [
        "chk-000002",
        "chk-000001",
    ]
    assert [one["id"] for one in state("show", "events", "-o", "jsonl").objects] == [
        "evt-000003",
        "evt-000002",
        "evt-000001",
    ]
    forth = state("diff", "chk-000001", "chk-000002", "-o", "json").data["sections"]
    assert '+    "title": "Lock"' in "\n".join(next(one for one in forth if one["section"] == "gotchas")["diff"])
    back = state("diff", "chk-000002", "chk-000001", "-o", "jsonl").objects
    assert '-    "title": "Lock"' in "\n".join(next(one for one in back if one["section"] == "gotchas")["diff"])
    assert state("diff", "chk-000002", "state").out == "chk-000002 and state are the same\n"
    assert '+    "title": "Lock"' in state("diff", "chk-000001", "chk-000002").out
    assert state("diff", "chk-000001", "../chk-000002").code == 1


def test_edit_takes_json_and_checks_it(state: Callable[..., Answer], shop: Path) -> None:
    """What is no JSON and what has not the shape is refused, and nothing is written."""
    (shop / "bad.json").write_text("[")
    assert "state.json" in state("edit", "gotchas", "--json", "bad.json").err
    (shop / "bad.json").write_text('[{"title": ""}]')
    answer = state("edit", "gotchas", "--json", "bad.json", "-o", "json")
    assert answer.data["error"]["code"] == "state.refused"
    assert state("edit", "gotchas").code == 2
    assert len(state("show", "checkpoints", "-o", "json").data["checkpoints"]) == 1


def test_sync_needs_one_or_all(state: Callable[..., Answer], sessions: Path) -> None:
    """Neither is wrong usage, an unknown one is not found, and a source that failed is exit code 1."""
    assert state("sync").code == 2
    assert state("sync", "nobody").code == 1
    imported(state)
    (sessions / "transcripts" / "s1.jsonl").unlink()
    (sessions / "transcripts").rmdir()
    sessions.rmdir()
    assert state("sync", "claude").code == 1
    assert [one["lastSyncStatus"] for one in state("show", "sources", "-o", "json").data["sources"]] == ["failed"]


def test_a_damaged_state_is_an_error_with_file_and_line(
    state: Callable[..., Answer], shop: Path, memdeck: Callable[..., Answer]
) -> None:
    """No verb ends in a traceback: each says file, line and code, and check lists it."""
    (shop / ".agent-memory/state.json").write_text('{\n  "schemaVersion": 2,\n')
    for verb in (["status"], ["recall"], ["show"], ["query", "a b"], ["sync", "--all"]):
        answer = state(*verb)
        assert answer.code in (1, 2), verb
        assert ".agent-memory/state.json:" in answer.err
    checked = memdeck("check", "-o", "json")
    assert checked.code == 4
    assert "state.state.json" in {one["code"] for one in checked.data["problems"]}
    assert memdeck("status").code == 0
    assert memdeck("search", "tea").code == 0
