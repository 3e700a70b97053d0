"""What agents write is read, or told: each habit of writing is understood or named by `check`, and no byte changes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.contract.place import Place

TASKS = ".aiter/memory/tasks.md"
FIELD = "## Pending\n\n### [HIGH] Fix the login\n{}\n"


def found(place: Place, file: str) -> list[dict[str, Any]]:
    """Return what `check` says about the lines of a file: those read in another form, and those that nothing reads."""
    problems = place("check", "-o", "json").data["problems"]
    return [one for one in problems if one["file"] == file and one["code"].startswith(("line.", "document.", "task."))]


def written(place: Place, name: str, text: str) -> bytes:
    """Write a memory file as an agent does, and return its bytes."""
    place.write(f".aiter/memory/{name}", text)
    return place.read(f".aiter/memory/{name}")


DUE = [
    *("- **due:** {}", "- **due**: {}", "- **Due:** {}", "* due: {}", "+ due: {}", "1. due: {}", "2) due: {}"),
    *("- [ ] due: {}", "- [x] due: {}", "-\tdue: {}", "-\u00a0due: {}", "-\u3000due: {}", "- due\uff1a{}", "- Due: {}"),
    *("- DUE: {}", "- due date: {}", "- Due Date: {}", "- dueDate: {}", "- due_date: {}", "- due-date: {}"),
    *("- deadline: {}", "- **Deadline**: {}", "- Due by: {}", "- `due`: {}", "- *due*: {}", "- _due_: {}", "due: {}"),
    *("Due: {}", "**Due:** {}", "Deadline: {}", "- due:{}", "- due = {}", "-due: {}", "  - due: {}", "\u2022 due: {}"),
    *("\u2013 due: {}", "- due : {}", "- due:: {}", "- ***due***: {}", "- due:   {}", "- __due__: {}", "* **Due**: {}"),
]


def entries_of(lines: list[str]) -> str:
    """Return a file of tasks, one for each line that is a field of it."""
    return "## Pending\n" + "".join(f"\n### [HIGH] Task {number}\n{line}\n" for number, line in enumerate(lines))


def test_a_field_in_any_dress_is_read(workspace: Place) -> None:
    """A due date in another dress is that of the task in lists and status; `--fix` writes it plainly, once."""
    plain = "- due:   2026-02-01"
    lines = [form.format("2026-02-01") for form in DUE]
    before = written(workspace, "tasks.md", entries_of(lines))
    tasks = workspace.json("tasks", "list", "--due", "overdue")["tasks"]
    assert [(one["title"], one["due"]) for one in tasks] == [
        (f"Task {number}", "2026-02-01") for number in range(len(lines))
    ]
    assert len(workspace.json("status")["overdue"]) > 0
    places = [4 + 3 * number for number, line in enumerate(lines) if line != plain]
    notes = [one for one in found(workspace, "tasks.md") if one["code"].startswith("line.")]
    assert [(one["line"], one["level"]) for one in notes] == [(place, "note") for place in places]
    workspace.json("check", "--fix", "--dry-run")
    assert workspace.read(TASKS) == before
    workspace.json("check", "--fix")
    fixed = [line if line == plain else "- due: 2026-02-01" for line in lines]
    assert workspace.read(TASKS) == entries_of(fixed).encode()
    assert workspace.json("check", "--fix") == {"fixed": []}
    assert workspace.json("tasks", "list", "--due", "overdue")["tasks"] == tasks
    assert workspace("undo").code == 0
    assert workspace.read(TASKS) == before


OTHERS = [
    *(("- Assignee: bob", "assigned", "bob"), ("- **Owner:** bob", "assigned", "bob")),
    *(
        ("- assigned_to: bob", "assigned", "bob"),
        ("- Labels: a, b", "tags", ["a", "b"]),
        ("- tags: #a #b", "tags", ["a", "b"]),
    ),
    *(
        ("- Progress: 40%", "progress", 40),
        ("* notes: more", "notes", "more"),
        ("- Created at: 2026-01-02", "created", "2026-01-02"),
    ),
    *(("- Last Update: half done", "lastUpdate", "half done"), ("- cron_job_id: c1", "cronJobId", "c1")),
    *(("- Fällig am: 2026-02-01", "due", "2026-02-01"), ("- Zuständig: Anna", "assigned", "Anna")),
    *(("- 期限：2026-02-01", "due", "2026-02-01"), ("・assigned：佐藤", "assigned", "佐藤")),
    *(("\u200f- due: 2026-02-01", "due", "2026-02-01"), ("- \u200fassigned: דנה", "assigned", "דנה")),
]


def test_other_fields_have_their_usual_names(workspace: Place) -> None:
    """The usual other words for a field are that field."""
    written(workspace, "tasks.md", entries_of([line for line, _, _ in OTHERS]))
    tasks = workspace.json("tasks", "list")["tasks"]
    assert [one[key] for one, (_, key, _) in zip(tasks, OTHERS, strict=True)] == [value for _, _, value in OTHERS]


TOLD_FIELDS = [
    *(
        "- due 2026-02-01",
        "| due | 2026-02-01 |",
        "> - due: 2026-02-01",
        '- "due": "2026-02-01"',
        "```\n- due: 2026-02-01\n```",
    ),
    *(
        "- **Due:** 2026-02-01 | **Assignee:** bob",
        "- notes: a\n  - due: 2026-02-01",
        "- due: 2026-02-01\n- deadline: 2026-03-01",
    ),
    *("Fix it @due(2026-02-01)", "\U0001f4c5 2026-02-01", "- status: done", "- priority: low", "#### [HIGH] Another"),
    *(
        "#### Part\n- due: 2026-02-01",
        "- Due Date - 2026-02-01",
        "- [due:: 2026-02-01]",
        "due \u2192 2026-02-01",
        "Due by Friday: 2026-02-01",
        "- due: 01/02/2026",
        "- due: tomorrow",
        "- due: 2026-02-30",
        "- progress: 1,5",
        " ### [LOW] Indented",
        "- due: Feb 1",
    ),
]


@pytest.mark.thorough(one_of=3)
@pytest.mark.parametrize("text", TOLD_FIELDS)
def test_what_could_mean_two_things_is_told(workspace: Place, text: str) -> None:
    """A line that nothing reads, or that contradicts another, is a problem with its line, counted in status."""
    before = written(workspace, "tasks.md", FIELD.format(text))
    told = [one for one in found(workspace, "tasks.md") if one["level"] != "note"]
    assert told
    assert all(one["line"] >= 4 for one in told)
    assert [one["line"] for one in workspace.json("status")["problems"] if one["file"] == "tasks.md"]
    assert workspace.json("check", "--fix") == {"fixed": []}
    assert workspace.read(TASKS) == before


HEADINGS = [
    *(
        "**HIGH** Fix",
        "(high) Fix",
        "P1 Fix",
        "P1: Fix",
        "!high Fix",
        "Fix [HIGH]",
        "Fix (high)",
        "Fix P1",
        "Fix !high",
    ),
    *(
        "HIGH: Fix",
        "**[HIGH]** Fix",
        "[URGENT] Fix",
        "[high] Fix",
        "Fix **HIGH**",
        "[ ] [HIGH] Fix",
        "[P0] Fix",
        "High - Fix",
    ),
]


def test_a_priority_in_any_dress_is_read(workspace: Place) -> None:
    """A priority in front of or behind the title is that of the task."""
    entry = "\n### {}\n- due: 2026-02-01\n"
    before = written(workspace, "tasks.md", "## Pending\n" + "".join(map(entry.format, HEADINGS)))
    tasks = workspace.json("tasks", "list")["tasks"]
    assert [(one["priority"], one["title"]) for one in tasks] == [("HIGH", "Fix")] * len(HEADINGS)
    assert workspace.read(TASKS) == before
    workspace.json("check", "--fix")
    fixed = [one if one == "[high] Fix" else "[HIGH] Fix" for one in HEADINGS]
    assert workspace.read(TASKS).decode() == "## Pending\n" + "".join(map(entry.format, fixed))


SECTIONS = [
    *(("\U0001f4cb Pending", "pending"), ("Todo", "pending"), ("TODO:", "pending"), ("To Do", "pending")),
    *(("**Pending**", "pending"), ("Pending Tasks", "pending"), ("Backlog", "pending"), ("Doing", "in-progress")),
    *(("In progress", "in-progress"), ("\U0001f6a7 In Progress", "in-progress"), ("WIP", "in-progress")),
    *(("Done", "completed"), ("\u2705 Completed (last 7 days)", "completed"), ("Finished", "completed")),
]


def test_a_section_in_any_dress_is_read(workspace: Place) -> None:
    """Sections have their known names in any dress, also once they are written plainly."""
    text = "".join(f"## {title}\n\n### [LOW] {title}\n- created: 2026-01-01\n\n" for title, _ in SECTIONS)
    before = written(workspace, "tasks.md", text)
    for fixed in (False, True):
        tasks = workspace.json("tasks", "list", "--section", "all")["tasks"]
        assert {one["title"]: one["section"] for one in tasks} == dict(SECTIONS)
        assert (workspace.read(TASKS) != before) == fixed
        workspace("check", "--fix")
    assert "line.read_as" not in [one["code"] for one in found(workspace, "tasks.md")]


def test_a_checklist_is_tasks(workspace: Place) -> None:
    """Items with a box under a section of tasks are tasks; an edit of one makes it an entry, and leaves the others."""
    text = "## Pending\n\n- [ ] Buy milk !high\n  - due: 2026-02-01\n- [ ] Call Bob\n\n### [LOW] Plain\n"
    before = written(workspace, "tasks.md", text)
    tasks = workspace.json("tasks", "list")["tasks"]
    assert [(one["title"], one["priority"], one["due"], one["line"]) for one in tasks] == [
        ("Buy milk", "HIGH", "2026-02-01", 3),
        ("Call Bob", None, None, 5),
        ("Plain", "LOW", None, 7),
    ]
    assert workspace.json("search", "milk")["results"][0]["ref"] == tasks[0]["ref"]
    assert workspace.read(TASKS) == before
    workspace.json("tasks", "edit", tasks[2]["ref"], "--set", "assigned=bob")
    assert workspace.read(TASKS) == before + b"- assigned: bob\n"
    workspace.json("tasks", "start", tasks[0]["ref"])
    after = workspace.json("tasks", "list")["tasks"]
    assert [(one["ref"], one["section"]) for one in after] == [
        (tasks[1]["ref"], "pending"),
        (tasks[2]["ref"], "pending"),
        (tasks[0]["ref"], "in-progress"),
    ]
    assert b"\n- [ ] Call Bob\n" in workspace.read(TASKS)
    workspace("undo")
    assert workspace.read(TASKS) == before + b"- assigned: bob\n"


def test_a_checklist_under_any_heading_is_tasks(workspace: Place) -> None:
    """Items under a heading of one's own are tasks of it, told once; a checked one is completed and stays so."""
    text = "# Plan\n\n## 1. Setup\n\n- [x] 1.1 Make the folder\n- [ ] 1.2 Add tests\n  - for `a`\n- [ ] 1.3 Ship\n"
    before = written(workspace, "tasks.md", text)
    tasks = sorted(workspace.json("tasks", "list", "--section", "all")["tasks"], key=lambda task: task["line"])
    assert [(one["title"], one["section"], one["extra"], one["line"]) for one in tasks] == [
        ("1.1 Make the folder", "completed", {"heading": "1. Setup"}, 5),
        ("1.2 Add tests", "pending", {"heading": "1. Setup"}, 6),
        ("1.3 Ship", "pending", {"heading": "1. Setup"}, 8),
    ]
    told = [(one["code"], one["line"], one["level"]) for one in found(workspace, "tasks.md")]
    assert [one for one in told if one[2] != "note" or "section" in one[0]] == [("task.unknown_section", 5, "note")]
    assert workspace.json("check", "--fix") == {"fixed": []}
    workspace.json("tasks", "edit", tasks[0]["ref"], "--set", "outcome=made")
    after = workspace.json("tasks", "list", "--section", "completed")["tasks"]
    assert [(one["ref"], one["outcome"]) for one in after] == [(tasks[0]["ref"], "made")]
    workspace.json("tasks", "reopen", tasks[0]["ref"])
    assert len(workspace.json("tasks", "list")["tasks"]) == 3
    workspace("undo")
    workspace("undo")
    assert workspace.read(TASKS) == before
    workspace.json("tasks", "done", tasks[1]["ref"])
    assert workspace.read(TASKS).startswith(b"# Plan\n\n## 1. Setup\n\n- [x] 1.1 Make the folder\n- [ ] 1.3 Ship\n")
    assert b"\n\n### 1.2 Add tests\n- completed: " in workspace.read(TASKS)


