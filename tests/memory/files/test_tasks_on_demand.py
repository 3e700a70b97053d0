"""Tasks that are made when asked for: one that takes over what it knew answers as one that reads the file anew."""

from __future__ import annotations

from datetime import datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from memory.document import Document, parse
from memory.document.rescan import updated
from memory.files.snapshot import Snapshot, Views
from memory.files.status import Brief, brief
from memory.files.tasks.model import TaskList, read_tasks
from tests.examples import examples
from tests.memory_files import NOW, TextFiles
from tests.patience import join

POOL = (
    "### [HIGH] Same\n- created: 2024-01-02\n- due: 2024-01-15T11:00:00Z\n",
    "### Same\n- created: 2024-01-02\n- due: 2024-01-15T13:00:00Z\n",
    "### Same\n- created: 2024-01-02\n",
    "### [LOW] Weekly\n- due: (recurring: 0 9 * * 1)\n- created: 2024-01-01\n",
    "### Weekly\n- due: 2024-01-14 (recurring: 0 9 * * 1)\n- created: 2024-01-01\n- completed: 2024-01-14T09:00:00Z\n",
    "### Today\n- due: 2024-01-15\n- progress: 40\n",
    "### Tomorrow\n- due: 2024-01-16 (a remark)\n",
    "### Next week\n- due: 2024-01-23\n",
    "### Never\n- due: 2024-02-31\n",
    "### Wrong\n- due: soon\n\n```\n- due: 2024-01-01\n```\n",
    "### [NORMAL] Daily\n- due: (recurring: 30 6 * * *)\n",
    "### Nothing\n",
)
SECTIONS = ("## Pending", "## In Progress", "## Completed (last 7 days)", "## Ideas", "## Pending")

FILES = st.lists(st.lists(st.integers(0, len(POOL) - 1), max_size=7), min_size=1, max_size=len(SECTIONS))
"""The entries of each section."""
STEPS = st.lists(
    st.tuples(
        st.sampled_from(("add", "remove", "move", "edit", "swap")),
        st.integers(0, 99),
        st.integers(0, 99),
        st.booleans(),
    ),
    max_size=5,
)


def source(sections: list[list[str]]) -> bytes:
    """Return the file of some entries by section."""
    parts = [f"{heading}\n\n{''.join(found)}" for heading, found in zip(SECTIONS, sections, strict=False)]
    return ("---\ntype: task-list\n---\n\n" + "".join(parts)).encode()


def edited(sections: list[list[str]], step: tuple[str, int, int, bool]) -> list[list[str]]:
    """Return the entries after one edit of another program."""
    what, one, other, _ = step
    found = [list(entries) for entries in sections]
    entries = found[one % len(found)]
    if what == "add":
        entries.insert(other % (len(entries) + 1), POOL[other % len(POOL)])
    elif entries and what == "remove":
        del entries[other % len(entries)]
    elif entries and what == "move":
        found[other % len(found)].insert(0, entries.pop(other % len(entries)))
    elif entries and what == "edit":
        entries[other % len(entries)] = entries[other % len(entries)].replace("\n", f" {one}\n", 1)
    elif entries and what == "swap":
        entries[other % len(entries)] = POOL[one % len(POOL)]
    return found


def told(tasks: TaskList) -> list[object]:
    """Return all that a list says of its tasks, in file order."""
    return [(task.json(), task.at, task.heading, task.long_hex, task.entry.raw) for task in tasks.tasks]


def said(found: Brief) -> list[object]:
    """Return all that Brief says of tasks."""
    groups = (found.overdue, found.due_today, found.due_week, found.in_progress)
    return [*([task.json() for task in group] for group in groups), found.next_runs, found.counts["tasks"]]


@settings(max_examples=examples(300))
@given(FILES, STEPS, st.lists(st.integers(0, 40), max_size=5))
def test_what_is_taken_over_is_what_a_look_at_the_file_alone_finds(
    start: list[list[int]], steps: list[tuple[str, int, int, bool]], asked: list[int]
) -> None:
    """Tasks, Brief and next runs are the same after each edit, whatever was asked before and while time passes."""
    sections = [[POOL[number] for number in entries] for entries in start]
    views, document, now = Views(), parse(source(sections)), NOW
    for step in (None, *steps):
        if step is not None:
            sections = edited(sections, step)
            document = updated(document, source(sections))
            now += timedelta(hours=step[2]) if step[3] else timedelta()
        kept = Snapshot(TextFiles({"tasks.md": document}), lambda: NOW.tzinfo, views)
        fresh = Snapshot(TextFiles({"tasks.md": parse(source(sections))}), lambda: NOW.tzinfo)
        tasks = kept.tasks
        some = [tasks.tasks[number % len(tasks)] for number in asked if len(tasks)]
        first = [(task.ref, task.title, task.section) for task in some]
        assert said(brief(kept, now)) == said(brief(fresh, now))
        for name in ("pending", "in-progress", "completed"):
            assert [task.ref for task in tasks.in_section(name)] == [task.ref for task in fresh.tasks.in_section(name)]
        assert told(tasks) == told(fresh.tasks)
        assert [(task.ref, task.title, task.section) for task in some] == first
        assert all(task is tasks.tasks[number % len(tasks)] for task, number in zip(some, asked, strict=False))


