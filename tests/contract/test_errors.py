"""Errors: a stable code and exit code for each wrong call, one line for people, one object for programs."""

from __future__ import annotations

import shlex

import pytest

from tests.contract.place import Place
from tests.fixture_files import sample, sample_names

NOW = "2024-01-15T12:00:00Z"
FOLDER = ".aiter/memory/"

WRONG: tuple[tuple[str, str, int], ...] = (
    ("tasks show Nowhere", "task.not_found", 1),
    ("tasks show tasks#0000000", "task.not_found", 1),
    ("tasks show e", "task.ambiguous", 1),
    ("tasks add ''", "task.title", 2),
    ("tasks add", "usage.missing", 2),
    ("tasks add X --priority URGENT", "usage.value", 2),
    ("tasks add X --due someday", "time.invalid", 2),
    ("tasks add X --due 01/02/2024", "time.invalid", 2),
    ("tasks add X --recurring 'every blue moon'", "cron.invalid", 2),
    ("tasks add X --nothing", "usage.option", 2),
    ("tasks list --section nowhere", "usage.value", 2),
    ("tasks list --due whenever", "time.invalid", 2),
    ("tasks list --priority URGENT", "usage.value", 2),
    ("tasks edit Deploy --set due=whenever", "time.invalid", 2),
    ("tasks edit Deploy --set priority=URGENT", "task.priority", 2),
    ("tasks edit Deploy --set progress=300", "task.progress", 2),
    ("tasks edit Deploy --set nothing", "usage.pair", 2),
    ("tasks edit Deploy", "usage.nothing", 2),
    ("tasks edit Deploy --text '### X' --due today", "usage.arguments", 2),
    ("tasks edit Deploy --text ''", "document.structure", 2),
    ("tasks edit Nowhere --set notes=x", "task.not_found", 1),
    ("tasks progress Deploy 101", "usage.value", 2),
    ("tasks progress Deploy many", "usage.value", 2),
    ("tasks done pipeline", "task.completed", 4),
    ("tasks start Nowhere", "task.not_found", 1),
    ("tasks remove Nowhere", "task.not_found", 1),
    ("tasks nothing", "usage.verb", 2),
    ("journal show Nowhere", "journal.not_found", 1),
    ("journal list --limit many", "usage.value", 2),
    ("journal list --limit -1", "usage.value", 2),
    ("journal list --date whenever", "time.invalid", 2),
    ("journal list --since 2024-13-01", "time.invalid", 2),
    ("journal add ''", "journal.title", 2),
    ("journal add X --at never", "time.invalid", 2),
    ("journal edit Heartbeat --text '### X' --at ''", "usage.arguments", 2),
    ("journal edit Heartbeat --text ''", "document.structure", 2),
    ("journal remove Nowhere", "journal.not_found", 1),
    ("knowledge remove Nowhere", "knowledge.not_found", 1),
    ("contacts add person", "usage.missing", 2),
    ("contacts add robot X", "usage.value", 2),
    ("contacts remove Nowhere", "contact.not_found", 1),
    ("monitors add X --type nothing", "usage.value", 2),
    ("monitors add X --type http", "monitor.setting", 2),
    ("monitors edit Disk --text '### X' --unset url", "usage.arguments", 2),
    ("monitors remove Nowhere", "monitor.not_found", 1),
    ("orchestration edit plan-redis --text '### X' --set status=running", "usage.arguments", 2),
    ("orchestration edit plan-redis --text '### X' --task T2", "usage.arguments", 2),
    ("monitors check Nowhere", "monitor.not_found", 1),
    ("config get nothing", "config.not_found", 1),
    ("config set maxJournalEntries many", "config.value", 2),
    ("restore Nowhere", "archive.not_found", 1),
    ("search", "usage.missing", 2),
    ("search redis --in nowhere", "usage.value", 2),
    ("changes show NOTHING", "change.not_found", 1),
    ("changes revert NOTHING", "change.not_found", 1),
    ("undo", "change.none", 1),
    ("redo", "change.none", 1),
    ("check nothere.md", "file.not_found", 2),
    ("trust approve nothing", "trust.terminal", 3),
    ("review show nothing", "review.not_found", 1),
    ("prompt --budget nothing", "usage.value", 2),
    ("convert nowhere files", "convert.source", 2),
    ("nothing", "usage.verb", 2),
    ("--maintain --nothing", "usage.option", 2),
    ("merge a b c", "file.not_found", 2),
    ("typed status --nothing", "usage.option", 2),
    ("curated show Nowhere", "memory.not_found", 1),
    ("connect nothing", "connect.unknown_client", 2),
    ("fleet nothing", "usage.verb", 2),
    ("-w /nowhere tasks list", "workspace.no_folder", 2),
    ("tasks list --now yesterdayish", "usage.now", 2),
    ("tasks list -o xml", "usage.value", 2),
)
"""Wrong calls on the sample, with the code of the error and the exit code."""


@pytest.fixture
def shop(place: Place) -> Place:
    """Return a place with the sample files."""
    for name in sample_names():
        place.write(FOLDER + name, sample(name))
    return place


@pytest.mark.parametrize(("line", "code", "end"), WRONG, ids=[line for line, *_ in WRONG])
def test_a_wrong_call_is_told_and_changes_nothing(shop: Place, line: str, code: str, end: int) -> None:
    """People get one line on stderr and nothing on stdout; programs one object with code, message and details."""
    before = {path: path.read_bytes() for path in shop.work.rglob("*.md")}
    words = shlex.split(line)
    told = shop(*words, now=NOW)
    assert (told.code, told.error, told.out) == (end, code, ""), told
    said, *candidates = told.err.splitlines()
    assert not candidates or code.endswith(".ambiguous")
    assert said.startswith(f"memdeck: {code}: ")
    if "xml" not in words:
        answer = shop(*words, "-o", "json", now=NOW)
        assert (answer.code, answer.error) == (end, code), answer
        error = answer.data["error"]
        assert set(error) == {"code", "message", "details"}
        assert candidates or error["message"] in said
    assert {path: path.read_bytes() for path in shop.work.rglob("*.md")} == before


@pytest.mark.parametrize("noun", ["tasks", "journal", "knowledge", "contacts", "monitors", "config", "changes"])
def test_help_needs_no_workspace(place: Place, noun: str) -> None:
    """`--help` of a noun names its verbs, anywhere."""
    answer = place(noun, "--help", now=None)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith(f"Usage: memdeck {noun} ")


@pytest.mark.parametrize("line", ["tasks list", "status", "journal list", "check", "--maintain", "search x", "undo"])
def test_without_a_workspace_a_verb_says_so(place: Place, line: str) -> None:
    """A folder without memory is an error of the call, and nothing is made there."""
    answer = place(*shlex.split(line))
    assert (answer.code, answer.error) == (2, "workspace.not_found"), answer
    assert list(place.work.iterdir()) == []