@pytest.mark.parametrize(
    "lines",
    [
        "- due: 2026-02-01\n- **Due:** 2026-02-09\n",
        "- Deadline: 2026-02-09\n- due: 2026-02-01\n",
        "- due: 2026-02-01\n- due: 2026-02-09\n",
    ],
)
def test_an_edit_leaves_one_of_two_lines_that_say_the_same_key(workspace: Place, lines: str) -> None:
    """The plain field counts and the other line is told; a change of that key leaves one of them, its removal none."""
    written(workspace, "tasks.md", FIELD.format(f"{lines}- notes: why"))
    assert workspace.json("tasks", "show", "Fix the login")["task"]["due"] == "2026-02-01"
    assert [one for one in workspace("check", "-o", "json").data["problems"] if one["level"] == "warning"]
    workspace.json("tasks", "edit", "Fix the login", "--set", "due=2026-03-01")
    assert workspace.read(TASKS) == FIELD.format("- due: 2026-03-01\n- notes: why").encode()
    workspace("undo")
    workspace.json("tasks", "edit", "Fix the login", "--unset", "due")
    assert workspace.read(TASKS) == FIELD.format("- notes: why").encode()


PLACES = [
    *("## Pending\n\n- Buy milk\n", "## Pending\n\n1. Buy milk\n", "## Pending\n\nBuy milk\n"),
    *("# Pending\n\n## [HIGH] Buy milk\n", "## Pending\n\n- [x] Buy milk\n"),
    *(
        "## Notes\n\n- due: 2026-01-01\n",
        "```markdown\n## Pending\n### Buy milk\n```\n",
    ),
    *("## Pending\n\n| Task | Due |\n|---|---|\n| Buy milk | x |\n", "## Pending\n\n**Buy milk**\n", "###Buy milk\n"),
    *(
        "## Someday\n\n### Buy milk\n",
        "## Completed\n\n- [ ] Buy milk\n",
        "## Pending\n\n### Buy milk (due 2026-01-01)\n",
        "## Pending\n\n### [LOW] Buy milk (completed: 2026-01-01)\n",
        "## Pending\n\n- [ ] Buy milk due:2026-01-01\n",
        "## Pending\n\nNone yet.\n- \u2705 Bought milk\n",
        "## Pending\n\n** TODO Buy milk\n   DEADLINE: <2026-01-01 Thu>\n",
        "## Pending\n\n**1. Buy milk** (Priority: High)\n   - Deadline: 2026-01-01\n",
        '## Pending\n\n```json\n[{"title": "Buy milk"}]\n```\n',
        "# List\n\n- [ ] Buy bread\n- Buy milk\n",
        "## Pending\n\n### [LOW] Buy milk (due tomorrow)\n",
    ),
]


