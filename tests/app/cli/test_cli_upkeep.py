"""The verbs that look at the whole workspace, make one, and keep it small."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.app.cli.conftest import Answer
from tests.crash.calls import without_exchange

Memdeck = Callable[..., Answer]


def test_status(memdeck: Memdeck) -> None:
    """Counts, due, overdue, monitors, last maintenance and problems, before and after a run."""
    answer = memdeck("status", "-o", "json").data
    assert {"counts", "due", "overdue", "monitors", "last_maintenance", "problems"} <= set(answer)
    assert [task["title"] for task in answer["overdue"]] == ["Generate weekly report"]
    assert [task["title"] for task in answer["due"]["today"]] == ["Deploy v2.1 to staging"]
    assert (answer["monitors"]["total"], {one["state"] for one in answer["monitors"]["alerts"]}) == (3, {"blocked"})
    assert answer["last_maintenance"] is None
    people = memdeck("status").out
    assert "\nOverdue (1)\n" in people
    assert people.endswith("last maintenance: never\n")
    assert memdeck("--maintain", "--no-exec").code == 0
    assert memdeck("status", "-o", "json").data["last_maintenance"] == "2024-01-15T12:00:00Z"


@pytest.mark.parametrize("name", ["knowledge.md", "config.md", "archive/tasks-2023-11.md"])
def test_a_pipe_among_the_files_stops_no_overview(memdeck: Memdeck, memory: Path, name: str) -> None:
    """check, status and search report a file that cannot be read, and go on with all others."""
    path = memory / name
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    for answer, code in ((memdeck("check", "-o", "json"), 4), (memdeck("status", "-o", "json"), 0)):
        assert answer.code == code
        assert (name, None, "file.not_regular") in [
            (one["file"], one["line"], one["code"]) for one in answer.data["problems"]
        ]
    assert memdeck("check", name).code == 4
    found = memdeck("search", "deploy", "-o", "json")
    assert (found.code, found.data["results"] != []) == (0, True)
    assert (
        found.err
        == f"memdeck: file.not_regular: .aiter/memory/{name} is a FIFO, not a regular file; it was not searched\n"
    )


def test_demo(memdeck: Memdeck, tmp_path: Path) -> None:
    """A sample in a folder or a temporary one, its path on stdout, never on top of other memory."""
    folder = tmp_path / "demo"
    assert memdeck("demo", str(folder), "--no-open").out == f"{folder}\n"
    tasks = memdeck("tasks", "list", "-w", str(folder), "-o", "json").data["tasks"]
    assert tasks[0]["title"] == "Deploy v2.1 to staging"
    again = memdeck("demo", str(folder), "--no-open", "-o", "json")
    assert (again.code, again.data["error"]["code"]) == (2, "demo.exists")


def test_doctor(memdeck: Memdeck, memory: Path) -> None:
    """Looks at everything; a bad setting needs a person and makes the exit code 4."""
    answer = memdeck("doctor", "-o", "json")
    assert answer.code == 0, answer.out
    names = {check["name"] for check in answer.data["checks"]}
    assert names >= {"memdeck", "python", "libraries", "terminal", "encoding", "watcher", "workspace", "folder"}
    assert names >= {"files", "lock", "state", "config", "check", "cron", "maintenance"}
    assert answer.data["needs_person"] is False
    text = (memory / "config.md").read_text().replace("maxJournalEntries: 500", "maxJournalEntries: lots")
    (memory / "config.md").write_text(text)
    assert memdeck("doctor").code == 4
    (memory / "journal.md").unlink()
    os.mkfifo(memory / "journal.md")
    broken = {check["name"]: check["level"] for check in memdeck("doctor", "-o", "jsonl").objects}
    assert broken["files"] == broken["check"] == "person"
    outside = memdeck("doctor", "-w", "/", "-o", "jsonl")
    assert outside.code == 0
    assert "workspace" in {check["name"] for check in outside.objects}


def test_doctor_looks_at_what_protects_changes(memdeck: Memdeck, memory: Path) -> None:
    """Reduced protection and a change log that fails are told, and neither stops a change nor needs a person."""

    def levels() -> dict[str, str]:
        answer = memdeck("doctor", "-o", "json")
        assert answer.code == 0, answer.out
        return {check["name"]: check["level"] for check in answer.data["checks"]}

    assert memdeck("tasks", "add", "One").code == 0
    before = sorted(path.name for path in memory.parent.iterdir())
    assert (levels()["protection"], levels()["history"]) == ("ok", "ok")
    assert sorted(path.name for path in memory.parent.iterdir()) == before
    (log,) = Path(os.environ["XDG_STATE_HOME"]).glob("memdeck/*/changes.sqlite")
    log.unlink()
    log.mkdir()
    with without_exchange():
        assert (levels()["protection"], levels()["history"]) == ("warning", "warning")
        assert memdeck("tasks", "add", "Two").code == 0
    assert "Two" in (memory / "tasks.md").read_text()
    log.rmdir()
    log.with_name("changes.damaged.sqlite").touch()
    assert levels()["history"] == "note"
