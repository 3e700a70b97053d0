"""The language of search and how words are compared."""

from __future__ import annotations

import re
from datetime import date, timedelta
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memory.search.hits import FoundEntry, hit_of, marks_in
from memory.search.index.file_diff import edits
from memory.search.match import Matcher
from memory.search.query.query import read_day, read_query
from memory.search.query.vocabulary import HeldVocabulary, meant
from memory.search.query.words import fold, fold_with_places, pattern, spaced, tokens, unspaced_runs, wanted

from .test_recall_scan import TODAY, ask, record


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Zürich CAFÉ e\u0301te\u0301", ["zurich", "cafe", "ete"]),
        ("Straße ÆØ Łódź", ["strasse", "aeo", "lodz"]),
        ("pg_isready --db=x", ["pg", "isready", "db", "x"]),
        ("東京都", ["東京", "京都", "都"]),
        ("redis緩存ok", ["redis", "緩存", "存", "ok"]),
        ("한국어 검색", ["한국", "국어", "어", "검색", "색"]),
        ("ｶﾞｲﾄﾞ Ａpi ﬁle", ["ガイ", "イド", "ド", "api", "file"]),
        ("😀 — \udcff \x00", []),
        ("Ёлка и́", ["елка", "и"]),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    """Case, diacritics and width do not count; unspaced writing is cut into pairs."""
    assert words == tokens(text)


def test_unspaced_writing_is_found_anywhere() -> None:
    """One character, two or many; also beside other writing."""
    text = FoundEntry("tasks", "tasks.md", "東京都庁のサーバ", "東京都庁のサーバ\n- redis緩存を更新", "", None, 0)
    for query in ("京", "都庁", "東京都庁", "サーバ", "redis緩存", "存を更", '"緩存"', "ｻｰﾊﾞ"):
        assert Matcher(ask(query)).words(text), query
        assert hit_of(text, ask(query), 1).marks or hit_of(text, ask(query), 1).title_marks, query
    for query in ("京東", "緩更新", "庁サ"):
        assert not Matcher(ask(query)).words(text), query


def test_parts_of_a_query() -> None:
    """Words, phrases, stars, what must not be there, and filters."""
    query = ask(
        'deploy "to staging" ab* -old -"a plan" in:tasks,Archive file:journal tag:Front-End after:7d before:2024-02'
    )
    assert [(term.words, term.open) for term in query.terms] == [
        (("deploy",), True),
        (("to", "staging"), False),
        (("ab",), True),
    ]
    assert [(term.words, term.open) for term in query.without] == [(("old",), True), (("a", "plan"), False)]
    assert query.places == (("tasks", "archive"), ("journal",))
    assert query.tags == (("frontend",),)
    assert (query.after, query.before) == ("2024-01-08", "2024-02-01")
    assert query.notes == ()
    assert ask("ab").terms[0].open is False


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ('deploy "to stag', "the quote"),
        ("before:someday x", "before: does not understand 'someday'"),
        ("x tag:", "nothing stands behind tag:"),
        ("*** x", "holds no letter"),
        ("a " * 100, "only the first 40 parts"),
        ("x" * 3000, "only the first 2000 characters"),
    ],
)
def test_what_is_odd_is_said(text: str, note: str) -> None:
    """A query is never wrong; what was left out of it is said in a sentence."""
    assert any(note in said for said in ask(text).notes), ask(text).notes


@settings(deadline=None)
@given(st.text(max_size=60) | st.text('ab"-*: intagbefor', max_size=40))
def test_any_text_is_a_query(text: str) -> None:
    """Nothing raises: reading it, matching by it, marking by it."""
    query = ask(text)
    entry = FoundEntry("tasks", "tasks.md", text, f"{text}\nmore {text}", "2024-01-01", None, 0, (text,))
    Matcher(query).words(entry)
    hit = hit_of(entry, query, 0.5)
    assert all(0 <= start < end <= len(hit.snippet) for start, end in hit.marks)
    assert all(0 <= start < end <= len(hit.entry.title) for start, end in hit.title_marks)