@pytest.mark.thorough(one_of=3)
@pytest.mark.parametrize("text", PLACES)
def test_a_task_in_an_odd_place_is_told(workspace: Place, text: str) -> None:
    """What looks like a task but is none, or is no task of that section, is a warning with its line."""
    before = written(workspace, "tasks.md", text)
    assert [one["line"] for one in found(workspace, "tasks.md") if one["level"] != "note"]
    workspace("check", "--fix")
    workspace("undo")
    assert workspace.read(TASKS) == before


ELSEWHERE = [
    ("tasks.md", "## Someday\n\n- Buy milk\n", "note line.unread"),
    ("tasks.md", "---\ntasks:\n  - title: Buy milk\n---\n\n## Pending\n", "warning front.unread"),
    ("journal.md", "## Yesterday\n\nBought milk\n", "note line.unread"),
    ("journal.md", "## 2026-01-10\n\n```\n10:00 bought milk\n```\n", "warning line.unread"),
    ("knowledge.md", "## Facts\n\n- a\nMilk is white\n", "warning line.unread"),
    ("knowledge.md", "## Decisions Made\n\n- [2026-01-10] Buy milk\n", "note line.read_as"),
    ("knowledge.md", "## Decisions Made\n\n- **2026-01-10**: Buy milk\n", "note line.read_as"),
    ("orchestration.md", "## Active Plans\n\n- Buy milk\n", "warning line.unread"),
    ("orchestration.md", "## Active Plans\n\n### P\n\n1. Buy milk\n", "warning line.unread"),
    ("orchestration.md", "## Active Plans\n\n### P\n| Step | Task |\n|--|--|\n| 1 | milk |\n", "warning line.unread"),
    ("monitors.md", "## Monitors\n\n| Name | URL |\n|--|--|\n| Milk | x |\n", "warning line.unread"),
    ("monitors.md", "## Monitors\n\n### Milk\n- name: Milk\n  command: df\n", "error line.unread"),
    ("config.md", "## Memory Maintenance\n\n- prune journal after: 60\n", "error config.malformed"),
]


