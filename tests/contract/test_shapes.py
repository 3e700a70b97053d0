"""What programs read: the documented keys of each noun, absent values null and never missing."""

from __future__ import annotations

import json

import pytest

from tests.contract.place import Place
from tests.fixture_files import sample, sample_names

NOW = "2024-01-15T12:00:00Z"
FOLDER = ".aiter/memory/"
TASK = {
    "ref",
    "section",
    "priority",
    "title",
    "due",
    "recurring",
    "assigned",
    "created",
    "started",
    "completed",
    "progress",
    "tags",
    "cronJobId",
    "orchestrationId",
    "action",
    "notes",
    "outcome",
    "lastUpdate",
    "extra",
    "line",
}
JOURNAL = {"ref", "date", "time", "title", "lines", "line"}
CHANGE = {"id", "time", "actor", "operation", "file", "entry", "summary", "undoneBy"}


@pytest.fixture
def shop(place: Place) -> Place:
    """Return a place with the sample files."""
    for name in sample_names():
        place.write(FOLDER + name, sample(name))
    return place


@pytest.mark.parametrize("section", ["pending", "in-progress", "completed", "archived", "all"])
def test_tasks(shop: Place, section: str) -> None:
    """Every task has every key; `line` is that of its heading."""
    tasks = shop.json("tasks", "list", "--section", section, now=NOW)["tasks"]
    lines = sample("tasks.md").decode().splitlines()
    for task in tasks:
        assert set(task) >= TASK
        assert section in ("all", task["section"])
        assert task["priority"] in ("HIGH", "NORMAL", "LOW")
        assert isinstance(task["tags"], list)
        assert isinstance(task["extra"], dict)
        assert task["progress"] is None or 0 <= task["progress"] <= 100
        if task["section"] != "archived":
            assert task["title"] in lines[task["line"] - 1]
            assert shop.json("tasks", "show", task["ref"], now=NOW) == {"task": task}


@pytest.mark.parametrize(
    ("words", "key", "least"),
    [
        (("journal", "list"), "entries", JOURNAL),
        (("knowledge", "list"), "knowledge", {"ref", "section", "text", "line"}),
        (("contacts", "list"), "channels", {"ref", "name", "id", "type", "status"}),
        (("contacts", "list"), "routes", {"channel", "project", "prefix", "terminal"}),
        (("contacts", "list"), "people", {"ref", "name", "role", "text"}),
        (("orchestration", "list"), "plans", {"ref"}),
        (("monitors", "list"), "monitors", {"ref", "name", "type", "interval", "threshold", "state"}),
        (("search", "redis"), "results", {"file", "ref", "title", "snippet", "score"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_lists(shop: Place, words: tuple[str, ...], key: str, least: set[str]) -> None:
    """A list is one document with its key; with jsonl each item is one object a line."""
    items = shop.json(*words, now=NOW)[key]
    assert items
    assert all(set(item) >= least for item in items)
    if words[0] not in ("contacts", "search"):
        answer = shop(*words, "-o", "jsonl", now=NOW)
        assert [json.loads(line) for line in answer.out.splitlines()] == items


def test_changes(shop: Place) -> None:
    """A change names who did what to which file and entry, and whether it was undone."""
    assert shop("tasks", "add", "New", now=NOW).code == 0
    assert shop("undo", now=NOW).code == 0
    undo, add = shop.json("changes", "list", now=NOW)["changes"][:2]
    assert set(add) >= CHANGE
    assert (add["actor"], add["operation"], add["file"]) == ("cli", "tasks.add", "tasks.md")
    assert add["undoneBy"] == undo["id"]
    assert shop.json("changes", "show", add["id"], now=NOW)


def test_maintenance(shop: Place) -> None:
    """A run reports its four rules with their counts, which add up."""
    report = shop.json("--maintain", "--no-exec", now="2024-03-01T00:00:00Z")
    assert set(report) >= {"dry_run", "now", "rules", "monitors", "balanced", "warnings", "duration_ms"}
    assert [rule["rule"] for rule in report["rules"]] == [
        "archive-completed-tasks",
        "prune-old-journal",
        "cap-journal",
        "clear-completed-orchestration",
    ]
    for rule in report["rules"]:
        assert set(rule) >= {"rule", "file", "before", "kept", "archived", "cleared", "skipped", "moves"}
        assert rule["before"] == rule["kept"] + rule["archived"] + rule["cleared"]
        assert all(set(move) >= {"ref", "title", "to"} for move in rule["moves"])
    assert report["balanced"] is True


def test_init_makes_the_seven_files_and_overwrites_none(place: Place) -> None:
    """Files that are there keep their bytes; a second call makes nothing."""
    place.write(FOLDER + "tasks.md", b"## Pending\n\n### [HIGH] Mine\n")
    made = place.json("init")["created"]
    assert sorted([*made, "tasks.md"]) == sorted(
        ["tasks.md", "knowledge.md", "contacts.md", "journal.md", "orchestration.md", "monitors.md", "config.md"]
    )
    assert place.read(FOLDER + "tasks.md") == b"## Pending\n\n### [HIGH] Mine\n"
    assert (place.work / FOLDER / "archive").is_dir()
    assert place.json("init")["created"] == []


@pytest.mark.parametrize("how", ["ref", "hex", "title", "title in other case"])
def test_an_entry_is_named_by_ref_hex_or_part_of_its_title(shop: Place, how: str) -> None:
    """All three ways lead to the same task, which keeps its ref while it moves and changes."""
    (task,) = [one for one in shop.json("tasks", "list", now=NOW)["tasks"] if "Deploy" in one["title"]]
    name = {
        "ref": task["ref"],
        "hex": task["ref"].partition("#")[2],
        "title": "v2.1 to",
        "title in other case": "DEPLOY V2",
    }[how]
    assert shop.json("tasks", "show", name, now=NOW)["task"]["ref"] == task["ref"]
    assert shop("tasks", "start", name, now=NOW).code == 0
    assert shop("tasks", "edit", name, "--set", "notes=other", now=NOW).code == 0
    assert shop.json("tasks", "show", task["ref"], now=NOW)["task"]["section"] == "in-progress"


@pytest.mark.parametrize(
    ("filters", "titles"),
    [
        (("--priority", "high"), {"Deploy v2.1 to staging", "Monitor API latency"}),
        (("--assigned", "heartbeat"), {"Deploy v2.1 to staging", "Generate weekly report"}),
        (("--tag", "api"), {"Monitor API latency"}),
        (("--due", "overdue"), {"Generate weekly report"}),
        (("--match", "README"), {"Update README with new API docs"}),
        (("--section", "completed"), {"Set up CI pipeline"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_filters_of_tasks(shop: Place, filters: tuple[str, ...], titles: set[str]) -> None:
    """Each filter narrows the list of open tasks to those that fit."""
    assert {one["title"] for one in shop.json("tasks", "list", *filters, now=NOW)["tasks"]} == titles
