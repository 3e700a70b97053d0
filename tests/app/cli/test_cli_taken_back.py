"""A stale save of another program at the command line: said by every verb that looks, and brought back by one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.app.cli.conftest import Answer

Memdeck = Callable[..., Answer]
THEIRS = "## Pending\n### [NORMAL] Theirs\n- created: 2024-01-15 12:00\n"


def _stale(memdeck: Memdeck, memory: Path) -> str:
    """Add a task, and save the file as it was before with another one; return the id of that save."""
    memdeck("tasks", "add", "Base")
    path = memory / "tasks.md"
    old = path.read_text()
    memdeck("tasks", "add", "Ours")
    path.write_text(old.replace("## Pending\n", THEIRS))
    (found,) = memdeck("changes", "list", "--actor", "outside", "-o", "json").data["changes"]
    return str(found["id"])


def test_what_was_taken_back_is_said_and_brought_back(memdeck: Memdeck, memory: Path) -> None:
    """`status` lists it, `doctor` ends with 4, a change warns of it; `changes revert` brings it back beside theirs."""
    change = _stale(memdeck, memory)
    (taken,) = memdeck("status", "-o", "json").data["taken_back"]
    assert (taken["change"], taken["whole"]) == (change, True)
    assert [(one["file"], one["title"], one["kind"]) for one in taken["entries"]] == [("tasks.md", "Ours", "added")]
    assert "'Ours'" in memdeck("status").out
    doctor = memdeck("doctor", "-o", "json")
    (finding,) = [one for one in doctor.data["checks"] if one["name"] == "taken back"]
    assert (doctor.code, finding["level"]) == (4, "person")
    assert "took back 'Ours'" in memdeck("journal", "add", "Noted").err
    assert memdeck("changes", "show", change, "-o", "json").data["takenBack"] == taken["entries"]
    assert memdeck("changes", "revert", change).out == "brought back 'Ours'\n"
    text = (memory / "tasks.md").read_text()
    assert ("### [NORMAL] Ours\n" in text, THEIRS in text) == (True, True)
    assert memdeck("status", "-o", "json").data["taken_back"] == []


def test_what_was_taken_back_can_be_left_so(memdeck: Memdeck, memory: Path) -> None:
    """Then nothing reminds of it, and nothing was written; a second time there is nothing to decide."""
    change = _stale(memdeck, memory)
    before = (memory / "tasks.md").read_bytes()
    kept = memdeck("changes", "keep", change, "-o", "json")
    assert (kept.code, kept.data["kept"]["change"]) == (0, change)
    assert (memory / "tasks.md").read_bytes() == before
    assert not [one for one in memdeck("doctor", "-o", "json").data["checks"] if one["name"] == "taken back"]
    again = memdeck("changes", "keep", change, "-o", "json")
    assert (again.code, again.data["error"]["code"]) == (4, "change.nothing_taken")


def test_it_comes_back_by_itself_where_config_says_so(memdeck: Memdeck, memory: Path) -> None:
    """The next verb that looks brings it back and says so; maintenance does the same."""
    memdeck("config", "set", "reapplyUndone", "true")
    _stale(memdeck, memory)
    assert "### [NORMAL] Ours\n" in (memory / "tasks.md").read_text()
    assert memdeck("changes", "list", "-o", "json").data["changes"][0]["operation"] == "reapply"
    path = memory / "tasks.md"
    old = path.read_text()
    memdeck("tasks", "add", "Once more")
    path.write_text(old)
    memdeck("--maintain", "--no-exec", "--dry-run")
    assert path.read_text() == old
    memdeck("--maintain", "--no-exec")
    assert "Once more" in path.read_text()


def test_a_file_that_is_gone_is_an_error(memdeck: Memdeck, memory: Path) -> None:
    """`check` and `doctor` end with 4 at once, `status` lists it, and so it is for no file that never was."""
    assert memdeck("check").code == 0
    memdeck("tasks", "add", "Ours")
    (memory / "tasks.md").unlink()
    check = memdeck("check", "-o", "json")
    assert (check.code, check.data["problems"][0]["code"]) == (4, "file.gone")
    assert check.data["problems"][0]["message"].startswith("tasks.md is gone, 6 tasks in it")
    doctor = memdeck("doctor", "-o", "json")
    (finding,) = [one for one in doctor.data["checks"] if one["name"] == "files"]
    assert (doctor.code, finding["level"], finding["message"]) == (4, "person", "tasks.md is gone, 6 tasks in it")
    assert memdeck("status", "-o", "json").data["problems"][0]["code"] == "file.gone"