@pytest.mark.parametrize(("file", "text", "said"), ELSEWHERE)
def test_what_another_file_does_not_read_is_told_and_found(workspace: Place, file: str, text: str, said: str) -> None:
    """No file has a line that is silently passed over: `check` names it, and what is read by nothing is searched."""
    before = written(workspace, file, text)
    problems = workspace("check", "-o", "json").data["problems"]
    assert said in {f"{one['level']} {one['code']}" for one in problems if one["file"] == file}
    if said.endswith("line.unread") and "milk" in text.lower():
        assert workspace.json("search", "milk")["results"]
    workspace("check", "--fix")
    workspace("undo")
    assert workspace.read(f".aiter/memory/{file}") == before


QUIET = [
    *(
        "## Pending\n\nNone\n",
        "## Pending\n\n_No pending tasks._\n",
        "## Pending\n\n- (none)\n",
        "# Tasks\n\nWhat is to be done.\n",
    ),
    *(
        "## Pending\n\nTasks that wait to be started.\n\n---\n",
        "## Pending\n\n<!-- add tasks here -->\n",
        "## Notes\n\nAnything.\n",
    ),
    *("## Pending\n\n### [LOW] A\n- created: 2026-01-01\n\nSome text about it.\n\n- [ ] a step\n- another\n",),
]


