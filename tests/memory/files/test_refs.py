"""Refs: derived from what an entry is, stable while it moves, longer where twins need it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.errors import AmbiguousError
from memory.files.find import find_task
from memory.files.refs import read_ref, tell_apart
from tests.memory_files import snapshot_of

TWINS = """\
## Pending
### [HIGH] Same
- created: 2024-01-01
### [LOW] Same
- created: 2024-01-01
### Deploy
### Deploy v2
## Completed
### Same
- created: 2024-01-01
- completed: 2024-01-02
### Same
- created: 2024-01-02
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tasks#3fa94c1", ("tasks", "3fa94c1")),
        ("3FA94C1B2D", (None, "3fa94c1b2d")),
        (" tasks#3fa94c1 ", ("tasks", "3fa94c1")),
        ("archive/tasks-2024-01#3fa94c1", ("archive/tasks-2024-01", "3fa94c1")),
        ("3fa94c", None),
        ("tasks#", None),
        ("tasks#3fa94c1 now", None),
        ("issue #1234567", None),
        ("", None),
    ],
)
def test_a_ref_is_a_kind_and_at_least_seven_hex_digits(text: str, expected: tuple[str | None, str] | None) -> None:
    """Refs are told from titles by their form alone."""
    assert expected == read_ref(text)


@given(st.lists(st.sampled_from([b"", b"2024-01-14", b"2024-01-15"]), min_size=1, max_size=60))
def test_twins_never_share_a_long_ref(marks: list[bytes]) -> None:
    """Every twin has digits of its own, and they begin with the identity's."""
    digits = tell_apart("0123456789", marks)
    assert len(set(digits)) == len(marks)
    assert all(one.startswith("0123456789") and len(one) >= 18 for one in digits)


@given(st.lists(st.sampled_from([b"a", b"b", b"c"]), min_size=1, max_size=12), st.data())
def test_a_long_ref_never_passes_to_what_says_something_else(marks: list[bytes], data: st.DataObject) -> None:
    """Whatever twins come, go and change places, digits that still mean one mean one that says the same."""
    later = data.draw(st.permutations(marks)) + data.draw(st.lists(st.sampled_from([b"a", b"d"]), max_size=3))
    later = later[data.draw(st.integers(0, len(later) - 1)) :]
    before = dict(zip(tell_apart("0123456789", marks), marks, strict=True))
    for digits, mark in zip(tell_apart("0123456789", later), later, strict=True):
        assert before.get(digits, mark) == mark


def test_twins_have_longer_refs_and_each_is_addressable() -> None:
    """A ref that fits several entries is refused with the candidates; each candidate's ref finds its entry."""
    snapshot = snapshot_of({"tasks.md": TWINS})
    twins = [task for task in snapshot.tasks if task.title == "Same" and task.created == "2024-01-01"]
    short = "tasks#" + twins[0].identity
    with pytest.raises(AmbiguousError) as caught:
        find_task(snapshot, short)
    assert caught.value.code == "task.ambiguous"
    refs = [candidate["ref"] for candidate in caught.value.details["candidates"]]
    assert [task.ref for task in twins] == refs
    assert [task.at for task in twins] == [find_task(snapshot, ref).at for ref in refs]
    assert [task.at for task in twins] == [find_task(snapshot, ref.partition("#")[2]).at for ref in refs]


def test_equal_tasks_of_two_archives_are_told_apart_by_the_file() -> None:
    """Where everything agrees, candidates name the archive in front of the digits, and that finds the task."""
    text = "## Completed\n### Same\n- completed: 2024-01-31\n"
    snapshot = snapshot_of({"archive/tasks-2024-01.md": text, "archive/tasks-2024-02.md": text})
    with pytest.raises(AmbiguousError) as caught:
        find_task(snapshot, "Same", archived=True)
    files = {
        find_task(snapshot, candidate["ref"], archived=True).file for candidate in caught.value.details["candidates"]
    }
    assert {"archive/tasks-2024-01.md", "archive/tasks-2024-02.md"} == files
