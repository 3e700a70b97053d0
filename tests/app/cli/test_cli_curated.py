"""`memdeck curated`: every operation of the registry as a verb, its payloads, errors and words for people."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory.curated.operations.registry import OPERATIONS
from tests.app.cli.conftest import Answer

Memdeck = Callable[..., Answer]
WINDOW = "We deploy on Tuesdays between 9 and 11"


@pytest.fixture
def cur(memdeck: Memdeck) -> Callable[..., Any]:
    """Return a function that runs a curated verb with `-o json` and returns its document; the code must be 0."""

    def call(*arguments: str, now: str = "2024-01-15T12:00:00Z") -> Any:
        answer = memdeck("curated", *arguments, "-o", "json", now=now)
        assert answer.code == 0, answer.err
        return answer.data

    return call


def _write(cur: Callable[..., Any], name: str = "Deploy window", content: str = WINDOW, *more: str) -> Any:
    return cur("write", "--type", "project", "--name", name, "--description", "When", "--content", content, *more)


def test_every_operation_gives_what_it_says(cur: Callable[..., Any], memdeck: Memdeck, shop: Path) -> None:
    """Each verb runs, and its document has the keys of its output schema."""
    first = _write(cur)["decision"]["id"]
    cur("search", "deploy window tuesdays", "--session", "s1", "--turn", "1")
    dream = cur("dream", "trigger", "--force")["dream"]["id"]
    inbox = shop / ".agh/memory/_inbox/s1/1.jsonl"
    inbox.parent.mkdir(parents=True)
    inbox.write_text("no JSON\n")
    cur("extractor", "drain")
    event = '{"event_type": "user_message", "content": "hi"}'
    for session in ("s7", "s8"):
        cur("session", "append", session, "--content", event)
    cur("session", "end", "s7")
    cur("write", "--type", "user", "--name", "Old", "--content", "long ago", now="2023-01-01T12:00:00Z")
    (shop / ".agh/memory/_system/archive/daily").mkdir(parents=True)
    for day in ("2023-01-02", "2023-01-03", "2023-01-04"):
        (shop / f".agh/memory/_system/archive/daily/{day}.md").write_text("long ago\n")
    restored = iter(("2023-01-02", "2023-01-03", "2023-01-04"))
    arguments = {
        "provider show": ["local"],
        "provider select": ["local"],
        "daily purge": ["--older-than-days", "3650"],
        "session append": ["s8", "--content", event],
        "session end": ["s7"],
        "session ledger": ["s7"],
        "session replay": ["s8"],
        "session prune": ["--older-than-hours", "24"],
        "extractor feed": ["--session", "s1", "--content", "remember: milk is cold"],
        "extractor replay": ["--session", "s1"],
        "dream show": [dream],
        "dream retry": [dream, "--force"],
        "show": ["project_deploy-window"],
        "write": ["--type", "user", "--name", "Tea", "--content", "green tea"],
        "edit": ["project_deploy-window", "--content", "We deploy on Mondays"],
        "search": ["deploy mondays"],
        "note": ["--content", "ask Ada"],
        "promote": ["project_deploy-window", "--from", "workspace", "--to", "global"],
        "decisions show": [first],
        "decisions revert": [first, "--dry-run"],
        "recall trace": ["s1", "1"],
        "recall block": ["deploy window mondays"],
        "snapshot": ["s1"],
        "delete": ["user_tea"],
    }
    last = ("edit", "promote", "delete", "extractor replay")
    for operation in sorted(OPERATIONS, key=lambda one: one.words in last):
        name = operation.words
        if name in ("provider enable", "provider disable"):
            continue  # The built-in one is always there; tests/extension installs another.
        for output in ("json", "jsonl", "human"):
            if name in last and output != "json":
                continue
            more = ["--content", f"tea {output}"] if name == "write" else []
            if name == "daily restore":
                more = [next(restored)]
            answer = memdeck("curated", *name.split(), *arguments.get(name, []), *more, "-o", output)
            assert answer.code == 0, (name, answer.err)
            if output == "json":
                assert not operation.rows or operation.rows in answer.data, name
            elif output == "jsonl" and not operation.rows:
                assert len(answer.objects) == 1
            elif output == "human":
                assert answer.out.strip(), name


@pytest.mark.parametrize(
    ("arguments", "code", "exit_code"),
    [
        (("show", "nothing"), "memory.not_found", 1),
        (("show", "../../x"), "memory.not_found", 1),
        (("list", "--scope", "moon"), "memory.scope.invalid", 2),
        (("list", "--scope", "agent"), "memory.scope.agent_required", 2),
        (("list", "--scope", "global", "--agent", "ada"), "memory.scope.agent_flags_invalid", 2),
        (("list", "--agent", "ada", "--agent-tier", "moon"), "memory.scope.agent_tier_invalid", 2),
        (("list", "--type", "mood"), "memory.validation", 2),
        (("write", "--type", "user", "--name", "X", "--content", " "), "memory.validation", 2),
        (("write", "--type", "user", "--name", "X", "--content", "@"), "memory.content_path_required", 2),
        (("write", "--type", "user", "--name", "X", "--content", "@nowhere"), "memory.content_read_failed", 1),
        (("promote", "x", "--from", "moon", "--to", "global"), "memory.promote.selector_invalid", 2),
        (("recall", "trace", "s9", "1"), "memory.not_found", 1),
        (("decisions", "show", "dec_x"), "memory.not_found", 1),
        (("decisions", "list", "--since", "soon"), "memory.validation", 2),
        (("config", "nothing"), "memory.not_found", 1),
        (("write", "--name", "X"), "usage.missing", 2),
    ],
)
def test_errors_have_stable_codes(memdeck: Memdeck, arguments: tuple[str, ...], code: str, exit_code: int) -> None:
    """An error is one object with code, message and details, and one line on stderr."""
    answer = memdeck("curated", *arguments, "-o", "json")
    assert answer.code == exit_code
    error = answer.data["error"]
    assert code.startswith("usage.") or error["code"] == code
    assert error["message"]
    assert answer.err.startswith("memdeck: ")
    assert "Traceback" not in answer.err


def test_without_a_workspace_the_folder_becomes_one(memdeck: Memdeck, tmp_path: Path) -> None:
    """A write with the scope of a workspace makes `.agh` in the folder itself; a deeper folder belongs to it."""
    deep = tmp_path / "bare" / "deep"
    deep.mkdir(parents=True)
    bare = str(deep.parent)
    answer = memdeck("curated", "write", "-w", bare, "--type", "project", "--name", "N", "--content", "one two")
    assert answer.code == 0
    assert (deep.parent / ".agh/workspace.toml").exists()
    rows = memdeck("curated", "list", "-w", str(deep), "-o", "jsonl").objects
    assert [row["filename"] for row in rows] == ["project_n.md"]
    assert memdeck("status", "-w", str(deep), "-o", "json").data["workspace"] == bare


def test_the_other_verbs_see_it(memdeck: Memdeck, cur: Callable[..., Any], shop: Path) -> None:
    """Search, check, status, changes, undo and maintenance go over curated memory too."""
    _write(cur)
    (shop / ".agh/memory/user_bad.md").write_text("---\nname: X\n---\n")
    found = memdeck("search", "tuesdays", "-o", "json").data["results"]
    assert [one["file"] for one in found] == [".agh/memory/project_deploy-window.md"]
    check = memdeck("check", "-o", "json")
    assert check.code == 4
    assert [(one["file"], one["code"]) for one in check.data["problems"] if one["file"].startswith(".agh")] == [
        (".agh/memory/user_bad.md", "memory.file.description")
    ]
    assert "curated    1 memory" in memdeck("status").out
    change = memdeck("changes", "list", "-o", "json").data["changes"][0]
    assert change["summary"] == "added memory 'Deploy window' (workspace)"
    assert memdeck("undo").code == 0
    assert not (shop / ".agh/memory/project_deploy-window.md").exists()
    report = memdeck("--maintain", "--no-exec", "-o", "json").data
    assert "prune-curated-decisions" in [one["rule"] for one in report["rules"]]


def test_maintenance_dreams_when_the_gates_are_open(memdeck: Memdeck, cur: Callable[..., Any], shop: Path) -> None:
    """A dry run says so and writes nothing; a run makes the memory; the next one says which gates are closed."""
    things = ["tuesday deploys", "thursday releases", "stage hosts", "red phones", "ninety days"]
    for number, words in enumerate(things):
        _write(cur, f"Thing {number}", f"always {words} matter")
        for session in ("s1", "s2", "s3"):
            cur("search", words, "--session", session, "--turn", str(number))
    health = cur("health")
    assert "3 of 3 sessions" in health["dream_gates"]["workspace"]
    assert "5 of 5 memories" in health["dream_gates"]["workspace"]

    def rule(*more: str) -> Any:
        report = memdeck("--maintain", "--no-exec", *more, "-o", "json").data
        (found,) = [one for one in report["rules"] if one["rule"] == "dream-curated-memory"]
        assert (found["before"], found["kept"]) == (5, 5)
        return found["message"]

    before = sorted(shop.rglob("*"))
    assert rule("--dry-run") == "workspace: would gather 5 memories"
    assert sorted(shop.rglob("*")) == before
    assert "promoted, 5 memories in project_dreaming-2024-01-15.md" in rule()
    assert (shop / ".agh/memory/project_dreaming-2024-01-15.md").exists()
    report = memdeck("--maintain", "--no-exec", "-o", "json").data
    assert "dream-curated-memory" not in [one["rule"] for one in report["rules"]]
    assert "0 of 5 memories" in memdeck("curated", "dream", "status").out
    assert memdeck("curated", "dream", "list", "-o", "jsonl").objects[0]["state"] == "promoted"


@pytest.mark.parametrize("damage", ["identity", "settings"])
def test_what_cannot_be_read_stops_no_other_verb(
    memdeck: Memdeck, cur: Callable[..., Any], shop: Path, damage: str
) -> None:
    """A damaged identity and wrong settings are told by check; tasks, status, search and undo go on."""
    _write(cur)
    (shop / "../home/.agh").mkdir(parents=True, exist_ok=True)
    if damage == "identity":
        (shop / ".agh/workspace.toml").write_text("workspace_id = 3\n")
    else:
        (shop / "../home/.agh/config.toml").write_text("[memory]\nnonsense = 1\n")
    code = {"identity": "memory.workspace.unreadable", "settings": "memory.config"}[damage]
    check = memdeck("check", "-o", "json")
    assert check.code == 4
    assert code in [one["code"] for one in check.data["problems"]]
    for arguments in (("tasks", "list"), ("status",), ("search", "anything"), ("changes", "list"), ("undo",)):
        answer = memdeck(*arguments)
        assert answer.code == 0, (arguments, answer.err)
    assert memdeck("--maintain", "--no-exec").code == 0
    answer = memdeck("curated", "list", "-o", "json")
    assert (answer.code, answer.data["error"]["code"]) == (2, code)


def test_content_from_a_file_and_from_standard_input(
    cur: Callable[..., Any], process: Callable[..., Any], shop: Path
) -> None:
    """`@FILE` and `-` read the text from there."""
    (shop / "note.txt").write_text("text of a file")
    assert _write(cur, "From a file", "@note.txt")["applied"]
    assert cur("show", "project_from-a-file")["memory"]["content"] == "text of a file"
    arguments = ("curated", "write", "--type", "project", "--name", "Piped", "--content", "-", "-o", "json")
    done = process(*arguments, stdin=b"text of a pipe\n")
    assert json.loads(done.stdout)["applied"], done.stderr
    assert cur("show", "project_piped")["memory"]["content"] == "text of a pipe"


def test_maintenance_drains_the_inbox(memdeck: Memdeck, cur: Callable[..., Any], shop: Path) -> None:
    """A dry run says how many candidates wait and leaves them; a run decides on each, and keeps what failed."""
    _write(cur)
    inbox = shop / ".agh/memory/_inbox/s1/1.jsonl"
    inbox.parent.mkdir(parents=True)
    inbox.write_text('{"type": "project", "name": "Tea", "content": "green tea"}\nno JSON\n')

    def rule(*more: str) -> Any:
        report = memdeck("--maintain", "--no-exec", *more, "-o", "json").data
        (found,) = [one for one in report["rules"] if one["rule"] == "drain-curated-inbox"]
        return found

    assert (rule("--dry-run")["kept"], inbox.exists()) == (2, True)
    done = rule()
    assert (done["before"], done["kept"], done["cleared"]) == (2, 0, 2)
    assert done["message"] == "1 added, 1 failed"
    assert not inbox.exists()
    assert cur("show", "project_tea")["memory"]["content"] == "green tea"
    assert memdeck("curated", "extractor", "list-pending", "-o", "jsonl").objects[0]["session_id"] == "s1"
