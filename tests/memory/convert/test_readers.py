"""The files of other tools: what each becomes, what is skipped and why, and errors with file and line."""

from __future__ import annotations

import json
from datetime import UTC
from pathlib import Path

import pytest

from memory.base.items import Item, Skipped
from memory.convert.operations import FORMATS
from memory.errors import UsageError


def read(name: str, path: Path) -> tuple[list[Item], list[Skipped]]:
    """The items and what was skipped."""
    found = list(FORMATS[name].read(path, UTC))
    return [one for one in found if isinstance(one, Item)], [one for one in found if isinstance(one, Skipped)]


def written(path: Path, text: str) -> Path:
    """A file with a text, its folders made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def test_taskwarrior(tmp_path: Path) -> None:
    """Status, dates, priority, recurrence, annotations, user-defined attributes; computed values are no loss."""
    tasks = [
        {
            "id": 1, "description": "Pay the rent", "due": "20240201T090000Z", "entry": "20240101T080000Z",
            "project": "home", "priority": "H", "recur": "monthly", "status": "recurring", "tags": ["money"],
            "uuid": "a-1", "urgency": 12.1, "depends": ["a-2", "a-3"], "size": 3,
            "annotations": [{"entry": "20240103T080000Z", "description": "by transfer"}],
        },
        {"description": "Old", "status": "deleted"},
        {"description": "Report", "status": "completed", "end": "20240105T100000Z", "start": "20240104T100000Z"},
        {"description": "Now", "status": "pending", "start": "20240104T100000Z", "recur": "3days"},
        {"status": "pending"},
        "nonsense",
    ]  # fmt: skip
    items, skipped = read("taskwarrior", written(tmp_path / "t.json", json.dumps(tasks)))
    assert items[0].fields == {
        "section": "pending",
        "priority": "HIGH",
        "due": "2024-02-01T09:00:00Z (recurring: 0 9 1 * *)",
        "project": "home",
        "uuid": "a-1",
        "depends": "a-2, a-3",
        "size": "3",
        "notes": "2024-01-03T08:00:00Z by transfer",
    }
    assert (items[0].created, items[0].tags) == ("2024-01-01T08:00:00Z", ("money",))
    assert [one.fields["section"] for one in items] == ["pending", "completed", "in-progress"]
    assert items[2].fields["recur"] == "3days"
    assert [one.reason for one in skipped] == [
        "its status is deleted",
        "it has no description",
        "it has no description",
    ]


def test_taskwarrior_one_task_a_line(tmp_path: Path) -> None:
    """What older versions write, one task a line with a comma behind it, is read as well."""
    text = '{"description":"One","status":"pending"},\n{"description":"Two","status":"pending"}\n'
    assert [one.title for one in read("taskwarrior", written(tmp_path / "t.json", text))[0]] == ["One", "Two"]


def test_todo_txt(tmp_path: Path) -> None:
    """Priority, dates, projects, contexts and pairs are taken apart; an address stays in the title."""
    text = (
        "(A) 2024-01-02 Call Mum +family @phone due:2024-01-20\n\nx 2024-01-05 2024-01-01 Buy milk\n"
        "See http://example.com/x\n(Z) Last\n+only @tags\n"
    )
    items, skipped = read("todotxt", written(tmp_path / "todo.txt", text))
    assert [(one.title, one.created, one.tags, dict(one.fields)) for one in items] == [
        (
            "Call Mum", "2024-01-02", ("family", "@phone"),
            {"section": "pending", "priority": "HIGH", "due": "2024-01-20"},
        ),
        ("Buy milk", "2024-01-01", (), {"section": "completed", "completed": "2024-01-05"}),
        ("See http://example.com/x", "", (), {"section": "pending"}),
        ("Last", "", (), {"section": "pending", "priority": "Z"}),
    ]  # fmt: skip
    assert skipped == [Skipped(f"{tmp_path}/todo.txt:6", "it has no text")]


def test_claude_code_folder(tmp_path: Path) -> None:
    """Memory files become memories with type and description; the index is skipped."""
    written(tmp_path / "user_role.md", "---\nname: role\ndescription: d\ntype: user\n---\n\nA scientist.\n")
    written(tmp_path / "MEMORY.md", "- [role](user_role.md)\n")
    items, skipped = read("claude-code", tmp_path)
    assert [(one.title, one.text, dict(one.fields)) for one in items] == [
        ("role", "A scientist.", {"description": "d", "type": "user"})
    ]
    assert [one.reason for one in skipped] == ["it is the index of the others"]


def test_claude_md(tmp_path: Path) -> None:
    """Each bullet is a fact below its heading, found at its line; prose is skipped where it stands."""
    head = "# Shop\n\nSome prose.\n\n## Commands\n\n- `make test`\n- `make run`\n  with more\n\n"
    text = head + "### Deep\n\n- deep one\n\nEnd.\n"
    path = written(tmp_path / "CLAUDE.md", text)
    items, skipped = read("claude-code", path)
    assert [(one.title, one.text, one.fields["section"], one.where) for one in items] == [
        ("`make test`", "", "Commands", f"{path}:7"),
        ("`make run`", "with more", "Commands", f"{path}:8"),
        ("deep one", "", "Deep", f"{path}:13"),
    ]
    assert [one.what for one in skipped] == [f"{path}:3: Some prose.", f"{path}:15: End."]


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("taskwarrior", '[{"description": "a"},\n{', 2),
        ("taskwarrior", '{"description": "a"}\n{nonsense', 2),
        ("taskwarrior", "17", 1),
        ("task-master", "[" * 100_000, 1),
        ("task-master", '{"tasks": ' + "9" * 5000 + "}", 1),
    ],
)
def test_what_is_no_export_is_refused_with_its_line(tmp_path: Path, name: str, text: str, line: int) -> None:
    """A broken export is one error that names file and line, whatever the parser makes of it."""
    path = written(tmp_path / "x.json", text)
    with pytest.raises(UsageError) as caught:
        read(name, path)
    assert caught.value.code == "convert.unreadable"
    assert f"{path}:{line}:" in caught.value.message


@pytest.mark.parametrize("name", [*FORMATS])
def test_no_bytes_end_a_reader(tmp_path: Path, name: str) -> None:
    """Bytes that are no text, and a file that is a pipe's end or a folder, are errors or skipped, never a traceback."""
    (tmp_path / "bad.md").write_bytes(b"---\ntitle: \xff\n---\n\xfe")
    for path in (tmp_path, tmp_path / "bad.md", Path("/dev/null"), tmp_path / "gone"):
        codes = []
        try:
            list(FORMATS[name].read(path, UTC))
        except UsageError as error:
            codes.append(error.code)
        assert set(codes) <= {"convert.unreadable"}


def test_lists_of_a_tracker_that_are_none_are_left_out(tmp_path: Path) -> None:
    """A number where a tracker has a list ends no reader; the task comes without labels and dependencies."""
    issue = {"id": "a-1", "title": "Pay", "dependencies": 5, "labels": 7}
    items, _ = read("beads", written(tmp_path / "issues.jsonl", json.dumps(issue)))
    assert [(one.title, one.tags, "depends" in one.fields) for one in items] == [("Pay", (), False)]