@pytest.mark.thorough(one_of=3)
@pytest.mark.parametrize("text", QUIET)
def test_prose_is_no_false_alarm(workspace: Place, text: str) -> None:
    """Sentences, placeholders, comments and the steps in a task are nothing to tell."""
    written(workspace, "tasks.md", text)
    assert [one for one in found(workspace, "tasks.md") if one["code"].startswith("line.")] == []


def test_maintenance_moves_nothing_on_a_note(workspace: Place) -> None:
    """A section or a date that is read in another form archives nothing until it is written plainly."""
    text = (
        "## Done\n\n### [LOW] A\n- completed: 2025-01-01\n\n## Completed\n\n### [LOW] B\n- **Completed:** 2025-01-01\n"
    )
    before = written(workspace, "tasks.md", text)
    report = workspace("--maintain", "--no-exec", "-o", "json").data
    assert [one["archived"] for one in report["rules"] if one["rule"] == "archive-completed-tasks"] == [0]
    assert workspace.read(TASKS) == before
    workspace.json("check", "--fix")
    report = workspace("--maintain", "--no-exec", "-o", "json").data
    assert [one["archived"] for one in report["rules"] if one["rule"] == "archive-completed-tasks"] == [2]


def test_words_are_compared_in_one_form(workspace: Place) -> None:
    """Titles, people and tags are found however their letters are composed."""
    composed, apart = "Caf\u00e9", "Cafe\u0301"
    written(workspace, "tasks.md", f"## Pending\n\n### [LOW] {apart} bill\n- assigned: {apart}\n- tags: {apart}\n")
    assert workspace.json("tasks", "show", f"{composed} b")["task"]["title"] == f"{apart} bill"
    for option in ("--assigned", "--tag", "--match"):
        assert len(workspace.json("tasks", "list", option, composed)["tasks"]) == 1, option
    workspace.json("facts", "store", f"The {apart} opens at 8", "--tag", apart)
    for words in (("search", composed.upper()), ("search", "--tag", composed), ("list", "--tag", composed)):
        assert workspace.json("facts", *words)["count"] == 1, words
    assert workspace.json("facts", "inject", f"When does the {composed} open?")["words"] == ["café", "does", "open"]
    filters = [{"match": composed}, {"tag": composed}]
    for answer in workspace.mcp(*(("read", {"kind": "facts", "filter": one}) for one in filters)):
        assert len(answer["entries"]) == 1


SETTINGS = [
    *("| archiveCompletedAfterDays | 365 |", "- Archive completed after days: 365", '"archiveCompletedAfterDays": 365'),
    *("1. archiveCompletedAfterDays: 365", "> archiveCompletedAfterDays: 365", "**archiveCompletedAfterDays**: 365"),
    *(
        "- **archiveCompletedAfterDays:** 365",
        "archiveCompletedAfterDays = 365",
        "- archiveCompletedAfterDays\uff1a365",
    ),
    *("- archiveCompletedAfterDays:365", "-\tarchiveCompletedAfterDays: 365", "-\u00a0archiveCompletedAfterDays: 365"),
    *("- archive_completed_after_days: 365", "- archive-completed-after-days: 365", "- ARCHIVECOMPLETEDAFTERDAYS: 365"),
    *(
        "  - archiveCompletedAfterDays: 365",
        "- [ ] archiveCompletedAfterDays: 365",
        "- archiveCompletedAfterDays -> 365",
    ),
    *("archiveCompletedAfterDays: 365", "* archiveCompletedAfterDays: 365", "- `archiveCompletedAfterDays`: 365"),
    *("- archiveCompletedAfterDays 365", "- archiveCompletedAfterDays: 1,5", "- archiveCompletedAfterDays: a year"),
]


