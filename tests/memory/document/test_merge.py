"""Three-way merge: a case for every row of its table, and for what stands around them."""

from __future__ import annotations

from typing import Any

import pytest

from memory.document import Document, Entry, parse
from memory.document.merge import MergeResult, merge, ours_of
from memory.errors import ConflictError
from tests.growth import assert_in_proportion
from tests.memory.document.documents import structure
from tests.memory.document.merging import merged, text_of

A = "### [HIGH] A\n- due: 1\n- created: 2024-01-14\n- notes: x\n"
B = "### B\n- due: 2\n- created: 2024-01-14\n"
FILE = f"---\ntype: task-list\nupdated: 2024-01-15T10:30:00Z\n---\n## Pending\n{A}{B}## In Progress\n## Completed\n"
TABLE = "## Channels\n| Name | ID | Status |\n|---|---|---|\n| Bot | c-1 | on |\n| Slack | c-2 | off |\n"
DAY = "## 2024-01-15\n### 10:45 — IM\n- b\n### 10:30 — Check\n- a\n## 2024-01-14\n### 16:30 — Done\n- c\n"
LIST = "## Facts\n- one\n- two\n- three\n\n## People\n- **Alice** (PM): x\n- **Bob** (Ops): y\n"


def run(base: str, ours: str, theirs: str, kind: str = "tasks", **how: Any) -> MergeResult:
    """Return the merge of texts, whose document must read as it is written."""
    result = merged(base.encode(), ours.encode(), theirs.encode(), kind, **how)
    assert structure(parse(result.document.dump())) == structure(result.document)
    return result


def change(text: str, *changes: tuple[str, str]) -> str:
    """Return a text with replacements, each of which must fit."""
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return text


STARTED = change(FILE, (A, ""), ("## In Progress\n", "## In Progress\n" + A))
DONE = change(FILE, (A, ""), ("## Completed\n", "## Completed\n" + A))
NEW = "### New\n- created: 2024-01-15\n"

