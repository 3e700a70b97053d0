"""`memdeck merge`: three versions of a file by entries, fields and lines; what both changed is told in words."""

from __future__ import annotations

import pytest

from tests.contract.place import Place

ENTRY = "### Paint\n- due: 1\n- created: 2026-01-01\n- notes: a\n"
FILE = f"## Pending\n{ENTRY}## In Progress\n## Completed\n"


def merge(workspace: Place, base: str, ours: str, theirs: str) -> tuple[int, list[dict[str, str]], str]:
    """Return the exit code, the conflicts, and what OURS is then."""
    for name, text in (("base.md", base), ("ours.md", ours), ("theirs.md", theirs)):
        workspace.write(name, text)
    answer = workspace("merge", "base.md", "ours.md", "theirs.md", "--path", ".aiter/memory/tasks.md", "-o", "json")
    return answer.code, answer.data["conflicts"], workspace.read("ours.md").decode()


def moved(section: str, *change: str) -> str:
    """Return the file with its entry, changed, in another section."""
    return FILE.replace(ENTRY, "").replace(f"## {section}\n", f"## {section}\n{ENTRY.replace(*change)}")


def test_an_entry_moved_to_two_sections_keeps_the_edits_of_both(workspace: Place) -> None:
    """Only the section is a conflict; the fields that each side changed are in both places that are marked."""
    ours, theirs = moved("In Progress", "due: 1", "due: 2"), moved("Completed", "notes: a", "notes: b")
    code, conflicts, text = merge(workspace, FILE, ours, theirs)
    assert code == 4
    assert [(one["field"], one["base"], one["ours"], one["theirs"]) for one in conflicts] == [
        ("section", "Pending", "In Progress", "Completed")
    ]
    assert text.count("- due: 2") == text.count("- notes: b") == 2
    assert "<<<<<<< ours" in text


@pytest.mark.parametrize(("value", "marked"), [("2", False), ("3", True)])
def test_one_field_of_one_entry(workspace: Place, value: str, marked: bool) -> None:
    """The same value on both sides counts once; two values are marked, and the other field of theirs is taken."""
    theirs = FILE.replace("due: 1", f"due: {value}").replace("notes: a", "notes: b")
    code, conflicts, text = merge(workspace, FILE, FILE.replace("due: 1", "due: 2"), theirs)
    assert (code, [one["field"] for one in conflicts]) == ((4, ["due"]) if marked else (0, []))
    assert text.count("- notes: b") == 1
    assert ("=======" in text) == marked