@pytest.mark.thorough(one_of=3)
@pytest.mark.parametrize("line", SETTINGS)
def test_a_setting_that_is_none_stops_maintenance(workspace: Place, line: str) -> None:
    """What looks like a setting of maintenance and is none is an error with its line, and no run guesses."""
    written(workspace, "config.md", f"## Memory Maintenance\n\n{line}\n")
    answer = workspace("--maintain", "--no-exec", "-o", "json")
    assert (answer.code, answer.data["error"]["details"]["line"]) == (2, 3)
    errors = workspace("check", "-o", "json").data["problems"]
    assert [one["line"] for one in errors if one["level"] == "error" and one["file"] == "config.md"] == [3]


MONITOR = "## Monitors\n\n### Disk\n- type: command\n- command: df\n- interval: 0 * * * *\n{}\n"
MONITOR_FIELDS = [
    *("- **Threshold:** value > 90", "* threshold: value > 90", "threshold: value > 90", "| threshold | value > 90 |"),
    *(
        "- Threshold: value > 90",
        "- [ ] threshold: value > 90",
        "- threshold = value > 90",
        "> - threshold: value > 90",
        "- expect: 90",
    ),
]


@pytest.mark.thorough(one_of=3)
@pytest.mark.parametrize("line", MONITOR_FIELDS)
def test_a_field_of_a_monitor_is_never_guessed(workspace: Place, line: str) -> None:
    """A field in another dress makes its monitor an error, and it does not run."""
    before = written(workspace, "monitors.md", MONITOR.format(line))
    errors = [one for one in workspace("check", "-o", "json").data["problems"] if one["level"] == "error"]
    assert [(one["file"], one["line"], one["code"]) for one in errors] == [("monitors.md", 7, "line.unread")]
    asked = workspace.json("trust", "list")["trust"]
    assert ["not read" in json.dumps(one) for one in asked if one["name"] == "Disk"] == [True]
    workspace("check", "--fix")
    assert workspace.read(".aiter/memory/monitors.md") == before


def test_a_second_condition_is_an_error_of_its_monitor(workspace: Place) -> None:
    """What an answer must hold is in the threshold alone: a check that leaves a line out is not healthy."""
    written(workspace, "monitors.md", MONITOR.format("- threshold: value > 90\n- expect: ok"))
    [error] = [one for one in workspace("check", "-o", "json").data["problems"] if one["level"] == "error"]
    assert (error["line"], error["code"]) == (8, "line.unclear")
    assert workspace.json("monitors", "list")["monitors"][0]["state"] == "error"


PLAN_FIELDS = [
    *(("- **planId:** orch-aaaaaa", "planId", "orch-aaaaaa"), ("* status: running", "status", "running")),
    *(("- Plan ID: orch-aaaaaa", "planId", "orch-aaaaaa"), ("- Current phase: 2", "currentPhase", "2")),
    *(("Status: running", "status", "running"), ("- **Created**: 2026-01-02", "created", "2026-01-02")),
]


@pytest.mark.thorough(one_of=3)
@pytest.mark.parametrize(("line", "key", "value"), PLAN_FIELDS)
def test_a_field_of_a_plan_is_read(workspace: Place, line: str, key: str, value: str) -> None:
    """The fields of a plan are read in any dress, noted, and written plainly by one change."""
    before = written(workspace, "orchestration.md", f"## Active Plans\n\n### Rebuild\n{line}\n")
    assert workspace.json("orchestration", "list")["plans"][0][key] == value
    assert [one["line"] for one in found(workspace, "orchestration.md")] == [4]
    workspace.json("check", "--fix")
    assert (
        workspace.read(".aiter/memory/orchestration.md").decode()
        == f"## Active Plans\n\n### Rebuild\n- {key}: {value}\n"
    )
    workspace("undo")
    assert workspace.read(".aiter/memory/orchestration.md") == before


JOURNAL = "## 2026-01-15\n\n### 10:30 \u2014 Deploy\n- done\n"
TIMES = [
    *(
        "4:30 PM \u2014 Deploy",
        "[16:30] \u2014 Deploy",
        "**16:30** \u2014 Deploy",
        "16h30 \u2014 Deploy",
        "\u23f0 16:30 \u2014 Deploy",
    ),
    *("16:30 Deploy", "16:30: Deploy", "16:30 | Deploy", "4:30pm - Deploy", "16:30 - Deploy", "16:30 \u2013 Deploy"),
]