# name, kind, base, ours, theirs, result
MERGES = [
    ("unchanged, anything", "tasks", FILE, FILE, change(FILE, (A, "")), change(FILE, (A, ""))),
    (
        "two fields of one entry",
        "tasks",
        FILE,
        change(FILE, ("due: 1", "due: 3")),
        change(FILE, ("notes: x", "notes: y")),
        change(FILE, ("due: 1", "due: 3"), ("notes: x", "notes: y")),
    ),
    (
        "a field added by each",
        "tasks",
        FILE,
        change(FILE, ("- notes: x\n", "- notes: x\n- tags: t\n")),
        change(FILE, ("- notes: x\n", "- notes: x\n- action: a\n")),
        change(FILE, ("- notes: x\n", "- notes: x\n- action: a\n- tags: t\n")),
    ),
    (
        "a new title and a field",
        "tasks",
        FILE,
        change(FILE, ("[HIGH] A", "[HIGH] A and more")),
        change(FILE, ("due: 1", "due: 3")),
        change(FILE, ("[HIGH] A", "[HIGH] A and more"), ("due: 1", "due: 3")),
    ),
    (
        "moved, and fields edited",
        "tasks",
        FILE,
        STARTED,
        change(FILE, ("due: 1", "due: 3")),
        change(STARTED, ("due: 1", "due: 3")),
    ),
    (
        "both added the same entry",
        "tasks",
        FILE,
        change(FILE, (B, NEW + B)),
        change(FILE, (B, NEW + B), ("due: 1", "due: 3")),
        change(FILE, (B, NEW + B), ("due: 1", "due: 3")),
    ),
    (
        "both added one title, other bytes",
        "tasks",
        FILE,
        change(FILE, (A, NEW + "- due: 5\n" + A)),
        change(FILE, (A, NEW + A)),
        change(FILE, (A, NEW + NEW + "- due: 5\n" + A)),
    ),
    (
        "equal entries are counted",
        "tasks",
        change(FILE, (A, A + A)),
        change(FILE, (A, A + A + A)),
        change(FILE, (A, A + A), ("due: 2", "due: 4")),
        change(FILE, (A, A + A + A), ("due: 2", "due: 4")),
    ),
    (
        "the later time",
        "tasks",
        FILE,
        change(FILE, ("10:30:00Z", "12:00:00Z")),
        change(FILE, ("10:30:00Z", "11:00:00Z"), ("due: 1", "due: 3")),
        change(FILE, ("10:30:00Z", "12:00:00Z"), ("due: 1", "due: 3")),
    ),
    (
        "the later check, and what it found",
        "monitors",
        "## Monitors\n### M\n- lastCheck: 2024-01-15T10:30:00Z\n- lastStatus: up\n",
        "## Monitors\n### M\n- lastCheck: 2024-01-15T10:50:00Z\n- lastStatus: down\n",
        "## Monitors\n### M\n- lastCheck: 2024-01-15T10:40:00Z\n- lastStatus: slow\n",
        "## Monitors\n### M\n- lastCheck: 2024-01-15T10:50:00Z\n- lastStatus: down\n",
    ),
    (
        "journal entries of one minute",
        "journal",
        DAY,
        change(DAY, ("### 10:45", "### 11:00 — X\n- ours\n### 10:45")),
        change(DAY, ("### 10:45", "### 11:00 — X\n- theirs\n### 10:45")),
        change(DAY, ("### 10:45", "### 11:00 — X\n- theirs\n### 11:00 — X\n- ours\n### 10:45")),
    ),
    (
        "journal entries in the order of their times",
        "journal",
        DAY,
        change(DAY, ("### 10:45", "### 11:10 — Y\n### 10:50 — X\n### 10:45")),
        change(DAY, ("### 10:45", "### 11:00 — Z\n### 10:45")),
        change(DAY, ("### 10:45", "### 11:10 — Y\n### 11:00 — Z\n### 10:50 — X\n### 10:45")),
    ),
    (
        "one new day",
        "journal",
        DAY,
        "## 2024-01-16\n### 09:00 — O\n- o\n" + DAY,
        "## 2024-01-16\n### 08:00 — T\n- t\n" + DAY,
        "## 2024-01-16\n### 09:00 — O\n- o\n### 08:00 — T\n- t\n" + DAY,
    ),
    (
        "a day pruned, another one written",
        "journal",
        DAY,
        DAY[: DAY.index("## 2024-01-14")],
        change(DAY, ("- b\n", "- b\n- d\n")),
        change(DAY, ("- b\n", "- b\n- d\n"))[: DAY.index("## 2024-01-14") + 4],
    ),
    (
        "rows by their key",
        "contacts",
        TABLE,
        change(TABLE, ("| Bot | c-1 | on |", "| Bot | c-1 | off |")),
        change(TABLE, ("| c-2 | off |\n", "| c-2 | on |\n| Ding | c-3 | on |\n")),
        change(TABLE, ("c-1 | on |", "c-1 | off |"), ("| c-2 | off |\n", "| c-2 | on |\n| Ding | c-3 | on |\n")),
    ),
    (
        "lines beside each other",
        "knowledge",
        LIST,
        change(LIST, ("- one\n", "- uno\n"), ("- three\n", "- three\n- ours\n")),
        change(LIST, ("- two\n", "- due\n"), ("- three\n", "- three\n- theirs\n"), ("): y", "): z")),
        change(
            LIST, ("one", "uno"), ("- two\n", "- due\n"), ("- three\n", "- three\n- theirs\n- ours\n"), ("): y", "): z")
        ),
    ),
    (
        "a section renamed, an entry in it changed",
        "tasks",
        FILE,
        change(FILE, ("## Pending", "## To do")),
        change(FILE, ("due: 1", "due: 3")),
        change(FILE, ("## Pending", "## To do"), ("due: 1", "due: 3")),
    ),
    (
        "sections added by both",
        "knowledge",
        LIST,
        LIST + "## Ours\n- o\n",
        LIST + "## Theirs\n- t\n",
        LIST + "## Theirs\n- t\n\n## Ours\n- o\n",
    ),
    (
        "sections of one name",
        "tasks",
        FILE + "## Pending\n" + NEW,
        change(FILE, ("due: 1", "due: 3")) + "## Pending\n" + NEW,
        FILE + "## Pending\n" + NEW + "- due: 6\n",
        change(FILE, ("due: 1", "due: 3")) + "## Pending\n" + NEW + "- due: 6\n",
    ),
    (
        "ours put in order, theirs changed",
        "tasks",
        FILE,
        change(FILE, (A + B, B + A)),
        change(FILE, ("due: 1", "due: 3")),
        change(FILE, (A + B, B + A), ("due: 1", "due: 3")),
    ),
    (
        "a line and a field",
        "plans",
        "## P\n### X\nSome words.\n- status: on\n\nMore words.\n",
        "## P\n### X\nSome words.\n- status: off\n\nMore words.\n",
        "## P\n### X\nOther words.\n- status: on\n\nMore words.\n\nLast.\n",
        "## P\n### X\nOther words.\n- status: off\n\nMore words.\n\nLast.\n",
    ),
    (
        "other line ends, and an edit",
        "tasks",
        FILE,
        FILE.replace("\n", "\r\n"),
        change(FILE, ("due: 1", "due: 3")),
        change(FILE, ("due: 1", "due: 3")).replace("\n", "\r\n"),
    ),
    (
        "appended behind a file that ends in a fence",
        "tasks",
        "## P\n### A\n- a: 1\n### B\n",
        "## P\n### A\n- a: 2\n### B\n",
        "## P\n### A\n- a: 1\n### B\n```\ncode\n",
        "## P\n### A\n- a: 2\n### B\n```\ncode\n",
    ),
    (
        "blank lines between entries",
        "tasks",
        "## P\n\n### A\n- a: 1\n\n### B\n- b: 1\n",
        "## P\n\n### A\n- a: 1\n\n### B\n- b: 1\n\n### O\n- o: 1\n",
        "## P\n\n### A\n- a: 1\n\n### B\n- b: 1\n\n### T\n- t: 1\n",
        "## P\n\n### A\n- a: 1\n\n### B\n- b: 1\n\n### T\n- t: 1\n\n### O\n- o: 1\n",
    ),
]


