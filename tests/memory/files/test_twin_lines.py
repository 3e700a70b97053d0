"""Whether a title stands in a file twice is told from its lines, and never misses a twin."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory.document import parse
from memory.files.tasks.model import TaskList, may_have_twin, twin_words, twins_of

TITLES = st.sampled_from(
    [
        "Buy stamps",
        "buy  STAMPS",
        "Ｂuy stamps",
        "Buy stamps now",
        "Straße",
        "STRASSE",
        "測試 x",
        "x",
        "X",
        "\x1bé x",
        "[x]",
    ]
)
HEADS = st.sampled_from(["### ", "### [HIGH] ", "### [low]  ", "- notes: ", "```\n### "])


@given(st.lists(st.tuples(HEADS, TITLES), max_size=8), TITLES, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_no_twin_is_missed(others: list[tuple[str, str]], title: str, newline: str, ended: bool) -> None:
    """Where the lines say that there is no twin, there is none among the tasks."""
    lines = ["## Pending", f"### [NORMAL] {title}", *("".join(one) for one in others)]
    text = "\n".join(lines).replace("\n", newline) + (newline if ended else "")
    document = parse(text.encode())
    tasks = TaskList("tasks.md", document)
    if not may_have_twin(document, f"[NORMAL] {title}"):
        assert len(twins_of(tasks.tasks, title)) == 1
        assert not twin_words(twins_of(tasks.tasks, title)[1:], title)


def test_a_title_of_its_own_is_told_from_the_lines() -> None:
    """A title that stands once, beside others and in a field, is known to have no twin."""
    document = parse(b"## Pending\n\n### [HIGH] Buy stamps\n- notes: buy stamps\n\n### other \xc3\xa9\n\n### Buy milk")
    assert not may_have_twin(document, "[HIGH] Buy stamps")
    assert may_have_twin(parse(document.dump() + b"\n### [LOW] buy  Stamps"), "[HIGH] Buy stamps")


@given(
    st.sampled_from(["", "\ufeff", "---\ntype: task-list\n---\n"]),
    st.lists(
        st.tuples(st.sampled_from(["## Pending\n", "## Completed\n", "## Ideas\n", ""]), HEADS, TITLES), max_size=8
    ),
    st.sampled_from(["\n", "\r\n"]),
    TITLES,
)
def test_a_title_finds_all_tasks_that_have_it(
    front: str, parts: list[tuple[str, str, str]], newline: str, title: str
) -> None:
    """The tasks that the bytes of a file leave are all of a title, in their order."""
    text = front + "".join(f"{section}{head}{name}\n- created: 2024-01-01\n" for section, head, name in parts)
    tasks = TaskList("tasks.md", parse(text.replace("\n", newline).encode()))
    assert [task for task in tasks.spelled(title) if task.title == title] == [
        task for task in tasks if task.title == title
    ]


def test_one_task_is_found_by_its_title_without_reading_the_others() -> None:
    """Of a section that has nothing of the title no entry is cut out, neither for the task nor for its ref."""
    document = parse(b"## Pending\n\n### Buy stamps\n\n### Ring Ann \xc3\xa9\n\n## Completed\n\n### Buy milk\n")
    tasks = TaskList("tasks.md", document)
    likely = tasks.spelled("Buy stamps")
    assert len(likely) == 1
    found = likely[0]
    assert (found.title, found.at) == ("Buy stamps", (0, 0))
    assert found.ref == TaskList("tasks.md", parse(document.dump())).ref_of(0)
    assert [section._entries is None for section in document.sections] == [False, True]
    assert found is tasks.tasks[0]