@pytest.mark.thorough(one_of=3)
@pytest.mark.parametrize("heading", TIMES)
def test_a_time_in_any_form_is_read(workspace: Place, heading: str) -> None:
    """The time of a journal entry is read as people and models write it, and written plainly by one change."""
    before = written(workspace, "journal.md", f"## 2026-01-15\n\n### {heading}\n- done\n")
    entry = workspace.json("journal", "list")["entries"][0]
    assert (entry["date"], entry["time"], entry["title"]) == ("2026-01-15", "16:30", "Deploy")
    assert workspace.read(".aiter/memory/journal.md") == before
    workspace.json("check", "--fix")
    assert workspace.json("journal", "list")["entries"][0] == entry
    assert workspace.json("check", "--fix") == {"fixed": []}


DAYS = [
    *("2026-01-15 (Thursday)", "Thursday, 2026-01-15", "\U0001f4c5 2026-01-15", "**2026-01-15**", "[2026-01-15]"),
    *("2026/01/15", "2026.01.15", "January 15, 2026", "15 January 2026", "Jan 15th, 2026", "2026-01-15 Thursday"),
]


@pytest.mark.parametrize("title", DAYS)
def test_a_day_in_any_form_is_read(workspace: Place, title: str) -> None:
    """The day of journal entries is read in the usual forms; maintenance prunes by the plain one only."""
    before = written(workspace, "journal.md", f"## {title}\n\n### 16:30 \u2014 Deploy\n- done\n")
    entry = workspace.json("journal", "list")["entries"][0]
    assert (entry["date"], entry["time"]) == ("2026-01-15", "16:30")
    assert [one for one in found(workspace, "journal.md") if one["level"] != "note"] == []
    assert workspace.json("search", "deploy")["results"][0]["ref"] == entry["ref"]
    if not title.startswith("2026-01-15"):
        workspace("--maintain", "--no-exec")
        assert workspace.read(".aiter/memory/journal.md") == before
        workspace.json("check", "--fix")
        assert workspace.read(".aiter/memory/journal.md").startswith(b"## 2026-01-15\n\n### 16:30")
    assert workspace.json("journal", "list")["entries"][0]["ref"] == entry["ref"]


LISTS = [
    (
        "## 2026-01-15\n\n- 10:30 \u2014 Deploy\n  - went well\n- Slept\n",
        [("10:30", "Deploy", ["went well"]), (None, "Slept", [])],
    ),
    ("## 2026-01-15\n\n* **10:30** Deploy\n", [("10:30", "Deploy", [])]),
    ("## 2026-01-15\n\n1. 10:30: Deploy\n", [("10:30", "Deploy", [])]),
    ("## 2026-01-15\n\n#### 10:30 \u2014 Deploy\n- a\n", [("10:30", "Deploy", ["a"])]),
    ("## 2026-01-15T10:30 \u2014 Deploy\n- a\n", [("10:30", "Deploy", ["a"])]),
    ("## 2026-01-15 10:30:15 - Deploy\n\n- a\n- b\n", [("10:30:15", "Deploy", ["a", "b"])]),
]


@pytest.mark.parametrize(("text", "entries"), LISTS)
def test_a_list_below_a_day_is_entries(
    workspace: Place, text: str, entries: list[tuple[object, str, list[str]]]
) -> None:
    """Bullets and deeper headings below a day are entries; an edit of one writes those of its day plainly."""
    before = written(workspace, "journal.md", text)
    listed = workspace.json("journal", "list")["entries"]
    assert [(one["time"], one["title"], one["lines"]) for one in listed] == entries
    assert workspace.read(".aiter/memory/journal.md") == before
    workspace.json("journal", "edit", listed[0]["ref"], "--line", "changed")
    after = workspace.json("journal", "list")["entries"]
    assert [one["ref"] for one in after] == [one["ref"] for one in listed]
    assert after[0]["lines"] == ["changed"]
    workspace("undo")
    assert workspace.read(".aiter/memory/journal.md") == before


ODD_DAYS = [
    *("## 2026-01-15\n\nWe deployed it.\n", "## 15/01/2026\n\n- did it\n", "## 01/02/2026\n\n### 10:30 \u2014 x\n"),
    *(
        "## 2026-01-15T10:30:00Z \u2014 x\n- a\n",
        "## 2026-13-45\n\n### 10:30 \u2014 x\n",
        "## Today\n\n### 10:30 \u2014 x\n",
    ),
    *("## 2026-01-15\n\n### 25:10 \u2014 x\n", "##2026-01-15\n", "## 2026-01-15\n\n### 10:30 UTC \u2014 x\n"),
    *("# Journal\n\n**2026-01-15**\n", "# Journal\n\n- 2026-01-15 10:30 deployed\n", "2026-01-15: deployed\n"),
    *("# Journal\n\n### 2026-01-15 10:30 - Deployed\n", "## 2026-01-15\n\n### 2026-01-15T10:30:00Z x\n"),
]


