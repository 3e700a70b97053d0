"""Words: the form in which texts are compared, stems, typos, and the parts of names."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.base.words import content_words, fold, near, overlap, spans, spellings, stem, terms, tokens

ENDS = ("ing", "ed", "ation", "ational", "fulness", "ously", "ies", "ement")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Zürich, ZÜRICH & Ｚürich", ["zurich", "zurich", "zurich"]),
        ("Łódź Ærø straße", ["lodz", "aero", "strasse"]),
        ("get_user-token v2.1", ["get", "user", "token", "v2", "1"]),
        ("getUserToken", ["getusertoken", "get", "user", "token"]),
        ("HTTPServer2", ["httpserver2", "http", "server", "2"]),
        ("東京都へ", ["東京", "京都", "都へ", "へ"]),
        ("v2東京", ["v2", "東京", "京"]),
        ("", []),
    ],
)
def test_terms(text: str, words: list[str]) -> None:
    """Case and accents do not count; names have parts, and unspaced writing is pairs."""
    assert terms(text) == words


@pytest.mark.parametrize(
    "forms",
    ["deploy deployed deploying deploys", "break broke broken breaks", "choose chose chosen choosing", "index indices"],
)
def test_forms_of_a_word_have_one_stem(forms: str) -> None:
    """Regular and irregular forms."""
    assert len(set(map(stem, forms.split()))) == 1


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("kuberntes", "kubernetes"),
        ("form", "from"),
        ("latncy", "latency"),
        ("cat", None),
        ("1234", None),
        ("abcdefgh", None),
    ],
)
def test_typos(typed: str, meant: str | None) -> None:
    """A long word may have several typos, a short one and a number none."""
    found = near(typed, ["kubernetes", "from", "latency", "cut", "1243", "zzzzzzzz"])
    assert [word for word, _ in found] == ([meant] if meant else [])


def test_words_that_say_something() -> None:
    """Stop words and single letters do not; grammar of unspaced writing does not either."""
    assert content_words("What is the plan B for 2 deployments") == ("plan", "2", "deployments")
    assert content_words("这是部署") == ("是部", "部署", "署")
    assert overlap("Red fox jumps", "the red FOX") == 0.5
    assert "mueller" in spellings("muller", "Müller")


def test_threads_stem_each_word_as_one_thread_does() -> None:
    """The application stems in several threads at once; the stems are those of a single one, and none fails."""
    words = [f"{root}{end}" for root in ("deploy", "relation", "hope", "generous", "communic") for end in ENDS]
    alone = [stem.__wrapped__(word) for word in words]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as threads:
            found = list(threads.map(stem.__wrapped__, words * 40))
    finally:
        sys.setswitchinterval(before)
    assert found == alone * 40


@given(st.text(max_size=60))
def test_places_are_those_of_the_words(text: str) -> None:
    """The spans of a text hold its words, in order, and lie inside of it."""
    found = spans(text)
    assert all(0 <= span.start < span.end <= len(text) for span in found)
    assert [span.start for span in found] == sorted(span.start for span in found)
    assert fold(fold(text)) == fold(text)
    if text.isascii():
        assert [span.word for span in found] == tokens(text)
