"""Hints about knowledge: what is stale and why, what is said twice, and what must not be called the same."""

from __future__ import annotations

from datetime import UTC, date, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from memory.document import parse
from memory.files.config import value_problem
from memory.files.knowledge.hints import (
    ALIKE,
    MOST,
    STALE_DAYS,
    KnowledgeHints,
    StaleHint,
    hints_of,
    near_twins,
    stale_items,
    words_of,
)
from memory.files.knowledge.model import Knowledge, read_knowledge
from tests.examples import examples
from tests.widgets.panes.looking import look

NOW = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)
TODAY = NOW.date()


def knowledge(*bullets: str, section: str = "Facts") -> Knowledge:
    """Knowledge of one section."""
    text = f"## {section}\n\n" + "".join(f"- {bullet}\n" for bullet in bullets)
    return read_knowledge("knowledge.md", parse(text.encode()))


def twice(*bullets: str) -> dict[str, list[str]]:
    """The texts of items that are said twice, and those of the others."""
    found = knowledge(*bullets)
    twins = near_twins(found.items)
    return {item.text: [twin.item.text for twin in twins[item.ref]] for item in found.items if item.ref in twins}


def hints(front: str, body: str, config: str = "") -> KnowledgeHints:
    """The hints about a file."""
    files = {"knowledge.md": f"---\ntype: knowledge-base\n{front}---\n\n{body}", "config.md": f"## W\n\n{config}"}
    return hints_of(look(files), NOW)


def test_a_date_that_is_too_old_makes_stale() -> None:
    """More than so many days ago, not exactly; dates that do not exist and dates to come say nothing."""
    items = knowledge("2023-07-19: a", "2023-07-18: b", "2023-02-30: c", "2024-05-01: d", "e")
    found = stale_items(items, None, TODAY, 180, UTC)
    assert [item.text for item in items if item.ref in found] == ["b"]
    assert found[items.items[1].ref] == StaleHint(date(2023, 7, 18), 181, "date")
    assert stale_items(items, None, TODAY, 0, UTC) == {}


def test_the_file_speaks_for_what_has_no_date() -> None:
    """A file that was changed lately says nothing about its facts; one that was not says it of all without a date."""
    body = "## A\n\n- one fact\n- 2024-01-10: decided (why)\n"
    assert not hints("updated: 2024-01-14T10:00:00Z\n", body).stale
    old = hints("updated: 2023-01-01\n", body)
    assert old.stale is not None
    assert list(old.stale.values()) == [StaleHint(date(2023, 1, 1), 379, "file")]
    assert not hints("", body).stale
    assert not hints("updated: long ago\n", body).stale


def test_the_limit_is_a_setting() -> None:
    """A number of config.md counts, 0 is never, anything else is the usual; the check says what is no number."""
    body = "## A\n\n- 2023-12-01: decided\n"
    assert not hints("", body).stale
    assert hints("", body, "- knowledgeStaleAfterDays: 30\n").limit == 30
    assert len(hints("", body, "- knowledgeStaleAfterDays: 30\n").stale or ()) == 1
    assert not hints("updated: 2001-01-01\n", body, "- knowledgeStaleAfterDays: 0\n").stale
    assert hints("", body, "- knowledgeStaleAfterDays: soon\n").limit == STALE_DAYS
    assert value_problem("knowledgeStaleAfterDays", "soon") is not None
    assert value_problem("knowledgeStaleAfterDays", "0") is None
    assert value_problem("knowledgeStaleAfterDays", "36501") is not None


def test_the_same_in_other_words_order_and_marks() -> None:
    """Case, marks, order and small words do not matter; a word more or less does not either in a long line."""
    assert twice(
        "Never deploy on Fridays after 14:00",
        "on fridays never deploy after 14.00!",
        "The database backup runs daily at night on the second replica",
        "Database backup runs daily at night on second replica, always",
        "Hosting is elsewhere and costs little",
    ) == {
        "Never deploy on Fridays after 14:00": ["on fridays never deploy after 14.00!"],
        "on fridays never deploy after 14.00!": ["Never deploy on Fridays after 14:00"],
        "The database backup runs daily at night on the second replica": [
            "Database backup runs daily at night on second replica, always"
        ],
        "Database backup runs daily at night on second replica, always": [
            "The database backup runs daily at night on the second replica"
        ],
    }


def test_numbers_and_negations_must_agree() -> None:
    """Another port, another version and a `not` are other statements, however many words are the same."""
    assert not twice(
        "The backend of the shop listens on port 8080",
        "The backend of the shop listens on port 8081",
        "Deploy the shop on Friday evening",
        "Never deploy the shop on Friday evening",
        "Do deploy to staging without asking Bob first",
        "Do deploy to staging asking Bob first",
    )


def test_short_items_are_the_same_only_word_by_word() -> None:
    """Two words in another order may mean something else."""
    assert twice("CMS: Contentful", "cms contentful", "Contentful CMS") == {
        "CMS: Contentful": ["cms contentful"],
        "cms contentful": ["CMS: Contentful"],
    }


def test_chinese_is_compared_by_pairs() -> None:
    """There are no spaces to tell words by."""
    assert words_of("结账页面") == ("结账", "账页", "页面", "面")
    assert len(twice("结账页面的中文翻译已经完成", "结账页面的中文翻译已完成", "另外一件完全不同的事情")) == 2


VOCABULARY = "alpha beta gamma delta epsilon zeta eta theta iota kappa 8080 not the"
WORDS = st.sampled_from(VOCABULARY.split(" "))


@settings(deadline=None, max_examples=examples(150))
@given(st.lists(st.lists(WORDS, min_size=1, max_size=9).map(" ".join), max_size=14))
def test_no_pair_is_missed_and_none_is_made_up(texts: list[str]) -> None:
    """What is found is exactly what comparing each with each finds, up to so many for one item."""
    items = knowledge(*texts).items
    found = near_twins(items)
    for item in items:
        mine = words_of(item.text)
        wanted = []
        for other in items:
            theirs = words_of(other.text)
            same = mine == theirs or (set(mine) == set(theirs) and len(set(mine)) >= 3)
            share = len(set(mine) & set(theirs)) / max(1, len(set(mine) | set(theirs)))
            enough = min(len(set(mine)), len(set(theirs))) >= 3 and share >= ALIKE
            agree = {w for w in mine if w in ("8080", "not")} == {w for w in theirs if w in ("8080", "not")}
            if other is not item and mine and (same or (enough and agree)):
                wanted.append(other.ref)
        got = [twin.item.ref for twin in found.get(item.ref, ())]
        assert bool(got) == bool(wanted)
        assert set(got) <= set(wanted)
        if len(wanted) <= MOST:
            assert got == wanted