@pytest.mark.parametrize("case", MERGES, ids=[case[0] for case in MERGES])
def test_goes_together(case: tuple[str, str, str, str, str, str]) -> None:
    """Changes that do not touch each other go together, without a conflict."""
    _, kind, base, ours, theirs, expected = case
    result = run(base, ours, theirs, kind)
    assert expected == text_of(result.document)
    assert (result.conflicts, result.kept) == ((), ())


# name, kind, base, ours, theirs, what, field, readings of base, ours, theirs, the file once ours is applied
CONFLICTS = [
    (
        "one field, two values",
        "tasks",
        FILE,
        change(FILE, ("due: 1", "due: 3"), ("notes: x", "notes: y")),
        change(FILE, ("due: 1", "due: 5")),
        ("field", "due", "1", "3", "5"),
        change(FILE, ("due: 1", "due: 3"), ("notes: x", "notes: y")),
    ),
    (
        "a field taken away and changed",
        "tasks",
        FILE,
        change(FILE, ("- notes: x\n", "")),
        change(FILE, ("notes: x", "notes: y")),
        ("field", "notes", "x", None, "y"),
        change(FILE, ("- notes: x\n", "")),
    ),
    (
        "two titles",
        "tasks",
        FILE,
        change(FILE, ("[HIGH] A", "[HIGH] A one")),
        change(FILE, ("[HIGH] A", "[HIGH] A two")),
        ("title", "title", "[HIGH] A", "[HIGH] A one", "[HIGH] A two"),
        change(FILE, ("[HIGH] A", "[HIGH] A one")),
    ),
    (
        "moved to two sections",
        "tasks",
        FILE,
        STARTED,
        DONE,
        ("section", "section", "Pending", "In Progress", "Completed"),
        STARTED,
    ),
    (
        "one row, two values",
        "contacts",
        TABLE,
        change(TABLE, ("c-1 | on", "c-1 | off")),
        change(TABLE, ("c-1 | on", "c-1 | lost")),
        ("row", "c-1", "| Bot | c-1 | on |", "| Bot | c-1 | off |", "| Bot | c-1 | lost |"),
        change(TABLE, ("c-1 | on", "c-1 | off")),
    ),
    (
        "one line, two texts",
        "knowledge",
        LIST,
        change(LIST, ("- two", "- zwei")),
        change(LIST, ("- two", "- due"), ("- three", "- tre")),
        ("text", "text", "- two", "- zwei", "- due"),
        change(LIST, ("- two", "- zwei"), ("- three", "- tre")),
    ),
    (
        "a fenced block is one piece",
        "plans",
        "## P\n### X\n```json\n1\n2\n3\n```\n- a: 1\n",
        "## P\n### X\n```json\n0\n2\n3\n```\n- a: 1\n",
        "## P\n### X\n```json\n1\n2\n4\n```\n- a: 2\n",
        ("text", "text", "```json\n1\n2\n3\n```", "```json\n0\n2\n3\n```", "```json\n1\n2\n4\n```"),
        "## P\n### X\n```json\n0\n2\n3\n```\n- a: 2\n",
    ),
    (
        "a last entry with a fence that is never closed",
        "tasks",
        "## P\n### X\n```\n1\n",
        "## P\n### X\n```\n2\n",
        "## P\n### X\n```\n3\n",
        ("entry", "entry", "### X\n```\n1", "### X\n```\n2", "### X\n```\n3"),
        "## P\n### X\n```\n2\n",
    ),
    (
        "ours stands behind a fence that theirs left open",
        "tasks",
        "## P\n### X\n",
        "## P\n### X\n## Q\n### Y\n",
        "## P\n### X\n```\n1\n",
        ("file", "file", "## P\n### X", "## P\n### X\n## Q\n### Y", "## P\n### X\n```\n1"),
        "## P\n### X\n## Q\n### Y\n",
    ),
    (
        "front matter that cannot be read",
        "tasks",
        "---\na: [\n---\n## P\n",
        "---\na: {\n---\n## P\n",
        "---\na: (\nb: [\n---\n## P\n",
        ("front", "front", "---\na: [\n---", "---\na: {\n---", "---\na: (\nb: [\n---"),
        "---\na: {\n---\n## P\n",
    ),
    (
        "one key of the front matter",
        "config",
        "---\ntype: a\nx: 1\n---\n## P\n",
        "---\ntype: b\nx: 1\n---\n## P\n",
        "---\ntype: c\nx: 2\n---\n## P\n",
        ("front", "type", "type: a", "type: b", "type: c"),
        "---\ntype: b\nx: 2\n---\n## P\n",
    ),
    (
        "a word about progress is no time",
        "tasks",
        "## P\n### X\n- lastUpdate: one\n",
        "## P\n### X\n- lastUpdate: two\n",
        "## P\n### X\n- lastUpdate: three\n",
        ("field", "lastUpdate", "one", "two", "three"),
        "## P\n### X\n- lastUpdate: two\n",
    ),
]


