"""Conversion by the command line: every byte arrives or is named, and a second run brings nothing back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.contract.place import Place

TASKS = ".aiter/memory/tasks.md"
CONTACTS = ".aiter/memory/contacts.md"
TARGETS = {
    "files": ".aiter/memory/tasks.md",
    "facts": ".aegis/memory/memories.jsonl",
    "typed": "lessons/converted.md",
    "state": ".agent-memory/state.json",
    "curated": ".agh",
}
TASK = """### [HIGH] Migrate the database
- created: 2026-01-01
- notes: short
Steps, in this order: BODYTEXT one.

```sh
pg_dump BODYCODE > x.sql
```

- [ ] BODYBOX first
"""


def all_systems(place: Place, name: str) -> Path:
    """Make a folder beside `work` with all five memory systems; return it."""
    folder = place.top / name
    (folder / "lessons").mkdir(parents=True)
    (folder / "Aidefile").write_text('[memory]\nprocedural_dir = "lessons"\nepisodic_dir = "scratch"\n')
    for words in (["init"], ["state", "init"]):
        assert place(*words, folder=folder).code == 0
    memory = ("--type", "project", "--description", "about", "--content", "There is one memory")
    made = place("curated", "write", "--name", "First", *memory, folder=folder)
    assert made.code == 0, made
    return folder


def source(place: Place, name: str, files: dict[str, str]) -> Path:
    """Make a workspace of memory files beside `work`; return its folder."""
    folder = place.top / name
    folder.mkdir()
    assert place("init", folder=folder).code == 0
    for file, text in files.items():
        (folder / ".aiter/memory" / file).write_text(text)
    return folder


def content(path: Path) -> str:
    """Return the text of a file, or of all files below a folder."""
    if path.is_file():
        return path.read_text("utf-8", "replace")
    return "\n".join(one.read_text("utf-8", "replace") for one in sorted(path.rglob("*.md")))


def said(report: Any) -> str:
    """Return all that a report says of what does not come along."""
    return json.dumps([report["skipped"], report["losses"]], ensure_ascii=False)


@pytest.mark.parametrize("target", TARGETS)
def test_the_text_of_a_task_arrives_in_every_target(place: Place, target: str) -> None:
    """Paragraphs, code and boxes below the fields of a task are in the target, whichever it is."""
    here = source(place, "here", {"tasks.md": f"## Pending\n\n{TASK}"})
    there = all_systems(place, "there")
    report = place.json("convert", f"files:{here}", target, folder=there)
    assert report["converted"] >= 1, report
    text = content(there / TARGETS[target])
    for word in ("BODYTEXT one", "pg_dump BODYCODE > x.sql", "- [ ] BODYBOX first"):
        assert word in text, (word, report)


def test_text_that_is_no_entry_is_named(place: Place) -> None:
    """Prose of each file, and sections that a file does not know, are skipped by name, with file and line."""
    here = source(
        place,
        "here",
        {
            "tasks.md": "# Tasks\nPROSE01\n\n## Pending\n\nPROSE02\n\n### A\n- created: 2026-01-01\n",
            "journal.md": "## 2026-01-01\n\nPROSE03\n\n### 09:00 — B\n- c\n",
            "knowledge.md": "## Technical Facts\n\nPROSE04\n\n- a fact\n  below\n\nPROSE05\n\n### T\nPROSE06\n- x\n",
            "contacts.md": "## Channels\n\nPROSE07\n\n## Others\n\n- PROSE08\n\n### PROSE09\n",
            "monitors.md": "## Notes\n\nPROSE10\n\n### PROSE11\nPROSE12\n",
            "orchestration.md": "## Active Plans\n\nPROSE13\n",
            "config.md": "## Settings\n\n- maxJournalEntries: 5\n\nPROSE14\n",
        },
    )
    there = all_systems(place, "there")
    for target in TARGETS:
        report = place.json("convert", f"files:{here}", target, folder=there)
        assert report["read"] == report["converted"] + len(report["skipped"])
        text = said(report)
        assert [at for at in range(1, 15) if f"PROSE{at:02}" not in text] == [], (target, report["skipped"])
        assert "monitors.md:3: PROSE10" in text


def test_an_empty_workspace_has_nothing_to_name(place: Place) -> None:
    """The files that `init` makes hold no text that would be named: only settings are read."""
    here = source(place, "here", {})
    report = place.json("convert", f"files:{here}", "files", folder=source(place, "there", {}))
    assert all(one["what"].startswith("config.md:") for one in report["skipped"]), report


def test_routes_keep_their_bytes(place: Place) -> None:
    """A row of Message Routes is the same in another workspace, and by way of typed memory has the same cells."""
    row = "| Dev Team Bot | project-123 | /ask | auto |"
    table = f"## Message Routes\n\n| Channel | Project | Prefix | Terminal |\n|---|---|---|---|\n{row}\n"
    here = source(place, "here", {"contacts.md": table})
    there = all_systems(place, "there")
    report = place.json("convert", f"files:{here}", "files", folder=there)
    assert (report["converted"], report["losses"]) == (1, [])
    assert row in (there / CONTACTS).read_text().splitlines()
    assert not place.json("convert", f"files:{here}", "files", folder=there)["converted"]
    assert place.json("convert", f"files:{here}", "typed", folder=there)["converted"]
    back = all_systems(place, "back")
    assert place.json("convert", f"typed:{there}", "files", folder=back)["losses"] == []
    routes = place.json("contacts", "list", folder=back)["routes"]
    assert [(one["channel"], one["project"], one["prefix"], one["terminal"]) for one in routes] == [
        ("Dev Team Bot", "project-123", "/ask", "auto")
    ]
    assert place("check", folder=back).code == 0


def tasks_of(place: Place, section: str = "all") -> list[Any]:
    """Return the tasks of the workspace."""
    found: list[Any] = place.json("tasks", "list", "--section", section)["tasks"]
    return found


def test_people_keep_their_bytes(place: Place) -> None:
    """Bullets of people arrive as they are written, also in a list that is empty there."""
    people = "*   **Al** (PM):   likes tea,\n    and coffee\n*   **Bo** (QA): y\n"
    here = source(place, "here", {"contacts.md": f"## People\n\n{people}"})
    there = source(place, "there", {"contacts.md": "## People\n"})
    assert place.json("convert", f"files:{here}", "files", folder=there)["converted"] == 2
    assert (there / CONTACTS).read_text().endswith(people)


def test_words_with_a_colon_stay_text(workspace: Place) -> None:
    """A word of todo.txt is a field only where todo.txt has one: `due:` with a date, and `pri:`."""
    lines = [
        "Check section:completed of form",
        "Read section:4 of the book",
        "Eat more vitamin:C and list:A today",
        "plan:B size:A",
        "ask person:john at 14:30 about agreement with customer:initech",
        "priority:HIGH completed:2026-01-01 created:2026-01-01 started:2026-01-02 progress:90 action:rm",
        "due:tomorrow or due:2026-03-09",
        "Pay pri:A",
    ]
    (workspace.work / "todo.txt").write_text("\n".join(lines) + "\n")
    report = workspace.json("convert", "todotxt:todo.txt", "files")
    assert (report["converted"], report["losses"]) == (len(lines), [])
    found = {one["title"]: one for one in tasks_of(workspace)}
    assert set(found) == {*lines[:6], "due:tomorrow or", "Pay"}
    assert {one["section"] for one in found.values()} == {"pending"}
    assert all(one["extra"] == {} and one["completed"] is None for one in found.values())
    assert found["due:tomorrow or"]["due"] == "2026-03-09"
    assert [one["priority"] for one in found.values()] == [None] * 7 + ["HIGH"]


def test_attributes_of_other_tools_set_no_field_of_ours(workspace: Place) -> None:
    """User-defined attributes with the names of our fields keep their values under the name of the tool."""
    odd = {"section": "completed", "completed": "2026-01-01", "started": "2026-01-02", "heading": "Later"}
    odd |= {"created": "2020-01-01", "action": "rm -rf .", "Section": "completed", "notes": "of the tool"}
    said = [{"entry": "20260101T080000Z", "description": "by hand"}]
    task = {"description": "Ship it", "status": "pending", "uuid": "u-1", "annotations": said, **odd}
    (workspace.work / "export.json").write_text(json.dumps([task]))
    assert workspace.json("convert", "taskwarrior:export.json", "files")["converted"] == 1
    (ship,) = tasks_of(workspace)
    assert (ship["section"], ship["created"], ship["started"], ship["completed"], ship["action"]) == (
        "pending", None, None, None, None,
    )  # fmt: skip
    assert {key: ship["extra"][f"taskwarrior-{key}"] for key in odd} == odd
    assert "by hand" in ship["notes"]


RECURRENCES = [
    ("monthly", "20260131T230000Z", "2026-02-01 00:00", "0 0 1 * *", []),
    ("monthly", "20260130T230000Z", "2026-01-31 00:00", "0 0 L * *", []),
    ("monthly", "20260130T080000Z", "2026-01-30 09:00", "0 9 30 * *", ["recur"]),
    ("quarterly", "20260331T220000Z", "2026-04-01 00:00", "0 0 1 1,4,7,10 *", []),
    ("weekdays", "20260105T070000Z", "2026-01-05 08:00", "0 8 * * 1-5", []),
    ("weekly", "20260704T220000Z", "2026-07-05 00:00", "0 0 * * 0", []),
    ("P7D", "20260105T070000Z", "2026-01-05 08:00", "0 8 * * 1", []),
    ("2mo", "20260105T070000Z", "2026-01-05 08:00", "0 8 5 1,3,5,7,9,11 *", []),
    ("annual", "20260105T070000Z", "2026-01-05 08:00", "0 8 5 1 *", []),
    ("2weeks", "20260105T070000Z", "2026-01-05 08:00", None, ["recur"]),
    ("sometimes", "20260105T070000Z", "2026-01-05 08:00", None, ["recur"]),
]


@pytest.mark.parametrize(("recur", "due", "local", "cron", "lost"), RECURRENCES)
def test_a_recurrence_is_that_of_the_clock_on_the_wall(
    workspace: Place, recur: str, due: str, local: str, cron: str | None, lost: list[str]
) -> None:
    """What Taskwarrior says in UTC is told in the zone of the workspace; what cron cannot express is kept and named."""
    assert workspace("config", "set", "timezone", "Europe/Berlin").code == 0
    task = {"description": "Pay", "status": "recurring", "uuid": "u-1", "due": due, "recur": recur}
    (workspace.work / "t.json").write_text(json.dumps([task]))
    report = workspace.json("convert", "taskwarrior:t.json", "files")
    assert [one["field"] for one in report["losses"]] == lost
    (pay,) = tasks_of(workspace)
    assert (pay["due"], pay["recurring"], pay["extra"].get("recur")) == (local, cron, None if cron else recur)


def test_the_live_instance_is_the_recurring_task(workspace: Place) -> None:
    """Its date and annotations count; the template, converted again with a later instance, is the same task."""
    template = {"description": "Pay", "status": "recurring", "uuid": "u-1", "due": "20260101T090000Z"}
    template |= {"recur": "monthly", "until": "20270101T000000Z"}
    said = [{"entry": "20260210T090000Z", "description": "bank changed"}]
    live = {**template, "status": "pending", "uuid": "u-2", "parent": "u-1", "annotations": said, "imask": 2}
    (workspace.work / "t.json").write_text(json.dumps([template, {**live, "due": "20260301T090000Z"}]))
    report = workspace.json("convert", "taskwarrior:t.json", "files")
    assert ([one["field"] for one in report["losses"]], len(report["skipped"])) == (["until"], 1)
    (pay,) = tasks_of(workspace)
    assert (pay["due"], pay["recurring"]) == ("2026-03-01 09:00", "0 9 1 * *")
    assert "bank changed" in pay["notes"]
    (workspace.work / "t.json").write_text(json.dumps([template, {**live, "uuid": "u-3", "due": "20260401T090000Z"}]))
    assert workspace.json("convert", "taskwarrior:t.json", "files")["converted"] == 0


def test_memory_files_that_are_not_there_are_made(place: Place) -> None:
    """A folder that has facts only gets the memory files with the first task."""
    place.write(".aegis/memory/memories.jsonl", "")
    assert place("facts", "store", "Deploys happen on Mondays").code == 0
    place.write("todo.txt", "Ship it\n")
    assert place.json("convert", "todotxt:todo.txt", "files")["converted"] == 1
    assert [one["title"] for one in tasks_of(place)] == ["Ship it"]


SOURCES = {
    "taskwarrior:t.json": ("t.json", json.dumps([{"description": "Ship it", "status": "pending", "uuid": "u-1"}])),
    "todotxt:todo.txt": ("todo.txt", "Ship it\n"),
    "beads:b.jsonl": ("b.jsonl", json.dumps({"id": "b-1", "title": "Ship it", "status": "open"}) + "\n"),
    "files:../here": ("../here/.aiter/memory/tasks.md", "## Pending\n\n### Ship it\n- created: 2026-01-01\n"),
}


@pytest.mark.thorough(one_of=3)
@pytest.mark.parametrize("step", ["start", "done", "edit", "archive"])
@pytest.mark.parametrize("name", SOURCES)
def test_a_second_run_brings_nothing_back(workspace: Place, name: str, step: str) -> None:
    """A task that was started, done, changed or archived since is there already, whatever format it came from."""
    source(workspace, "here", {})
    workspace.write(*SOURCES[name])
    assert workspace.json("convert", name, "files")["converted"] == 1
    if step == "start":
        assert workspace("tasks", "start", "Ship it").code == 0
    elif step == "edit":
        assert workspace("tasks", "edit", "Ship it", "--set", "priority=HIGH", "--set", "notes=more").code == 0
    else:
        assert workspace("tasks", "done", "Ship it").code == 0
    later = "2026-04-02T09:00:00Z"
    if step == "archive":
        assert workspace("archive", now=later).code == 0
        assert tasks_of(workspace, "completed") == []
    again = workspace.json("convert", name, "files", now=later)
    assert again["converted"] == 0, again
    assert "it already exists" in {one["reason"] for one in again["skipped"]}
    assert len(tasks_of(workspace)) == 1


ODD = "\u2028 \u2029 \x85 \x0b \x0c"


def test_only_a_line_feed_ends_a_record(workspace: Place) -> None:
    """Line separators of Unicode, form feeds and vertical tabs are text in todo.txt, Taskwarrior and session events."""
    lines = [f"second{mark}line" for mark in ODD.split(" ")]
    workspace.write("todo.txt", "\r\n".join(lines) + "\r\n")
    assert workspace.json("convert", "todotxt:todo.txt", "files")["converted"] == len(lines)
    assert sorted(one["title"] for one in tasks_of(workspace)) == sorted(lines)
    rows = [
        json.dumps({"description": f"a{mark}b", "status": "pending"}, ensure_ascii=False) for mark in "\u2028\u2029\x85"
    ]
    workspace.write("t.json", "\n".join(rows) + "\n")
    assert workspace.json("convert", "taskwarrior:t.json", "files")["converted"] == 3
    assert "a\u2028b" in {one["title"] for one in tasks_of(workspace)}
    event = json.dumps({"event_type": "user", "content": f"x{ODD[0]}y\x85z"}, ensure_ascii=False)
    made = ("--type", "project", "--description", "about", "--content", "There is one memory")
    assert workspace("curated", "write", "--name", "First", *made).code == 0
    answer = workspace("curated", "session", "append", "s", "--content", "-", given=event + "\n")
    assert answer.code == 0, answer


def test_a_next_step_that_was_done_since_does_not_come_back(place: Place) -> None:
    """What the project state had as a next step, and has no more, is left out by a second run."""
    here = source(place, "here", {"tasks.md": "## Pending\n\n### Ship it\n- created: 2026-01-01\n"})
    there = all_systems(place, "there")
    assert place.json("convert", f"files:{here}", "state", folder=there)["converted"] == 1
    given = place("state", "edit", "next-steps", "--json", "-", given=b"\xef\xbb\xbf[]", folder=there)
    assert given.code == 0, given
    assert place.json("convert", f"files:{here}", "state", folder=there)["converted"] == 0


def test_curated_memory_begins_with_a_conversion(place: Place) -> None:
    """A workspace without curated memory gets it by a conversion, and a task comes back without invented dates."""
    here = source(place, "here", {"tasks.md": "## Pending\n\n### Ship it\n- tags: a, b\n"})
    there, back = source(place, "there", {}), source(place, "back", {})
    report = place.json("convert", f"files:{here}", "curated", folder=there)
    assert report["converted"], report
    assert place.json("convert", f"curated:{there}", "files", folder=back)["converted"]
    assert (
        (back / TASKS)
        .read_text()
        .endswith("### Ship it\n- tags: a, b\n\n## In Progress\n\n## Completed (last 7 days)\n")
    )


def test_trackers_of_agents_become_tasks(workspace: Place) -> None:
    """Beads, task-master and the checklists of Kiro and spec-kit: status, priority, steps and what is left out."""
    issues = [
        {"_type": "issue", "id": "bd-a1", "title": "Parser", "status": "in_progress", "priority": 1, "labels": ["x"],
         "dependencies": [{"issue_id": "bd-a1", "depends_on_id": "bd-b2", "type": "blocks"}]},
        {"_type": "issue", "id": "bd-b2", "title": "Gone", "status": "tombstone"},
        {"_type": "issue", "id": "bd-c3", "title": "Lexer", "status": "closed", "close_reason": "done by ada",
         "closed_at": "2026-02-01T10:00:00Z"},
        {"_type": "memory", "key": "Style", "value": "Tabs."},
    ]  # fmt: skip
    workspace.write(".beads/issues.jsonl", "".join(f"{json.dumps(one)}\n" for one in issues))
    done = workspace.json("convert", "beads:.beads", "files")
    assert (done["read"], done["converted"], len(done["skipped"])) == (4, 3, 1)
    tasks = {one["title"]: one for one in workspace.json("tasks", "list", "--section", "all")["tasks"]}
    assert (tasks["Parser"]["section"], tasks["Parser"]["priority"], tasks["Parser"]["tags"]) == (
        "in-progress",
        "HIGH",
        ["x"],
    )
    assert (tasks["Lexer"]["section"], tasks["Lexer"]["outcome"]) == ("completed", "done by ada")
    subtasks = [{"id": 1, "title": "Schema", "status": "done"}, {"id": 2, "title": "Index", "status": "pending"}]
    master = {"id": 1, "title": "Store", "status": "pending", "priority": "high", "subtasks": subtasks}
    workspace.write("tasks.json", json.dumps({"master": {"tasks": [master]}}))
    workspace.json("convert", "task-master:tasks.json", "files")
    workspace.write(
        "specs/001-cart/tasks.md", "# T\n\n- [x] T001 [P] [US1] Model in src/a.py\n- [ ] 2. Cart\n  - [ ] 2.1 Add\n"
    )
    workspace.json("convert", "spec-kit:specs", "files")
    tasks = {one["title"]: one for one in workspace.json("tasks", "list", "--section", "all")["tasks"]}
    assert tasks["Store"]["priority"] == "HIGH"
    assert (tasks["Model in src/a.py"]["section"], tasks["Cart"]["section"]) == ("completed", "pending")
    assert "- [x] Schema" in workspace.read(".aiter/memory/tasks.md").decode()
    assert "2.1 Add" in workspace.read(".aiter/memory/tasks.md").decode()
    workspace.write("odd.jsonl", '{"title": "Odd", "labels": 3, "dependencies": 5}\n')
    assert workspace.json("convert", "beads:odd.jsonl", "files")["converted"] == 1


@pytest.mark.parametrize(("target", "made"), [("typed", "Aidefile"), ("state", ".agent-memory/state.json")])
def test_a_system_that_is_not_there_is_made(place: Place, target: str, made: str) -> None:
    """The first entry makes the system, and the second run finds it there."""
    folder = source(place, "shop", {"tasks.md": f"## Pending\n\n{TASK}"})
    assert place.json("convert", "files", target, "--dry-run", folder=folder)["converted"] >= 1
    assert not (folder / made).exists()
    done = place.json("convert", "files", target, folder=folder)
    assert (folder / made).is_file()
    assert done["converted"] >= 1
    assert place.json("convert", "files", target, folder=folder)["converted"] == 0


COPIES = [
    *("{} 2{}", "{}-HOST{}", "{}.sync-conflict-20260101-101010-ABCDEFG{}", "{} (Ann's conflicted copy 2026-01-01){}"),
    *("{} (conflicted copy){}", "{} (conf(1)){}", "{}_conf(1){}", "{}_LOCAL_123{}", "{}{}~", "{}{}.orig"),
]


@pytest.mark.parametrize("form", COPIES)
def test_copies_of_syncing_programs_are_named_in_every_system(place: Place, form: str) -> None:
    """Each is a warning of the check, and none is read."""
    folder = all_systems(place, "all")
    assert place("facts", "store", "DB is PG", folder=folder).code == 0
    (folder / "lessons/rules.md").write_text("## One rule\n\nNever on Friday\n")
    (memory,) = [one for one in (folder / ".agh/memory").glob("*.md") if one.name != "MEMORY.md"]
    files = (TASKS, ".aegis/memory/memories.jsonl", "lessons/rules.md", ".agent-memory/state.json", memory)
    asked = ("PG", "Friday", "memory")
    before = {query: len(place.json("search", query, folder=folder)["results"]) for query in asked}
    copies = set()
    for file in files:
        path = folder / file
        copy = path.with_name(form.format(path.stem, path.suffix))
        copy.write_bytes(path.read_bytes())
        copies.add(copy.name)
    problems = place.json("check", folder=folder)["problems"]
    assert {Path(one["file"]).name for one in problems if one["code"] == "file.conflicted_copy"} == copies
    assert before == {query: len(place.json("search", query, folder=folder)["results"]) for query in before}


def test_rules_of_cursor_and_memory_banks(workspace: Place) -> None:
    """Each rule is a memory, also with a pattern that is no YAML; parts of a bank are entries, its boxes tasks."""
    workspace.write(
        ".cursor/rules/tests.mdc",
        "---\ndescription: How tests are written\nglobs: *.test.ts\nalwaysApply: false\n---\n- Use vitest, no jest\n",
    )
    workspace.write("bank/activeContext.md", "# Active\n\n## Focus\nMoving the carts\n\n## Next\n- [ ] Migrate\n")
    workspace.write("bank/decisionLog.md", "# Log\n\n## Use SQLite for carts\nRedis lost them twice\n")
    rules = workspace.json("convert", "cursor-rules:.", "files")
    assert (rules["converted"], rules["skipped"]) == (1, [])
    assert workspace.json("convert", "memory-bank:bank", "files")["converted"] == 3
    known = workspace.read(".aiter/memory/knowledge.md").decode()
    assert "- How tests are written\n  - Use vitest, no jest\n" in known
    assert "- Focus\n  Moving the carts\n" in known
    assert known.index("## Decisions Made") < known.index("- Use SQLite for carts\n  Redis lost them twice\n")
    assert [one["title"] for one in workspace.json("tasks", "list")["tasks"]] == ["Migrate"]
    assert workspace.json("convert", "memory-bank:bank", "files")["converted"] == 0
