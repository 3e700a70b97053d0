"""Sections that stand whole before and after a run are told from others, and nothing is hidden behind them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.document.lines import scan
from memory.errors import MemdeckError
from memory.maintenance.conservation import imbalances, verify
from memory.maintenance.same_sections import KnownSections, TextWithOutline, spans
from tests.growth import assert_in_proportion
from tests.memory.maintenance.test_conserve import Count

DAYS = "archive/journal-2024-01.md"
OLD = "archive/journal-2023-12.md"
HEAD = b"---\ntype: journal-archive\nupdated: 1\n---\n\n"
DAY_3 = b"## 2024-01-03\n\n### c\n- 3\n\n"
DAY_2 = b"## 2024-01-02\n\n### a\n- 1\n\n### b\n- 2\n\n"
DAY_1 = b"## 2024-01-01\n\n### a\n- 1\n\n```\n# x\n```\n\n"
DAY_0 = b"## 2023-12-31\n\n### d\n- 4\n"
STOOD = b"## 2024-01-09\n\n### z\n- 9\n\n"
BEFORE = {"journal.md": b"intro\n\n" + DAY_3 + DAY_2 + DAY_1 + DAY_0, DAYS: HEAD + STOOD}
AFTER = {
    DAYS: HEAD + STOOD + DAY_2 + DAY_1,
    OLD: HEAD + DAY_0,
    "journal.md": b"intro\n\n" + DAY_3,
}
RULES = (Count("prune-old-journal", "journal.md", 5, 1, 4),)


def test_whole_days_that_move_balance() -> None:
    """Nothing is said about days that stand in their archives as they stood in the journal."""
    assert imbalances(BEFORE, AFTER, RULES) == []
    verify(BEFORE, AFTER, RULES)


MISTAKES = {
    "a lost day": {DAYS: HEAD + STOOD + DAY_2},
    "a day twice in its archive": {DAYS: HEAD + STOOD + DAY_2 + DAY_2 + DAY_1},
    "a day in two archives": {OLD: HEAD + DAY_1 + DAY_0},
    "a day that stays as well": {"journal.md": b"intro\n\n" + DAY_3 + DAY_2},
    "a day in the archive of another month": {DAYS: HEAD + STOOD + DAY_1, OLD: HEAD + DAY_2 + DAY_0},
    "a changed entry": {DAYS: HEAD + STOOD + DAY_2.replace(b"- 2", b"- 3") + DAY_1},
    "a lost entry": {DAYS: HEAD + STOOD + DAY_2.replace(b"### a\n- 1\n\n", b"") + DAY_1},
    "an archived day gone": {DAYS: HEAD + DAY_2 + DAY_1},
    "an archived entry changed": {DAYS: HEAD + STOOD.replace(b"9\n", b"8\n") + DAY_2 + DAY_1},
    "an open fence before a day": {DAYS: HEAD + b"```\n" + STOOD + DAY_2 + DAY_1},
    "words before the days": {DAYS: HEAD + b"words\n\n" + STOOD + DAY_2 + DAY_1},
    "a day that stays changed": {"journal.md": b"intro\n\n" + DAY_3.replace(b"3\n\n", b"4\n\n")},
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_each_mistake_with_whole_days_is_noticed(mistake: str) -> None:
    """One planted mistake beside days that moved whole is named, and verify refuses the run."""
    after = {**AFTER, **MISTAKES[mistake]}
    assert imbalances(BEFORE, after, RULES)
    with pytest.raises(MemdeckError) as caught:
        verify(BEFORE, after, RULES)
    assert caught.value.code == "maintenance.unbalanced"


def test_a_count_of_whole_days_that_lies_is_noticed() -> None:
    """A rule that tells another number than what moved in whole days is named."""
    assert imbalances(BEFORE, AFTER, (Count("prune-old-journal", "journal.md", 5, 2, 3),))


def test_sections_that_change_places_are_noticed() -> None:
    """Two sections that stay with their bytes, but in another order, are no files that lost entries only."""
    pending, progress = b"## Pending\n\n### p\n\n", b"## In Progress\n\n### q\n\n"
    done = b"## Completed\n\n### r\n\n### s\n"
    archived = b"---\ntype: task-archive\n---\n\n## Completed\n\n### s\n"
    rules = (Count("archive-completed-tasks", "tasks.md", 4, 3, 1),)
    before = {"tasks.md": pending + progress + done}
    good = {"archive/tasks-2024-01.md": archived, "tasks.md": pending + progress + b"## Completed\n\n### r\n"}
    assert imbalances(before, good, rules) == []
    assert imbalances(before, {**good, "tasks.md": progress + pending + b"## Completed\n\n### r\n"}, rules)


def test_words_above_the_entries_of_a_day_may_not_leave_the_journal() -> None:
    """A day with words of its own does not move whole: the words would be lost from the journal."""
    day = b"## 2024-01-02\nwords\n\n### a\n\n"
    before = {"journal.md": DAY_3 + day + DAY_0}
    after = {DAYS: HEAD + day, "journal.md": DAY_3 + DAY_0}
    assert imbalances(before, after, (Count("prune-old-journal", "journal.md", 3, 2, 1),))


LINES = st.sampled_from(
    rb"## a|## b|# c|### d|### e|- x|  ```|```|~~~|<div>|</div>|<!--|-->||  # f|    ```|> q|- ```|#h|---".split(b"|")
)
ENDS = st.sampled_from([b"\n", b"\r\n", b"\r", b"\n\n"])
TEXTS = st.lists(st.tuples(LINES, ENDS), max_size=14).map(lambda found: b"".join(line + end for line, end in found))


@given(TEXTS, st.lists(st.integers(0, 5) | TEXTS, max_size=6), TEXTS)
def test_known_sections_change_nothing_in_what_is_read(before: bytes, pieces: list[int | bytes], more: bytes) -> None:
    """The headings of bytes are the same with and without known sections, whatever is put together of these."""
    outline = scan(before)
    known = KnownSections({"x": TextWithOutline.of(before, outline)})
    parts = [before[span.start : span.end] for span in spans(before, outline)]
    parts += [part.rstrip(b"\r\n") for part in parts]
    texts = [piece if isinstance(piece, bytes) else b"".join(parts[piece : piece + 1]) for piece in pieces]
    data = b"".join(texts) + more
    assert known.read(data, 0).outline == scan(data)


def test_known_sections_are_found_behind_others() -> None:
    """A day that stands as it stood is taken whole behind one that lost entries, and as the last of its file."""
    outline = scan(BEFORE["journal.md"])
    known = KnownSections({"journal.md": TextWithOutline.of(BEFORE["journal.md"], outline)})
    data = b"## 2024-01-03\n\n### new\n\n" + DAY_2 + b"## other\n\n" + DAY_1.rstrip(b"\n") + b"\n"
    text = known.read(data, 0)
    assert text.same == (b"## 2024-01-02", b"## 2024-01-01")
    assert text.outline == scan(data)


def test_a_heading_that_stands_there_very_often_costs_in_proportion() -> None:
    """Sections that differ from the known one of their heading are not all compared with it."""

    def make(size: int) -> tuple[KnownSections, bytes]:
        before = b"## a\n\n" + (b"### b\n" + b"words " * 40 + b"\n") * size + b"## end\n"
        return KnownSections({"x": TextWithOutline.of(before, scan(before))}), b"## a\n\n### b\n\n" * size

    known, data = make(50)
    assert known.read(data, 0).outline == scan(data)
    assert_in_proportion(make, lambda given: given[0].read(given[1], 0), 400)