@pytest.mark.parametrize("case", CONFLICTS, ids=[case[0] for case in CONFLICTS])
def test_conflicts(case: tuple[str, str, str, str, str, tuple[str | None, ...], str]) -> None:
    """What both changed is a conflict in words, the file keeps theirs, and ours can be put in its place."""
    _, kind, base, ours, theirs, readings, applied = case
    result = run(base, ours, theirs, kind)
    assert len(result.conflicts) == 1
    found = result.conflicts[0].json()
    assert readings == (found["what"], found["field"], found["base"], found["ours"], found["theirs"])
    settled = run(base, ours, theirs, kind, decide=ours_of)
    assert (text_of(settled.document), settled.conflicts) == (applied, result.conflicts)
    # Turned around, deciding for ours gives what is in the file here.
    turned = run(base, theirs, ours, kind, decide=ours_of)
    assert text_of(result.document) == text_of(turned.document)


# name, ours, theirs, result, why
KEPT = [
    ("removed, edited", change(FILE, (A, "")), change(FILE, ("due: 1", "due: 3")), "we removed it, they changed it"),
    ("edited, removed", change(FILE, ("due: 1", "due: 3")), change(FILE, (A, "")), "they removed it, we changed it"),
]


@pytest.mark.parametrize("case", KEPT, ids=[case[0] for case in KEPT])
def test_an_edit_wins_over_a_removal(case: tuple[str, str, str, str]) -> None:
    """The entry stays, and the merge says why; a strict merge asks instead."""
    _, ours, theirs, why = case
    result = run(FILE, ours, theirs)
    assert text_of(result.document) == change(FILE, ("due: 1", "due: 3"))
    assert (result.conflicts, len(result.kept)) == ((), 1)
    assert why in result.kept[0].why
    assert (result.kept[0].section, result.kept[0].entry) == ("Pending", "[HIGH] A")
    asked = run(FILE, ours, theirs, strict=True)
    assert (asked.kept, len(asked.conflicts)) == ((), 1)
    assert text_of(asked.document) == theirs
    assert text_of(run(FILE, ours, theirs, strict=True, decide=ours_of).document) == ours


