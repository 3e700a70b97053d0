"""Two branches that grew apart: what git's merge driver makes of them, against a model of tasks and days."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest

from memory.document import Document, parse
from memory.errors import UsageError
from memory.files.versions.merging import merge_versions
from tests.examples import examples

TASKS = ".aiter/memory/tasks.md"
SECTIONS = ("Pending", "In Progress", "Completed (last 7 days)")
KEYS = ("due", "notes", "assigned", "tags", "outcome")


@dataclass
class Task:
    """A task of the model: where it stands and what it says."""

    section: str
    fields: dict[str, str] = field(default_factory=dict)

    def copy(self) -> Task:
        """Return a copy that can be changed."""
        return Task(self.section, dict(self.fields))


Tasks = dict[str, Task]


def written(tasks: Tasks) -> bytes:
    """Return a file of the tasks."""
    text = "---\ntype: task-list\nupdated: 2024-01-15T10:30:00Z\n---\n"
    for section in SECTIONS:
        text += f"\n## {section}\n"
        for title, task in tasks.items():
            if task.section == section:
                text += f"\n### [NORMAL] {title}\n- created: 2024-01-10 09:00\n"
                text += "".join(f"- {key}: {value}\n" for key, value in sorted(task.fields.items()))
    return text.encode()


def edited(tasks: Tasks, dice: random.Random, side: str) -> Tasks:
    """Return tasks after a few edits of one side."""
    new = {title: task.copy() for title, task in tasks.items()}
    for number in range(dice.randint(1, 6)):
        title = dice.choice(list(new)) if new else ""
        match dice.choice(("add", "set", "set", "unset", "move", "remove")):
            case "add":
                new = {f"{side} adds {number}": Task(dice.choice(SECTIONS), {"notes": side}), **new}
            case "set" if title:
                new[title].fields[dice.choice(KEYS)] = dice.choice(("x", "y", side))
            case "unset" if title:
                new[title].fields.pop(dice.choice(KEYS), None)
            case "move" if title:
                new[title].section = dice.choice(SECTIONS)
            case "remove" if title:
                del new[title]
    return new


def read(document: Document) -> dict[str, list[tuple[str, dict[str, str]]]]:
    """Return where each title stands, and its fields but for those of every task."""
    found: dict[str, list[tuple[str, dict[str, str]]]] = {}
    for section in document.sections:
        for entry in section.entries:
            fields = {key: value for key, value in entry.fields.items() if key != "created"}
            found.setdefault(entry.title.removeprefix("[NORMAL] "), []).append((section.title, fields))
    return found


def one(base: object, ours: object, theirs: object) -> tuple[object, bool]:
    """Return what becomes of one value, and whether both sides changed it to different ones."""
    if ours in (base, theirs):
        return theirs, False
    return ours, theirs not in (base, ours)


def test_two_sided_edits_of_tasks() -> None:
    """Each task is there once with the changes of both sides; only what both changed in two ways is a conflict."""
    dice = random.Random(7)
    clean = conflicting = 0
    for _ in range(examples(10_000, least=1_000)):
        base = {f"task {number}": Task(dice.choice(SECTIONS), {"due": "x"}) for number in range(dice.randint(0, 6))}
        ours, theirs = edited(base, dice, "ours"), edited(base, dice, "theirs")
        merged = merge_versions(TASKS, written(base), written(ours), written(theirs))
        told = {(str(found["entry"]), str(found["field"])) for found in merged.conflicts}
        expected: set[tuple[str, str]] = set()
        result: Tasks = {}
        for title in {*base, *ours, *theirs}:
            old, mine, other = base.get(title), ours.get(title), theirs.get(title)
            if old is not None and (mine is None or other is None):
                left = mine or other
                if left is not None and left != old:
                    result[title] = left
                continue
            mine, other = mine or other, other or mine
            assert mine is not None
            assert other is not None
            start = old or mine
            section, clash = one(start.section, mine.section, other.section)
            if clash:
                # Of an entry that was moved twice the section is asked; its fields merge as those of any other.
                expected.add((f"[NORMAL] {title}", "section"))
                section = mine.section
            result[title] = Task(str(section))
            for key in KEYS:
                value, clash = one(start.fields.get(key), mine.fields.get(key), other.fields.get(key))
                if clash:
                    expected.add((f"[NORMAL] {title}", key))
                if value is not None:
                    result[title].fields[key] = str(value)
        assert told == expected
        if expected:
            conflicting += 1
            assert b"<<<<<<< ours\n" in merged.data
            for title in result:
                assert f"### [NORMAL] {title}\n".encode() in merged.data
            continue
        clean += 1
        found = read(parse(merged.data))
        assert found == {title: [(task.section, task.fields)] for title, task in result.items()}
    assert clean > 100
    assert conflicting > 20


def test_days_and_archives_go_together_without_a_question() -> None:
    """Both sides add to a journal and to an archive, also where only one of them had it: each entry is there once."""
    dice = random.Random(3)
    for name, first in ((".aiter/memory/journal.md", "# Journal\n"), (".aiter/memory/archive/journal-2024-01.md", "")):
        for _ in range(examples(1_000, least=60)):
            sides = {}
            for side in ("ours", "theirs"):
                days: dict[str, list[str]] = {}
                for number in range(dice.randint(0, 5)):
                    day = f"2024-01-{dice.randint(10, 14)}"
                    days.setdefault(day, []).append(
                        f"{dice.randint(8, 19):02}:{dice.randint(0, 59):02} — {side} {number}"
                    )
                text = first
                for day in sorted(days, reverse=True):
                    text += f"\n## {day}\n" + "".join(
                        f"\n### {title}\n- did it\n" for title in sorted(days[day], reverse=True)
                    )
                sides[side] = (text.encode(), days)
            merged = merge_versions(name, first.encode(), sides["ours"][0], sides["theirs"][0])
            assert merged.conflicts == ()
            found = [
                (section.title, entry.title) for section in parse(merged.data).sections for entry in section.entries
            ]
            assert sorted(found) == sorted(
                (day, title) for _, days in sides.values() for day, titles in days.items() for title in titles
            )


BASE = b"## Pending\n\n### [NORMAL] a\n- due: 2024-01-15\n- notes: n\n\n### [LOW] b\n"


def test_a_conflict_is_marked_in_its_lines_and_nowhere_else() -> None:
    """The markers stand around the field that both set; taking either side gives that side's value."""
    ours = BASE.replace(b"2024-01-15", b"2024-01-16")
    theirs = BASE.replace(b"2024-01-15", b"2024-01-17").replace(b"### [LOW] b\n", b"### [LOW] b\n- notes: new\n")
    merged = merge_versions(TASKS, BASE, ours, theirs)
    assert merged.data == (
        b"## Pending\n\n### [NORMAL] a\n<<<<<<< ours\n- due: 2024-01-16\n=======\n- due: 2024-01-17\n>>>>>>> theirs\n"
        b"- notes: n\n\n### [LOW] b\n- notes: new\n"
    )
    (conflict,) = merged.conflicts
    assert (conflict["field"], conflict["ours"], conflict["theirs"]) == ("due", "2024-01-16", "2024-01-17")
    long = merge_versions(TASKS, BASE, ours, theirs, marker=12).data
    assert b"<<<<<<<<<<<< ours\n" in long
    assert b"\n============\n" in long


