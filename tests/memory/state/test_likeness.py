"""Texts that say the same, lists in which each thing stands once, and groups of events."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.state.files.model import SIGNALS
from memory.state.recall.grouping import group_events, topic
from memory.state.recall.likeness import (
    ALIKE,
    merge_gotchas,
    merge_lines,
    merge_next_steps,
    normalise,
    overlap,
)
from tests.growth import assert_in_proportion

WORDS = ["red", "green", "blue", "cat", "dog", "bird", "runs", "sleeps", "eats", "fast", "slow"]
texts = st.lists(st.sampled_from(WORDS), max_size=7).map(" ".join) | st.sampled_from(["", "!", "?!", "Red-green!"])
entries = st.fixed_dictionaries({"title": texts, "symptom": texts, "cause": texts, "correctPath": texts})
steps = st.fixed_dictionaries({"title": texts, "why": texts, "start": texts, "done": texts})


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("  Don't_PANIC -- 42! ", "don t panic 42"),
        ("Größe/ÄÖ", "größe äö"),
        ("日本 語", "日本 語"),
        ("--", ""),
        ("`src/a.py`", "src a py"),
    ],
)
def test_normalise(text: str, normal: str) -> None:
    """Normal text is lower case, with a space for each run of other than letters and digits."""
    assert normalise(text) == normal


@pytest.mark.parametrize(
    ("one", "other", "share"),
    [("a b c d e", "e d c b a", 1.0), ("a b c d", "a b c d e", 0.8), ("a a a", "a", 1.0), ("a", "b", 0), ("", "", 0)],
)
def test_overlap(one: str, other: str, share: float) -> None:
    """The overlap is the common words by the larger set of words."""
    assert overlap(one, other) == pytest.approx(share)
    assert overlap(other, one) == pytest.approx(share)


def gotcha(title: str, cause: str = "x", way: str = "y", symptom: str = "z") -> dict[str, str]:
    """Return a gotcha."""
    return {"title": title, "symptom": symptom, "cause": cause, "correctPath": way}


@pytest.mark.parametrize(
    ("one", "other", "merged"),
    [
        (gotcha("Clock skew!"), gotcha("clock skew", "other", "words"), True),
        (gotcha("the clock of hosts drifts", "no ntp here"), gotcha("clock of hosts drifts", "here no ntp", "u"), True),
        (gotcha("the clock of hosts drifts", "a", "use utc"), gotcha("clock of hosts drifts", "b", "UTC, use!"), True),
        (gotcha("the clock of hosts drifts", "a", "b"), gotcha("clock of hosts drifts", "c", "d"), False),
        (gotcha("clock", "same", "same"), gotcha("time", "same", "same"), False),
        (gotcha("Phase 1", "same", "same"), gotcha("Phase 2", "same", "same"), False),
        (gotcha("!", "a", "b"), gotcha("?", "a", "b"), False),
    ],
)
def test_gotchas(one: dict[str, str], other: dict[str, str], merged: bool) -> None:
    """Gotchas merge on equal titles, or like titles with a like cause or correct path; the longer text stays."""
    result = merge_gotchas([one, other])
    assert (len(result.items) == 1) is merged
    assert len(result.absorbed) == int(merged)
    if merged:
        assert result.items[0] == {key: max(one[key], other[key], key=len) for key in one}


def test_next_steps() -> None:
    """Next steps with equal titles merge only if start or end are alike too."""
    step = {"title": "Retry feeds", "why": "w", "start": "open fetch", "done": "tests pass"}
    assert len(merge_next_steps([step, {**step, "start": "other words"}]).items) == 1
    assert len(merge_next_steps([step, {**step, "start": "other words", "done": "never ever"}]).items) == 2


@pytest.mark.parametrize(
    ("lines", "kept", "absorbed"),
    [
        (["Use UTC.", "use utc"], ["Use UTC."], [("use utc", "Use UTC.")]),
        (["Use UTC", "Always use UTC in logs"], ["Always use UTC in logs"], [("Use UTC", "Always use UTC in logs")]),
        (["test", "the latest one"], ["test", "the latest one"], []),
        (["a b c d e", "x", "a b c d e f"], ["a b c d e f", "x"], [("a b c d e", "a b c d e f")]),
        (["!", "?", "!"], ["!", "?"], []),
        (["same", "same"], ["same"], []),
    ],
)
def test_lines(lines: list[str], kept: list[str], absorbed: list[tuple[str, str]]) -> None:
    """Lines that are equal, alike, or contain each other in whole words stand once, the longer first."""
    result = merge_lines(lines)
    assert result.items == kept
    assert [tuple(one) for one in result.absorbed] == absorbed


def says_same(one: str, other: str) -> bool:
    """Return whether two lines say the same: equal, one containing the other's words in sequence, or alike."""
    mine, theirs = normalise(one), normalise(other)
    if not mine or not theirs:
        return one.strip() == other.strip()
    return f" {mine} " in f" {theirs} " or f" {theirs} " in f" {mine} " or overlap(one, other) >= ALIKE