def test_a_section_stays_for_what_is_in_it() -> None:
    """A section that one side removed stays with the entry that the other side changed, and with new ones."""
    ours = FILE[: FILE.index("## Pending")] + "## In Progress\n## Completed\n"
    result = run(FILE, ours, change(FILE, ("due: 1", "due: 3")))
    assert text_of(result.document) == change(FILE, ("due: 1", "due: 3"), (B, ""))
    result = run(FILE, ours, change(FILE, (B, B + NEW)))
    assert text_of(result.document) == change(FILE, (A, ""), (B, NEW))
    words = change(LIST, ("- two", "- due"))
    kept = run(LIST, LIST[LIST.index("## People") :], words, "knowledge")
    assert (text_of(kept.document), kept.kept[0].what, kept.kept[0].entry) == (words, "text", None)


def test_a_decision_for_another_text() -> None:
    """A text that no side has is put in the place; one that would swallow what follows is refused."""
    ours, theirs = change(LIST, ("- two", "- zwei")), change(LIST, ("- two", "- due"))
    other = run(LIST, ours, theirs, "knowledge", decide=lambda _: "- deux\n- dos")
    assert text_of(other.document) == change(LIST, ("- two", "- deux\n- dos"))
    with pytest.raises(ConflictError, match="cannot be written there"):
        run(LIST, ours, theirs, "knowledge", decide=lambda _: "```\n")


def test_an_undo_takes_back_its_own() -> None:
    """What came after a change stays when it is taken back; where both touched the same there is a conflict."""
    before, after = parse(FILE.encode()), parse(change(FILE, ("due: 1", "due: 3"), (B, NEW + B)).encode())
    current = parse(text_of(after).replace("notes: x", "notes: later").encode())
    result = merge(after, before, current, "tasks", strict=True)
    assert (text_of(result.document), result.conflicts) == (change(FILE, ("notes: x", "notes: later")), ())
    edited = parse(text_of(after).replace("### New\n", "### New\n- due: 9\n").encode())
    asked = merge(after, before, edited, "tasks", strict=True)
    assert [(one.what, one.entry, one.ours) for one in asked.conflicts] == [("entry", "New", None)]
    other = parse(text_of(after).replace("due: 3", "due: 4").encode())
    assert [one.field for one in merge(after, before, other, "tasks", strict=True).conflicts] == ["due"]


Versions = tuple[Document, Document, Document]


def large(count: int) -> Versions:
    """Return so many tasks in three sections, and what two writers made of them."""
    task = "### [HIGH] Task {} {}\n- due: 2024-01-15\n- assigned: x\n- created: 2024-01-01\n- notes: some words\n\n"
    parts = (
        f"## {name}\n\n" + "".join(task.format(number, name) for number in range(count // 3))
        for name in ("Pending", "In Progress", "Completed")
    )
    base = parse(("---\ntype: x\n---\n" + "".join(parts)).encode())
    ours = base.replace_entry(0, 5, base.sections[0].entries[5].set_field("due", "2024-02-02"))
    ours = ours.insert_entry(1, 0, Entry.compose("New", "- created: 2024-01-02"))
    theirs = parse(base.dump().replace(b"assigned: x", b"assigned: y", 1))
    other = theirs.sections[2].entries[count // 4].with_title("Other")
    return base, ours, theirs.remove_entry(1, 100).replace_entry(2, count // 4, other)


def test_costs_in_proportion_up_to_20_000_tasks() -> None:
    """Also where the versions share no objects."""

    def merge_all(versions: Versions) -> None:
        result = merge(*versions, "tasks")
        assert (result.conflicts, result.kept) == ((), ())
        assert sum(map(len, result.document.sections)) == sum(map(len, versions[0].sections))

    assert_in_proportion(large, merge_all, 2_500)
