"""Edits of plans: each changes what it says and no other byte."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.errors import NotFoundError, UsageError
from memory.files.edit import Edit
from memory.files.plans.edits import add_plan, edit_plan, remove_plan, replace_plan_text
from memory.files.snapshot import Snapshot
from memory.workspace import Workspace

NOW = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)
TEXT = (
    "---\r\ntype: x\r\n---\r\n\r\n## Active Plans\r\n\r\n"
    "### Big plan\r\n- planId: orch-1\r\n- status: running  (since Monday)\r\n- odd: kept\r\n\r\n"
    "| id | title | status |\r\n|--|--|--|\r\n| t1 | a | done |\r\n\r\n<!-- a note -->\r\n"
)


@pytest.fixture(name="change")
def _change(tmp_path: Path) -> Callable[[Callable[[Snapshot], Edit]], tuple[list[str], str | None]]:
    memory = tmp_path / ".aiter" / "memory"
    memory.mkdir(parents=True)
    file = memory / "orchestration.md"
    file.write_bytes(TEXT.encode())
    (memory / "config.md").write_text("## Workspace\n\n- timezone: UTC\n")
    workspace = Workspace(tmp_path, state_home=None)

    def change(build: Callable[[Snapshot], Edit]) -> tuple[list[str], str | None]:
        outcome = workspace.change("test", build, actor="human", now=NOW)
        return file.read_bytes().decode().split("\r\n"), outcome.ref

    return change


Change = Callable[[Callable[[Snapshot], Edit]], tuple[list[str], str | None]]


@pytest.mark.parametrize(
    ("values", "old", "new"),
    [
        ({"planId": "orch-2"}, "- planId: orch-1", "- planId: orch-2"),
        ({"status": "blocked"}, "- status: running  (since Monday)", "- status: blocked"),
        ({"odd": "else"}, "- odd: kept", "- odd: else"),
        ({"title": "Other"}, "### Big plan", "### Other"),
    ],
)
def test_a_field_changes_its_line(change: Change, values: Mapping[str, str], old: str, new: str) -> None:
    """One field is one line; every other byte, line ends included, stays as it was."""
    lines, ref = change(lambda snapshot: edit_plan(snapshot, "Big plan", values, now=NOW))
    before = TEXT.split("\r\n")
    assert [line.rstrip() for line in lines] == [new if line == old else line for line in before]
    assert ref is not None


def test_an_unset_field_goes_with_its_line(change: Change) -> None:
    """What is unset leaves no line behind."""
    lines, _ = change(lambda snapshot: edit_plan(snapshot, "orch-1", {}, ["odd"], now=NOW))
    assert lines == [line for line in TEXT.split("\r\n") if line != "- odd: kept"]


def test_a_plan_moves_with_its_bytes(change: Change) -> None:
    """A finished plan stands in Completed Plans with its table and its odd field, and says when."""
    lines, ref = change(lambda snapshot: edit_plan(snapshot, "orch-1", {"section": "completed"}, now=NOW))
    at = lines.index("## Completed Plans")
    moved = lines[at:]
    assert {"### Big plan", "- odd: kept", "| t1 | a | done |", "- status: completed"} <= set(moved)
    assert "- completed: 2024-01-15 10:30" in moved
    assert "### Big plan" not in lines[:at]
    again, same = change(lambda snapshot: edit_plan(snapshot, ref or "", {"section": "active"}, now=NOW))
    assert same == ref
    assert again.index("### Big plan") < again.index("## Completed Plans")


def test_a_plan_is_added_and_removed(change: Change) -> None:
    """A new plan stands behind the others with its fields in their order; removing it leaves but a blank line."""
    lines, ref = change(
        lambda snapshot: add_plan(
            snapshot, "New", {"status": "planning", "planId": "orch-9"}, "| id | title |", now=NOW
        )
    )
    at = lines.index("### New")
    assert lines[at + 1 : at + 4] == ["- planId: orch-9", "- status: planning", "- created: 2024-01-15 10:30"]
    assert "| id | title |" in lines[at:]
    lines, _ = change(lambda snapshot: remove_plan(snapshot, ref or "", now=NOW))
    assert "\r\n".join(lines).rstrip() == TEXT.rstrip()


@pytest.mark.parametrize(
    ("build", "code"),
    [
        (lambda snapshot: add_plan(snapshot, " ", {}, now=NOW), "plan.title"),
        (lambda snapshot: add_plan(snapshot, "a\nb", {}, now=NOW), "plan.title"),
        (lambda snapshot: add_plan(snapshot, "New", {"status": "odd"}, now=NOW), "plan.status"),
        (lambda snapshot: add_plan(snapshot, "New", {}, "### Another", now=NOW), "document.structure"),
        (lambda snapshot: edit_plan(snapshot, "orch-1", {"section": "nowhere"}, now=NOW), "plan.section"),
        (lambda snapshot: edit_plan(snapshot, "orch-1", {"status": "odd"}, now=NOW), "plan.status"),
        (lambda snapshot: replace_plan_text(snapshot, "orch-1", "### A\n\n### B\n", now=NOW), "document.structure"),
        (lambda snapshot: remove_plan(snapshot, "orch-7", now=NOW), "plan.not_found"),
    ],
)
def test_what_cannot_be_is_refused(change: Change, build: Callable[[Snapshot], Edit], code: str) -> None:
    """Each wrong value has its code, and nothing is written."""
    with pytest.raises((UsageError, NotFoundError)) as caught:
        change(build)
    assert caught.value.code == code
    lines, _ = change(lambda _: Edit({}, "nothing"))
    assert lines == TEXT.split("\r\n")
