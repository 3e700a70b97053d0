"""The questions of the benchmark: enough of them, each with its answer, and what search makes of them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from bench.places import Places
from bench.recall_part import Question, make_workspace, questions, ways
from memory.systems import records_of_all
from memory.workspace import Workspace

KINDS = {
    "partial",
    "typo",
    "code",
    "shadow",
    "natural",
    "absent",
    "chinese",
    "japanese",
    "accents",
    "newer",
}


def test_the_set_is_whole(tmp_path: Path) -> None:
    """At least 300 entries and 150 questions of every kind, whose answers are there."""
    place = Workspace.open(make_workspace(tmp_path / "a"), state_home=tmp_path / "state")
    titles = [record.title for record in records_of_all(place)]
    assert len(titles) >= 300
    asked = questions()
    assert len(asked) >= 150
    assert {question.kind for question in asked} == KINDS
    assert min(Counter(question.kind for question in asked if question.counts).values()) >= 7
    for question in asked:
        assert question.rank(titles), question


@pytest.mark.thorough
def test_questions_find(tmp_path: Path) -> None:
    """On the half that is not for tuning the mean reciprocal rank is over 80 %; no kind is found worse than by plain
    FTS5.
    """
    found = {name: ask for name, ask in ways(Places(tmp_path)) if name in ("memdeck", "FTS5, OR")}

    def mean(way: str, some: list[Question]) -> float:
        ranks = [question.rank(found[way](question.text)) for question in some]
        return sum(1 / rank for rank in ranks if rank) / len(some)

    assert mean("memdeck", [question for question in questions() if question.counts]) > 0.8
    for kind in KINDS:
        some = [question for question in questions() if question.kind == kind]
        assert mean("memdeck", some) >= mean("FTS5, OR", some), kind