@settings(max_examples=examples(60))
@given(FILES, STEPS)
def test_a_list_that_was_read_before_says_what_it_said(
    start: list[list[int]], steps: list[tuple[str, int, int, bool]]
) -> None:
    """What later looks take over changes nothing in the tasks of earlier ones."""
    sections = [[POOL[number] for number in entries] for entries in start]
    views, document = Views(), parse(source(sections))
    before: list[tuple[TaskList, list[object]]] = []
    for step in (None, *steps):
        sections = sections if step is None else edited(sections, step)
        document = updated(document, source(sections))
        tasks = views.get("tasks.md", document, read_tasks)
        before.append((tasks, told(read_tasks("tasks.md", parse(source(sections))))))
        for earlier, words in before:
            assert told(earlier) == words


def test_one_task_and_all_tasks_are_the_same_objects_in_every_order() -> None:
    """A task that was asked for alone is the one of the whole list, of its section, and of what is picked."""
    text = "## Pending\n" + "".join(f"### Task {number}\n" for number in range(40)) + "## Completed\n### Done\n"
    tasks = read_tasks("tasks.md", parse(text.encode()))
    alone = [tasks.tasks[7], tasks.in_section("pending")[9], *tasks.in_section("completed"), tasks.tasks[-2]]
    picked = tasks.tasks.pick([40, 9, 7])
    assert [task.title for task in picked] == ["Done", "Task 9", "Task 7"]
    every = list(tasks.tasks)
    assert [every[7], every[9], every[40], every[39]] == alone
    assert list(picked) == [every[40], every[9], every[7]]
    assert list(tasks.tasks[5:8].pick([2])) == [every[7]]
    assert tasks.tasks[5:8].entries == tuple(task.entry for task in every[5:8])
    assert len(tasks.tasks) == 41


def test_threads_that_ask_at_the_same_time_get_the_same_tasks() -> None:
    """Some ask for one after the other and some for all; each task is one object."""
    from threading import Barrier, Thread

    text = "## Pending\n" + "".join(f"### Task {number}\n" for number in range(300))
    for _ in range(20):
        tasks, gate = read_tasks("tasks.md", parse(text.encode())).tasks, Barrier(4)
        found: list[list[object]] = []

        def ask(step: int, tasks: object = tasks, gate: Barrier = gate, found: list[list[object]] = found) -> None:
            gate.wait()
            found.append([tasks[number] for number in range(300)][::step] if step else list(tasks))  # type: ignore

        threads = [Thread(target=ask, args=(step,)) for step in (1, 1, 0, 0)]
        for thread in threads:
            thread.start()
        for thread in threads:
            join(thread)
        assert all(one is other for row in found for one, other in zip(row, found[0], strict=True))


def test_a_snapshot_keeps_its_tasks_whatever_others_read() -> None:
    """A newer snapshot reads other tasks of the same file; the older one returns the same objects again."""
    views = Views()

    def look(text: str) -> Snapshot:
        return Snapshot(TextFiles({"tasks.md": parse(text.encode())}), lambda: NOW.tzinfo, views)

    older, newer = look("## Pending\n### a\n"), look("## Pending\n### a\n### b\n")
    before = list(older.tasks.tasks)
    assert len(newer.tasks) == 2
    assert all(one is other for one, other in zip(older.tasks.tasks, before, strict=True))
    assert older.readable().tasks is older.readable().tasks


def test_threads_that_read_one_file_at_once_get_one_view() -> None:
    """While one thread reads the tasks another one does so, too: both get the tasks that were read first."""
    from threading import Thread

    snapshot = Snapshot(TextFiles({"tasks.md": parse(b"## Pending\n### a\n")}), lambda: NOW.tzinfo, Views())
    found: list[TaskList] = []

    def reading(name: str, document: Document) -> TaskList:
        other = Thread(target=lambda: found.append(snapshot.view("tasks.md", read_tasks)))
        other.start()
        join(other)
        return read_tasks(name, document)

    assert snapshot.view("tasks.md", reading) is found[0] is snapshot.tasks


def test_a_task_becomes_overdue_with_the_time_alone() -> None:
    """The same document says other things an hour later."""
    look = Snapshot(TextFiles({"tasks.md": parse(b"## Pending\n" + POOL[1].encode())}), lambda: NOW.tzinfo, Views())
    assert [len(group) for group in (brief(look, NOW).overdue, brief(look, NOW).due_today)] == [0, 1]
    later: datetime = NOW + timedelta(hours=2)
    assert [task.title for task in brief(look, later).overdue] == ["Same"]