@settings(deadline=None)
@given(st.text(max_size=30))
def test_a_text_is_found_by_itself(text: str) -> None:
    """What stands in an entry is found by typing it, and marked."""
    words, _ = wanted(text, whole=True)
    entry = FoundEntry("tasks", "tasks.md", "t", f"t\nbefore {text} behind", "", None, 0)
    query = read_query('"' + text.replace('"', " ") + '"', lambda _: None)
    if words and query.terms:
        assert Matcher(query).words(entry) is not None


@settings(deadline=None)
@given(st.text(max_size=40))
def test_folding_keeps_places(text: str) -> None:
    """Each folded character knows where it comes from, and folding twice changes nothing."""
    folded, places = fold_with_places(text)
    assert len(folded) == len(places)
    assert places == sorted(places)
    assert fold(fold(text)).split() == fold(text).split()
    assert not re.search("[A-Z]", fold(text))


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2024-01-31", date(2024, 1, 31)),
        ("2023-12", date(2023, 12, 1)),
        ("2023", date(2023, 1, 1)),
        ("today", TODAY),
        ("Yesterday", TODAY - timedelta(1)),
        ("7d", TODAY - timedelta(7)),
        ("-2w", TODAY - timedelta(14)),
        ("2024-02-30", None),
        ("9999y", None),
        ("soon", None),
        ("٢٠٢٤", None),
    ],
)
def test_days(text: str, day: date | None) -> None:
    """Days, months, years and how long ago; what does not exist is none."""
    assert day == read_day(text, TODAY)


def test_marks_do_not_overlap() -> None:
    """Marks are in order, joined where they touch, and stand on the characters that were written."""
    line = "Deploy-ÉTÉ: deployment, (deploy) Straße"
    marks = marks_in(line, ask("deploy deployment ete strasse").terms)
    assert [line[start:end] for start, end in marks] == ["Deploy", "ÉTÉ", "deployment", "deploy", "Straße"]


def held(*texts: str) -> HeldVocabulary:
    """Return the words of entries with these titles."""
    return HeldVocabulary([record(number, text) for number, text in enumerate(texts)])


@given(st.text("aé東の1_ -x", min_size=1, max_size=4), st.text("aé東の1_ -x", max_size=12))
@example("1_1", "1の1")
def test_text_with_blanks_for_unspaced_writing_is_enough(word: str, text: str) -> None:
    """A term without unspaced writing is found in `spaced` text where it is found in the text itself."""
    folded = fold(text)
    for whole in (False, True):
        exact = pattern(word, whole=whole, within_spaced=False)
        if exact and not unspaced_runs(fold(word)):
            quick = pattern(word, whole=whole, within_spaced=True)
            found = [match.span() for match in re.finditer(quick, spaced(folded))]
            assert found == [match.span() for match in re.finditer(exact, folded)]


def test_looking_for_usual_words_needs_no_large_classes() -> None:
    """The expression of a term that is written with spaces is ASCII: a large class takes a millisecond to compile."""
    for text in ("deploy", "deploy-staging", '"the cache"', "Zürich"):
        assert all(term.pattern.isascii() for term in ask(text).terms)
    assert not ask("緩存").terms[0].spaced
    assert not ask("redis緩存").terms[0].spaced


def test_words_that_are_meant() -> None:
    """Contained words before typos, nothing for short words and numbers, and only words that exist."""
    words = held("deploy deployed", "redeploy depot", "staging 12345")
    assert meant("eploy", words) == ("deploy", "deployed", "redeploy")
    assert meant("deplyo", words) == ("deploy",)
    assert meant("deplyo", held("staging")) == ()
    assert meant("12346", words) == ()
    assert meant("ab", words) == ()


@settings(deadline=None)
@given(st.lists(st.integers(0, 5), max_size=12), st.lists(st.integers(0, 5), max_size=12), st.integers(0, 90))
def test_edits_turn_one_row_into_the_other(old: list[int], new: list[int], apart: int) -> None:
    """Applied from the end, the edits give the new row; equal rows have none."""
    between = list(range(100, 100 + apart))
    before, after = [*old, *between, *new], [*new, *between, *old]
    result = list(before)
    found = edits(before, after)
    for edit in reversed(found):
        result[edit.old_start : edit.old_end] = after[edit.new_start : edit.new_end]
    assert after == result
    assert edits(before, before) == []
    assert all(one.old_end < two.old_start for one, two in pairwise(found))
