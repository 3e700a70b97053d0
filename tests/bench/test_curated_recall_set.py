"""The recall of curated memory on the questions of the bench: what is found, and what is left alone."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from bench.curated_recall import curated_fresh_table, rank, scores, ways
from bench.curated_set import FRESH, read_set
from bench.places import Places


@pytest.mark.parametrize(("names", "entries", "questions"), [((), 150, 300), (FRESH, 55, 65)])
def test_the_sets_are_whole(names: tuple[str, ...], entries: int, questions: int) -> None:
    """Every question has its memory, and no memory has questions in both halves."""
    known = read_set(names) if names else read_set()
    paths = [entry.path for entry in known.entries]
    assert len(set(paths)) == len(paths) >= entries
    assert len(known.questions) >= questions
    assert {asked.path for asked in known.questions} <= set(paths)
    halves = [{asked.path for asked in known.questions if asked.counts is half} for half in (True, False)]
    assert not halves[0] & halves[1]


def test_recall_answers_fresh_questions_and_is_silent_else(tmp_path: Path) -> None:
    """The mean reciprocal rank is 0.75 or more, and 19 of 20 messages that no memory is about get nothing."""
    table = curated_fresh_table(Places(tmp_path))
    line = next(line for line in table.splitlines() if line.startswith("  memdeck"))
    assert int(line.split()[1]) >= 75, table
    assert "nothing for 19 of 20" in table or "nothing for 20 of 20" in table, table


@pytest.mark.thorough
def test_recall_beats_plain_full_text_search(tmp_path: Path) -> None:
    """On the half that is not for tuning recall is above each plain way, for most kinds far above."""
    known = read_set()
    chosen = [asked for asked in known.questions if asked.counts]
    found = {}
    for name, ask in ways(tmp_path / "set", known, 300):
        found[name] = [rank(ask(asked.text), asked.path) for asked in chosen]
    ours, _ = scores(found.pop("memdeck"))
    del found["memdeck, as a message"]
    assert ours > 85
    assert all(ours > scores(ranks)[0] + 5 for ranks in found.values())
    assert min(Counter(asked.kind for asked in chosen).values()) >= 9