@given(st.lists(texts, max_size=12))
def test_lines_against_every_pair(lines: list[str]) -> None:
    """No two merged lines say the same, all of them were there, nothing is lost, and merging again changes nothing."""
    result = merge_lines(lines)
    assert not any(says_same(one, other) for one, other in combinations(result.items, 2))
    assert set(result.items) <= set(lines)
    assert merge_lines(result.items).items == result.items
    assert set(lines) <= {*result.items, *(one.text for one in result.absorbed)}


@given(st.lists(entries, max_size=8))
def test_gotchas_against_every_pair(items: list[dict[str, str]]) -> None:
    """The index finds what a look at every pair finds: no two merged gotchas are the same."""
    result = merge_gotchas(items).items
    for one, other in combinations(result, 2):
        equal = normalise(one["title"]) == normalise(other["title"]) and normalise(one["title"])
        alike = overlap(one["title"], other["title"]) >= ALIKE and any(
            overlap(one[key], other[key]) >= ALIKE for key in ("cause", "correctPath")
        )
        assert not equal
        assert not alike
    assert merge_gotchas(result).items == result


@given(st.lists(steps, max_size=8))
def test_steps_against_every_pair(items: list[dict[str, str]]) -> None:
    """The index finds what a look at every pair finds: no two merged steps are the same."""
    result = merge_next_steps(items).items
    for one, other in combinations(result, 2):
        assert overlap(one["title"], other["title"]) < ALIKE or not any(
            overlap(one[key], other[key]) >= ALIKE for key in ("start", "done")
        )
    assert merge_next_steps(result).items == result


def event(
    number: int, time: str = "2026-01-01T00:00:00.000Z", kind: str = "imported_session", **signals: list[str]
) -> dict:
    """Return an event with some signals."""
    return {
        "id": f"evt-{number:06d}",
        "kind": kind,
        "sourceId": "local" if kind == "tool_run" else f"source-{number % 2}",
        "createdAt": time,
        "summary": "s" * number,
        "signals": {name: signals.get(name, []) for name in SIGNALS},
    }


@pytest.mark.parametrize(
    ("one", "other", "grouped"),
    [
        ({"gotchas": ["Clock skew: a"]}, {"gotchas": ["clock-skew: b"]}, True),
        ({"nextStepHints": ["NEXT: Retry: a"]}, {"nextStepHints": ["DONE: retry"]}, True),
        ({"gotchas": ["Retry: a"]}, {"nextStepHints": ["NEXT: Retry"]}, False),
        ({"keyPaths": ["a.py"], "decisions": ["Use x"]}, {"keyPaths": ["a.py"], "decisions": ["use X!"]}, True),
        (
            {"keyPaths": ["a.py"], "validationObservations": ["ok"]},
            {"keyPaths": ["a.py"], "validationObservations": ["OK"]},
            True,
        ),
        ({"keyPaths": ["a.py"]}, {"keyPaths": ["a.py"]}, False),
        ({"decisions": ["Use x"]}, {"decisions": ["Use x"]}, False),
        ({"keyPaths": ["a.py"], "decisions": ["x"]}, {"keyPaths": ["a.py"], "decisions": ["y"]}, False),
        ({"keyPaths": ["a.py"], "decisions": ["x"]}, {"keyPaths": ["b.py"], "decisions": ["x"]}, False),
        ({"gotchas": [": a"]}, {"gotchas": [": b"]}, False),
    ],
)
def test_groups(one: dict[str, list[str]], other: dict[str, list[str]], grouped: bool) -> None:
    """Events are grouped by a shared topic, or by a path with a decision or validation; never by a path alone."""
    assert len(group_events([event(1, **one), event(2, **other)])) == (1 if grouped else 2)