@pytest.mark.parametrize("text", ODD_DAYS)
def test_a_day_that_could_mean_two_is_told(workspace: Place, text: str) -> None:
    """Text below a day, a day or time that is unclear, and an instant in another zone are told with their line."""
    before = written(workspace, "journal.md", text)
    told = [one for one in workspace("check", "-o", "json").data["problems"] if one["file"] == "journal.md"]
    assert [one for one in told if one["level"] != "note"]
    workspace("check", "--fix")
    assert workspace.read(".aiter/memory/journal.md") == before


ITEMS = ["2) {}", "\u2022 {}", "- [x] {}", "* {}"]


@pytest.mark.parametrize("form", ITEMS)
def test_a_list_of_any_form_is_knowledge_and_people(workspace: Place, form: str) -> None:
    """Numbered and other lists are read as facts and as people; an edit changes the item alone."""
    fact = written(workspace, "knowledge.md", f"## Technical Facts\n\n{form.format('Redis is slow')}\n")
    person = written(workspace, "contacts.md", f"## People\n\n{form.format('**Bob** (SRE): on call')}\n")
    known = workspace.json("knowledge", "list")["knowledge"][0]
    bob = workspace.json("contacts", "list")["people"][0]
    assert (known["text"], bob["name"], bob["role"]) == ("Redis is slow", "Bob", "SRE")
    assert workspace.json("search", "redis")["results"][0]["ref"] == known["ref"]
    noted = 0 if form[0] in ("*", "+") else 1
    for name, before in (("knowledge.md", fact), ("contacts.md", person)):
        assert len([one for one in found(workspace, name) if one["code"] == "line.read_as"]) == noted
        assert workspace.read(f".aiter/memory/{name}") == before
    workspace.json("knowledge", "edit", known["ref"], "Redis is fast")
    assert workspace.json("knowledge", "list")["knowledge"][0]["text"] == "Redis is fast"
    workspace("undo")
    workspace.json("check", "--fix")
    assert not [one for one in found(workspace, "knowledge.md") if one["code"] == "line.read_as"]
    assert workspace.json("contacts", "list")["people"][0]["ref"] == bob["ref"]
    assert workspace.json("knowledge", "list")["knowledge"][0]["ref"] == known["ref"]
    assert workspace.json("check", "--fix") == {"fixed": []}


LOOSE = [
    *(
        ("knowledge.md", "## Facts\n\nRedis is slow\n", 3),
        ("knowledge.md", "## Facts\n\n| Redis | slow |\n|---|---|\n", 3),
    ),
    *(("contacts.md", "## Channels\n\n- Alerts: c1\n", 3), ("contacts.md", "## People\n\nBob is the SRE\n", 3)),
    *(
        ("contacts.md", "## People\n\n| Name | Role |\n|---|---|\n| Bob | SRE |\n", 3),
        ("contacts.md", "## Team\n\n- Bob\n", 1),
    ),
    *(
        ("monitors.md", "## Watches\n\n### Disk\n- type: command\n", 3),
        ("orchestration.md", "## Plans\n\n### Rebuild\n", 3),
    ),
]


@pytest.mark.thorough(one_of=3)
@pytest.mark.parametrize(("name", "text", "line"), LOOSE)
def test_what_no_file_reads_is_told(workspace: Place, name: str, text: str, line: int) -> None:
    """A line that no list, table or section of its file takes is named with file and line, and stays as it is."""
    before = written(workspace, name, text)
    problems = workspace("check", "-o", "json").data["problems"]
    assert [one for one in problems if (one["file"], one["line"]) == (name, line) and one["level"] != "note"]
    workspace("check", "--fix")
    assert workspace.read(f".aiter/memory/{name}") == before


def test_search_finds_what_nothing_reads(workspace: Place) -> None:
    """A line that no entry takes is found with its file and line, before and after there is an index."""
    written(workspace, "tasks.md", "## Pending\n\n- Buy walnuts\n")
    written(workspace, "journal.md", "## 2026-01-15\n\nWe saw giraffes.\n")
    for word, place in (("walnuts", ("tasks.md", 3)), ("giraffes", ("journal.md", 3))) * 2:
        results = workspace.json("search", word)["results"]
        assert [(one["file"], one["line"]) for one in results] == [place]
