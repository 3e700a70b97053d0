"""The rows of a list of tasks say what the tasks say, however their entries are written."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory.document import Entry, parse
from memory.files.tasks.model import read_tasks
from memory.files.tasks.values import Head, read_row

TITLES = st.sampled_from(
    [
        "[HIGH] Ship it",
        "[low] small",
        "[NORMAL]  two blanks",
        "Pay für Öl",
        "\u00a0blank",
        "# hash #",
        "[",
        "[HIGH]",
        "b\\",
    ]
)
LINES = st.sampled_from(
    [
        "- due: 2024-01-15",
        "- due:",
        "- due:x",
        "-  due: 2024-01-16 09:00  ",
        "- due: 2024-01-15 (recurring: 0 9 * * 1)",
        "- Due: no",
        "- due: recurring: @daily",
        "- assigned: Ann",
        "- assigned: null",
        "-     assigned: code",
        "- assigned: Jörg �",
        "- assigned:",
        "- progress: 40%",
        "- progress: 400",
        "- progress: x",
        "- notes: first",
        "  more of it",
        "\tmore",
        "```",
        "~~~",
        "<div>",
        "</div>",
        "<!-- x",
        "-->",
        "a <b of c",
        "text due: 2024",
        "",
        " ",
        "* due: 2023-01-01",
        "- created: 2024-01-01",
        "- created: 2024-01-01 10:00",
        "- created: 24",
        "- created:",
        "- notes: created: 2024-01-05",
        "- completed: 2024-01-02",
    ]
)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])


@given(TITLES, st.lists(LINES, max_size=8), ENDS, st.booleans())
def test_a_row_says_what_the_task_says(title: str, lines: list[str], end: str, ended: bool) -> None:
    """Priority, title, due, assigned and progress are those of the task, whatever stands around them."""
    text = end.join([f"### {title}", *lines]) + (end if ended else "")
    entry = Entry(text.encode("utf-8", "surrogateescape"))
    document = parse(b"## Pending\n" + entry.raw)
    tasks = read_tasks("tasks.md", document).tasks
    if len(tasks) != 1 or tasks[0].entry.raw != entry.raw:
        return
    task = tasks[0]
    row = read_row(Entry(entry.raw))
    assert (task.priority, task.title, task.due_parts, task.assigned, task.progress) == tuple(row)


def test_a_carriage_return_ends_a_heading_without_words() -> None:
    """A task without a title does not get its first field for one, whatever its lines end with."""
    for end in ("\n", "\r\n", "\r"):
        entry = Entry(f"### {end}- due: 2024-01-15{end}text\n".encode())
        assert (entry.memo(Head).title, entry.fields["due"]) == (entry.title, "2024-01-15")
        assert entry.title == ""


TASKS = """## Pending

### Weekly report
- created: 2024-01-01
- due: 2024-01-15 (recurring: 0 9 * * 1)

### Twin
- created: 2024-01-01

### Twin
- created: 2024-01-01

### Alone
- created: 2024-01-02

## Completed

### Weekly report
- created: 2024-01-01
- due: 2024-01-08 (recurring: 0 9 * * 1)
- completed: 2024-01-08
"""


def test_refs_are_the_same_whether_all_tasks_are_named_at_once() -> None:
    """A list that names all tasks at once calls each of them as one that is asked alone, twins and runs too."""
    one_by_one = read_tasks("tasks.md", parse(TASKS.encode()))
    at_once = read_tasks("tasks.md", parse(TASKS.encode()))
    at_once.list_all()
    assert [task.ref for task in one_by_one] == [task.ref for task in at_once]
    assert len({task.ref for task in at_once}) == 5
