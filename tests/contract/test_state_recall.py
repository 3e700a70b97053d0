"""What a recall makes of sessions: the later statement wins, titles stay whole, and the preview tells what it did."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.contract.place import Place

STATE = ".agent-memory/state.json"


def session(place: Place, name: str, *lines: str, at: str = "2026-02-28T10:00:00.000Z") -> None:
    """Write a session of an agent in this repository."""
    message = {"role": "assistant", "content": [{"type": "text", "text": "\n".join(lines)}]}
    record = {"type": "assistant", "timestamp": at, "cwd": str(place.work), "message": message}
    place.write(f"sessions/{name}.jsonl", json.dumps(record) + "\n")


def learned(place: Place, *sessions: tuple[str, ...]) -> dict[str, Any]:
    """Import sessions one after the other, each with a recall; return the answer of the last recall."""
    for number, lines in enumerate(sessions):
        session(place, f"s{number}", *lines, at=f"2026-02-28T1{number}:00:00.000Z")
        assert place("state", "sync", "--all").code == 0
        answer: dict[str, Any] = place.json("state", "recall", "--yes", "--show-diff")
    return answer


def bundle(place: Place) -> Any:
    """Return the bundle."""
    return json.loads(place.read(STATE))["bundle"]


@pytest.fixture
def project(place: Place) -> Place:
    """Return a project with a state and a source of sessions."""
    place.write("README.md", "# Shop\n\nA shop that sells tea.\n")
    place.write("pyproject.toml", '[project]\nname = "shop"\n')
    place.write("sessions/empty.jsonl", "{}\n")
    assert place("state", "init").code == 0
    assert place("state", "add", "--type", "claude-local", "--path", "sessions", "--name", "mine").code == 0
    return place


# -- the later decision ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The retry limit of uploads is 10 attempts per job", "The retry limit of uploads is 5 attempts per job"),
        ("We do not use SQLite for the store of the sessions", "We use SQLite for the store of the sessions"),
        ("do not use SQLite", "use SQLite"),
        ("We use SQLite for sessions", "We no longer use SQLite for sessions"),
        ("Cache is off in production", "Cache is off"),
        ("Cache is off in production", "Cache is on in production"),
        ("Use Python 3.11", "Use Python 3.12"),
        ("Use tabs for indentation", "Use spaces instead of tabs for indentation"),
    ],
)
def test_a_later_decision_replaces_the_earlier(project: Place, earlier: str, later: str) -> None:
    """The bundle has the later one alone; the preview and the diff show both, and say "replaces"."""
    learned(project, (f"DECISION: {earlier}",))
    session(project, "later", f"DECISION: {later}", at="2026-03-01T10:00:00.000Z")
    assert project("state", "sync", "--all").code == 0
    preview = project("state", "recall", "--show-diff")
    assert f"“{later}” replaces “{earlier}”" in preview.out
    assert f'-    "{earlier}"' in preview.out
    done = project.json("state", "recall", "--yes")
    assert done["replaced"] == [{"section": "current-focus", "text": later, "replaces": earlier}]
    state = bundle(project)["currentFocus"]["currentState"]
    assert (later in state, earlier in state) == (True, False)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Phase 1 is done", "Phase 2 is done"),
        ("`GET /a` is public", "`GET /b` is public"),
        ("Error 404 is shown as a page of its own", "Error 500 is shown as a page of its own"),
        ("Uploads go through nginx", "Uploads go to the queue of images"),
    ],
)
def test_statements_about_different_things_both_stay(project: Place, one: str, other: str) -> None:
    """Names in backticks, numbers of the subject and other words make two statements."""
    done = learned(project, (f"DECISION: {one}",), (f"DECISION: {other}",))
    assert {one, other} <= set(bundle(project)["currentFocus"]["currentState"])
    assert done["replaced"] == []


def test_a_decision_said_again_is_no_change(project: Place) -> None:
    """The same words in another case say nothing new."""
    done = learned(project, ("DECISION: Uploads go through nginx",), ("DECISION: Uploads go through nginx",))
    assert done["outcome"] == "noop"


# -- gotchas and steps ----------------------------------------------------------------------------------------------


def test_the_pages_leave_out_what_was_not_said(project: Place) -> None:
    """A gotcha and a step show what a session said of them, and its source in small print; nothing is a filler."""
    learned(project, ("GOTCHA: Timeout: the bank sleeps at night", "NEXT: Add tests"))
    for name, shown in (("gotchas", "- Cause: the bank sleeps at night"), ("next-steps", "## 1. Add tests")):
        page = project.read(f"docs/agent-memory/{name}.md").decode()
        assert shown in page
        assert "- <sub>Noted in sessions/s0.jsonl.</sub>" in page
        assert "ot recorded" not in page


def test_two_causes_of_one_title_both_stay(project: Place) -> None:
    """A gotcha with another cause adds that cause; one about the same matter replaces its own."""
    learned(project, ("GOTCHA: Timeout: the disk of the old CI is very slow",), ("GOTCHA: Timeout: DNS",))
    (gotcha,) = [one for one in bundle(project)["gotchas"] if one["title"] == "Timeout"]
    assert gotcha["cause"] == "the disk of the old CI is very slow; also: DNS"
    done = learned(project, ("x",), ("x",), ("x",), ("GOTCHA: Timeout: the disk of the old CI is not slow",))
    (gotcha,) = [one for one in bundle(project)["gotchas"] if one["title"] == "Timeout"]
    assert gotcha["cause"] == "the disk of the old CI is not slow; also: DNS"
    assert [one["section"] for one in done["replaced"]] == ["gotchas"]


@pytest.mark.parametrize(
    ("said", "title", "rest"),
    [
        ("https://example.org/api is down: use the mirror", "https://example.org/api is down", "use the mirror"),
        ("C:\\temp is full: clean it", "C:\\temp is full", "clean it"),
        ("`std::fmt` panics: use write!", "`std::fmt` panics", "use write!"),
        ("At 12:30 the job stops: restart it", "At 12:30 the job stops", "restart it"),
        ("npm run build:types fails on Windows: use WSL", "npm run build:types fails on Windows", "use WSL"),
        ("`a: b` is read as a map: quote it", "`a: b` is read as a map", "quote it"),
        ("read https://x.y/z", "read https://x.y/z", "Not recorded."),
        ("fix click::core alias lookup: see core.py", "fix click::core alias lookup", "see core.py"),
    ],
)
def test_a_title_ends_at_a_colon_with_a_blank(project: Place, said: str, title: str, rest: str) -> None:
    """No address, path, time, `a::b` or name of a script is cut; the same for gotchas and steps."""
    learned(project, (f"GOTCHA: {said}", f"NEXT: {said}"))
    found = bundle(project)
    assert (title, rest) in [(one["title"], one["cause"]) for one in found["gotchas"]]
    assert (title, rest) in [(one["title"], one["start"]) for one in found["nextSteps"]]


@pytest.mark.parametrize(
    ("step", "done"),
    [
        ("Add tests for the upload path", "Added tests for upload"),
        ("Add tests for the upload path", "Added tests for the upload path"),
        ("Add tests for the upload path: begin in shop", "add tests for the upload path: all green"),
        ("Update CHANGES.md", "Updating CHANGES.md"),
    ],
)
def test_done_closes_the_step_that_it_means(project: Place, step: str, done: str) -> None:
    """Other forms of the words close it, and the preview says so."""
    answer = learned(project, (f"NEXT: {step}", "NEXT: Add tests for the download path"), (f"DONE: {done}",))
    title = step.partition(": ")[0]
    assert answer["closed"] == [{"done": done, "step": title}]
    assert [one["title"] for one in bundle(project)["nextSteps"]][-1] == "Add tests for the download path"
    assert title not in [one["title"] for one in bundle(project)["nextSteps"]]


def test_done_that_means_no_single_step_closes_none(project: Place) -> None:
    """What could mean two steps, or none, is told and closes nothing."""
    steps = ("NEXT: Add tests for upload", "NEXT: Add tests for download")
    answer = learned(project, steps, ("DONE: Added tests", "DONE: Cleaned the house"))
    assert [one["step"] for one in answer["closed"]] == [None, None]
    assert len([one for one in bundle(project)["nextSteps"] if one["title"].startswith("Add tests")]) == 2


# -- sections, validations, what was archived -----------------------------------------------------------------------


def test_a_recall_of_one_section_leaves_the_rest(project: Place) -> None:
    """What it did not take in waits, and a later recall takes it."""
    session(project, "one", "GOTCHA: Lock: two writers block", "DECISION: Uploads go through nginx")
    assert project("state", "sync", "--all").code == 0
    first = project.json("state", "recall", "--section", "gotchas", "--yes")
    assert (first["outcome"], first["left"]) == ("applied", ["current-focus"])
    assert "Uploads go through nginx" not in bundle(project)["currentFocus"]["currentState"]
    assert project.json("state", "recall", "--section", "gotchas", "--yes")["outcome"] == "nothing"
    assert project.json("state", "recall", "--yes")["outcome"] == "applied"
    assert "Uploads go through nginx" in bundle(project)["currentFocus"]["currentState"]
    assert project.json("state", "status")["unrecalled"]["all"] == 0


def test_a_validation_that_passed_is_no_risk(project: Place) -> None:
    """It becomes the snapshot with its time; one that failed is a risk, until it passes."""
    learned(project, ("VALIDATION: uv run pytest: 2 failed",))
    assert bundle(project)["currentFocus"]["knownRisks"] == ["uv run pytest: 2 failed"]
    learned(project, ("x",), ("VALIDATION: uv run pytest: 92 passed, 0 failed",))
    focus = bundle(project)["currentFocus"]
    assert focus["knownRisks"] == []
    assert focus["validationSnapshot"] == {
        "status": "passed",
        "validatedAt": "2026-02-28T11:00:00.000Z",
        "summary": "uv run pytest: 92 passed, 0 failed",
        "results": [],
    }


def test_what_expired_does_not_come_back(project: Place) -> None:
    """A session whose event was archived and expired is not imported again."""
    learned(project, ("DECISION: Uploads go through nginx",))
    assert project("state", "prune", now="2026-07-01T09:00:00Z").code == 0
    assert project("state", "prune", now="2027-03-01T09:00:00Z").code == 0
    assert not list((project.work / ".agent-memory/archive").glob("prune-2026*"))
    answer = project.json("state", "sync", "--all", now="2027-03-01T10:00:00Z")
    assert answer["imported"] == 0
