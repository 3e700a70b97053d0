"""What a filter's text means: phrases and what must not fit, and that every way of typing it leaves the same."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import examples
from tests.widgets.panes.looking import NOW, look
from widgets.list.rows import Heading
from widgets.pane.filter import FilterPart, Fits, Needles, parts_of, strange_words
from widgets.pane.rows import RowKey, keep
from widgets.pane.visible_rows import FilterCache, narrows
from widgets.panes.tasks.pane import TasksPane

NAMES = ("title", "tag", "due", "priority")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Deploy now", [FilterPart("deploy"), FilterPart("now")]),
        ("-draft", [FilterPart("draft", without=True)]),
        ("-", [FilterPart("-")]),
        ("a -> b --force", [FilterPart("a"), FilterPart("->"), FilterPart("b"), FilterPart("--force")]),
        ("-tag:bulk", [FilterPart("bulk", "tag", without=True)]),
        ("-tag:", [FilterPart("", "tag", without=True)]),
        ("-colour:red", [FilterPart("colour:red", without=True)]),
        ('"Deploy v2.1" x', [FilterPart("deploy v2.1", phrase=True), FilterPart("x")]),
        ('-"Deploy v2.1"x', [FilterPart("deploy v2.1", without=True, phrase=True), FilterPart("x")]),
        ('"to the end', [FilterPart("to the end", phrase=True)]),
        ('pri:"a b" x', [FilterPart("a b", "priority", phrase=True), FilterPart("x")]),
        ('-tag:"a', [FilterPart("a", "tag", without=True, phrase=True)]),
        ('colour:"a b', [FilterPart('colour:"a'), FilterPart("b")]),
        ('12" pipe', [FilterPart('12"'), FilterPart("pipe")]),
        ('"tag:a -b"', [FilterPart("tag:a -b", phrase=True)]),
        ('"', [FilterPart("", phrase=True)]),
    ],
)
def test_the_parts_of_a_filter(text: str, expected: list[FilterPart]) -> None:
    """A minus right before something leaves it out, quotes hold words together, and both are letters elsewhere."""
    assert list(parts_of(text, NAMES)) == expected


def test_only_what_looks_like_a_field_is_called_strange() -> None:
    """What stands in quotes is text; a field with a minus is asked for its name like any other."""
    assert strange_words('"colour: red" -pry:high', NAMES) == "pry: is no field"


TITLES = ("ab", "a b", "b a-b", 'say "a b"', "-a", "b", "c")
TAGS = ("a", "b, ab", "")


@cache
def the_pane() -> tuple[TasksPane, tuple[object, ...]]:
    """A pane of tasks with every title and every tag, and its rows below a heading that counts them."""
    entries = [
        f"### [{('LOW', 'HIGH')[number % 2]}] {title}\n" + (f"- tags: {tag}\n" if tag else "") + "\n"
        for number, (title, tag) in enumerate((title, tag) for title in TITLES for tag in TAGS)
    ]
    pane = TasksPane()
    snapshot = look({"tasks.md": "## Pending\n\n" + "".join(entries)})
    pane.now, pane.zone = NOW, snapshot.zone
    tasks = snapshot.tasks.in_section("pending")
    return pane, (Heading("PENDING", str(len(tasks))), *(RowKey(task, number) for number, task in enumerate(tasks)))


TYPED = st.lists(
    st.sampled_from(("a", "b", " ", "-", '"', "tag:", "priority:", "h", "due:", "back", "back", "clear")), max_size=24
)


@settings(deadline=None, max_examples=examples(300))
@given(TYPED, st.integers(0, 3))
def test_the_way_of_typing_changes_nothing(keys: list[str], seen: int) -> None:
    """After any keys, also where a look stopped, the sieve leaves what one look at every row leaves."""
    pane, rows = the_pane()
    sieve, text = FilterCache(rows), ""
    for key in keys:
        text = "" if key == "clear" else text[:-1] if key == "back" else text + key
        needles = Needles.read(text, pane.filter_fields)
        step = sieve.step(text, lambda one, other: narrows(one, other, pane.filter_fields, pane.judged_fields))
        if len(text) % 4 == seen:
            continue
        step.sift(Fits(needles, pane).rows)
        assert sieve.keys_of(step) == keep(rows, lambda row: needles.fit(row, pane)), text  # noqa: B023
        rows_alone = [row for row in rows if isinstance(row, RowKey)]
        pairs = Fits(needles, pane).pairs((row.item, row) for row in rows_alone)
        assert pairs == [(row.item, row) for row in rows_alone if needles.fit(row, pane)]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("-d", "-de", False),
        ("de -d", "dep -d", True),
        ("-de", "-d", True),
        ("-", "-d", False),
        ('"a', '"a b', True),
        ('"a b', '"a b"', True),
        ('"a b"', "a b", False),
        ('tag:"a', 'tag:"a b', True),
        ("-tag:a", "-tag:ab", False),
        ("-tag:ab", "-tag:", True),
        ("-due:f", "-due:fri", False),
        ("-due:fri", "-due:", False),
        ("de", 'de "', True),
    ],
)
def test_what_narrows(before: str, after: str, expected: bool) -> None:
    """A longer phrase leaves less, a longer word that must not occur leaves more, and nobody knows of days."""
    assert narrows(before, after, NAMES, ("due",)) == expected