def test_what_one_side_removed_and_the_other_changed_stays() -> None:
    """It is no conflict, and it is told."""
    ours = BASE.replace(b"\n\n### [LOW] b\n", b"\n")
    theirs = BASE.replace(b"### [LOW] b\n", b"### [LOW] b\n- notes: new\n")
    merged = merge_versions(TASKS, BASE, ours, theirs)
    assert merged.conflicts == ()
    assert b"### [LOW] b\n- notes: new\n" in merged.data
    assert [kept["entry"] for kept in merged.kept] == ["[LOW] b"]


FACT = b'{"id":"m-%d","scope":"user","text":"%s","tags":[],"ts":"2024-01-15T10:30:00Z"}\n'


def test_facts_of_both_sides_are_there_under_ids_of_their_own() -> None:
    """A fact of theirs whose number ours gave away gets the next free one; what one side deleted is gone."""
    path = ".aegis/memory/memories.jsonl"
    base = FACT % (1, b"a") + FACT % (2, b"b")
    ours = FACT % (2, b"b") + FACT % (3, b"c")
    theirs = FACT % (1, b"a") + FACT % (2, b"b") + FACT % (3, b"d") + b"no fact\n"
    merged = merge_versions(path, base, ours, theirs)
    assert merged.data == FACT % (2, b"b") + FACT % (3, b"c") + FACT % (4, b"d") + b"no fact\n"
    assert merge_versions(".aegis/memory/memories.seq", b"2\n", b"3\n", b"10\n").data == b"10\n"


@pytest.mark.parametrize("path", ["README.md", "src/main.py", ".agent-memory/state.json", "notes/tasks.txt"])
def test_other_files_are_refused(path: str) -> None:
    """What is no memory file is left to git."""
    with pytest.raises(UsageError) as error:
        merge_versions(path, b"", b"a", b"b")
    assert error.value.code == "merge.unknown_file"