def test_group_contents() -> None:
    """A group has the order of times, both labels as mixed, the longest summary, and each signal once."""
    events = [
        event(3, "2026-01-03T00:00:00.000Z", gotchas=["Skew: hosts drift apart"], keyPaths=["src", "src/a.py"]),
        event(1, "2026-01-02T00:00:00.000Z", "tool_run", gotchas=["Skew: hosts drift"], keyPaths=["src"]),
        event(2, "soon", decisions=["x"]),
        event(4, "2026-02-01T00:00:00+01:00"),
    ]
    first, second, third = group_events(events)
    assert (first.id, first.event_ids) == ("grp-000001", ("evt-000004",))
    assert (second.label, second.event_ids) == ("mixed", ("evt-000001", "evt-000003"))
    assert second.source_ids == ("local", "source-1")
    assert (second.first, second.last) == ("2026-01-02T00:00:00.000Z", "2026-01-03T00:00:00.000Z")
    assert second.summary == "sss"
    assert second.signals["gotchas"] == ("Skew: hosts drift apart",)
    assert second.signals["keyPaths"] == ("src", "src/a.py")
    assert (third.first, third.last, third.label) == (None, None, "imports")


def test_topic() -> None:
    """The topic is what is before the first colon, without the marker."""
    assert [topic(text) for text in ("NEXT: Retry feeds: now", "DONE:Retry feeds", "Retry feeds!")] == [
        "retry feeds"
    ] * 3


@given(st.permutations(range(6)))
def test_order_of_events_does_not_matter(order: list[int]) -> None:
    """The same events in another order give the same groups."""
    events = [
        event(
            n,
            f"2026-01-0{n + 1}T00:00:00.000Z",
            gotchas=[f"Topic {n % 3}: x"],
            keyPaths=["a"],
            decisions=[f"d{n // 4}"],
        )
        for n in range(6)
    ]
    expected = [group.event_ids for group in group_events(events)]
    assert [group.event_ids for group in group_events([events[place] for place in order])] == expected


def lines_of(size: int) -> list[str]:
    """Return lines of many kinds: different ones, families that differ in two words, and some that are the same."""
    chance = random.Random(size)
    vocabulary = [f"word{number}" for number in range(size)]
    different = [" ".join(chance.sample(vocabulary, 8)) for _ in range(size)]
    family = [f"decision {number} of {number * 7} is open" for number in range(size)]
    return [*different, *family, *different[: size // 10]]


def test_cost_of_lines() -> None:
    """Merging lines takes time in proportion to their number."""
    assert_in_proportion(lines_of, merge_lines, 400)


def test_cost_of_gotchas() -> None:
    """Merging gotchas takes time in proportion to their number, also where all titles are alike."""

    def make(size: int) -> list[dict[str, str]]:
        chance = random.Random(size)
        vocabulary = [f"word{number}" for number in range(size)]
        return [
            gotcha(f"the feed number {number} of mine is slow", *(" ".join(chance.sample(vocabulary, 8)) for _ in "ab"))
            for number in range(size)
        ]

    assert_in_proportion(make, merge_gotchas, 300)


def test_cost_of_groups() -> None:
    """Grouping takes time in proportion to the number of events."""

    def make(size: int) -> list[dict]:
        return [
            event(
                n, gotchas=[f"Topic {n % (size // 3)}: x"], keyPaths=["a.py", f"{n}.py"], decisions=[f"d {n}", "common"]
            )
            for n in range(size)
        ]

    assert_in_proportion(make, group_events, 400)
