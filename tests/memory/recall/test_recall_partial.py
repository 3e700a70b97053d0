"""What fits some of the words: below what fits all, found by forms, parts and typos, from the index and by reading."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.recall_part import LIMIT, make_workspace, questions
from memory.search.hits import SearchAnswer
from memory.search.index.ranked_lookup import WEIGHED
from memory.search.query.needs import needs_of
from memory.search.query.query import read_query
from memory.search.query.rank_partial import MOST
from memory.search.query.stems import content_runs, short_forms, stem
from memory.search.query.vocabulary import HeldVocabulary, near_words
from memory.search.query.words import camel_parts, name_parts
from memory.search.scan import scan
from memory.search.searcher import Searcher
from memory.systems import searcher_of
from memory.workspace import Workspace

from .test_recall_scan import ask, record

NOW = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)

ENTRIES = {
    "journal.md": """
## 2024-01-14
### 18:00 — Phone tree for emergencies
- Whoever has the pager at nights calls Dana first
### 09:00 — Cache of the geocoder
- getUserToken failed with ERR_TLS_04 while auth-svc-v2 was restarted
### 08:00 — Ärger in Zürich
- Müller und die Öffnungszeiten des Cafés
## 2023-06-01
### 12:00 — 数据库备份
- 每天凌晨三点备份到杭州机房
### 11:00 — サーバーの再起動
- 水曜の夜だけ許可されている
### 10:00 — Phone list
- The phone numbers of all offices
""",
    "tasks.md": """
## Pending
### [LOW] Choose the tariff for Postgres hosting
- created: 2024-01-02
- tags: money
### [LOW] Load balancer settings
- created: 2024-01-03
- notes: timeouts, certificates, rotation of the keys
## Completed
### [LOW] Staging host is db-1
- completed: 2023-02-01
- notes: staging database host name and port of the staging host
### [LOW] Staging moved
- completed: 2024-01-10
- notes: the staging database has a new host, db-2
""",
}


@pytest.fixture
def searcher(tmp_path: Path) -> Iterator[Searcher]:
    """The search of a workspace of these entries, its index up to date."""
    place, _ = Workspace.init(
        tmp_path / "a", NOW, actor="t", state_home=tmp_path / "state", machine_zone=UTC, files=dict(ENTRIES)
    )
    made = searcher_of(place)
    assert made.update()
    yield made
    made.close()


def answers(searcher: Searcher, text: str, limit: int = 20) -> tuple[SearchAnswer, SearchAnswer]:
    """Return what the index answers, and what reading everything does."""
    indexed = searcher.ask(ask(text), limit)
    assert indexed is not None
    return indexed, searcher.scan(ask(text), limit)


@pytest.mark.parametrize(
    ("kind", "query", "title"),
    [
        ("partial keywords", "phon emerg offsite", "Phone tree for emergencies"),
        ("a typo among others", "postgers tarif decision", "Choose the tariff for Postgres hosting"),
        ("two typos in a long word", "certifcaets rotate", "Load balancer settings"),
        ("a code name by its parts", "auth svc restart failed again", "Cache of the geocoder"),
        ("a code name in one", "authsvc outage", "Cache of the geocoder"),
        ("camel case by a part", "user token broken", "Cache of the geocoder"),
        ("camel case in other case", "get_user_token crash", "Cache of the geocoder"),
        ("an error code", "err tls 04 meaning", "Cache of the geocoder"),
        ("two words as one", "loadbalancer config", "Load balancer settings"),
        ("one word as two", "geo coder slow", "Cache of the geocoder"),
        ("the newer of two", "which host has the staging database now", "Staging moved"),
        ("a question", "how do we get paged at night?", "Phone tree for emergencies"),
        ("an irregular form", "which tariff was chosen", "Choose the tariff for Postgres hosting"),
        ("what people shorten", "certs missing", "Load balancer settings"),
        ("one absent word", "tariff hosting xyzzyplugh", "Choose the tariff for Postgres hosting"),
        ("Chinese", "数据库什么时候备份", "数据库备份"),
        ("Japanese", "サーバーを再起動できるのはいつ", "サーバーの再起動"),
        ("without accents", "arger zurich offices", "Ärger in Zürich"),
        ("accents written out", "aerger mueller", "Ärger in Zürich"),
        ("accents that are not there", "phöne tréé", "Phone tree for emergencies"),
    ],
)
def test_each_kind_of_question_finds(searcher: Searcher, kind: str, query: str, title: str) -> None:
    """The entry that is meant comes first, from the index and by reading, with something of it marked."""
    for answer in answers(searcher, query):
        assert answer.every[0].entry.title == title, kind
        assert any(hit.marks or hit.title_marks for hit in answer.every[:1]), kind


def test_what_fits_all_words_is_on_top(searcher: Searcher) -> None:
    """It is what it would be alone, the rest is below it with lower scores; nothing is there twice."""
    for text in ("staging host", "phone", "staging database host", "phone xyzzyplugh", "the staging"):
        for answer in answers(searcher, text):
            assert all(hit.fits_all for hit in answer.hits)
            assert not any(hit.fits_all for hit in answer.partial)
            scores = [hit.score for hit in answer.every]
            assert scores == sorted(scores, reverse=True)
            assert all(0 < score <= 1 for score in scores)
            assert not answer.hits or not answer.partial or answer.hits[-1].score > answer.partial[0].score
            places = [(hit.entry.file, hit.entry.line) for hit in answer.every]
            assert len(places) == len(set(places))
            assert answer.count == len(answer.hits)


def test_typing_never_moves_what_fits_all(searcher: Searcher) -> None:
    """With each letter what fits all words has the order that it has without room for anything else."""
    text = "staging database host db"
    for end in range(1, len(text) + 1):
        indexed, read = answers(searcher, text[:end])
        for answer in (indexed, read):
            fitting = len(answer.hits)
            titles = [hit.entry.title for hit in answer.every]
            assert titles[:fitting] == [hit.entry.title for hit in answer.hits]
            if fitting:
                again = (
                    searcher.ask(ask(text[:end]), fitting)
                    if answer is indexed
                    else searcher.scan(ask(text[:end]), fitting)
                )
                assert again is not None
                assert again.hits == answer.hits
                assert again.partial == ()


def test_typing_keeps_the_order_of_what_still_fits(searcher: Searcher) -> None:
    """What fits all words of a longer query keeps its order while the last word is typed on."""
    before: list[str] = []
    for end in range(len("staging d"), len("staging database") + 1):
        answer, _ = answers(searcher, "staging database"[:end])
        titles = [hit.entry.title for hit in answer.hits]
        assert [title for title in before if title in titles] == [title for title in titles if title in before]
        before = titles


def test_filters_quotes_and_minus_are_strict(searcher: Searcher) -> None:
    """They hold below the line as they do above it."""
    for query, titles in {
        "in:journal staging phone xyz": {"Phone tree for emergencies", "Phone list"},
        "-tree phone xyz": {"Phone list"},
        '"phone numbers" staging': {"Phone list"},
        '"phone numbers" "no such words" phone': set(),
        "tag:money phone tariff": {"Choose the tariff for Postgres hosting"},
        "-tag:money tariff xyz": set(),
        "after:2024-01-10 staging phone xyz": {"Staging moved", "Phone tree for emergencies"},
        "before:2023-12-01 phone staging xyz": {"Phone list", "Staging host is db-1"},
        "in:nowhere phone": set(),
        "-in:journal phone xyz": set(),
    }.items():
        for answer in answers(searcher, query):
            assert {hit.entry.title for hit in answer.every} == titles, query


@pytest.mark.parametrize(
    "query",
    [
        "",
        "   ",
        "?!… --- ***",
        "how do we get the",
        "the",
        "to be or not to be that is the question",
        "x " * 500,
        "word" * 1000,
        "wxyz" * 7,
        "a" * 32,
        'AND OR NOT NEAR(phone, 3) {title text} : phone* ^phone "',
        "phone' ; DROP TABLE find; --",
        "title : phone + staging",
        "\x00\udcff phone \u202e",
        "数" * 300,
        "の",
        "é" * 50,
        "-phone",
        '"" phone xyz',
        "phone:staging:db",
        "_" * 40,
        "a.b.c.d.e/f/g#h@i",
        "A1B2C3D4E5F6G7H8I9J0" * 8,
        "xY" * 300,
    ],
)
def test_hostile_queries(searcher: Searcher, query: str) -> None:
    """No text is an error: the answer is bounded, and reading gives the same."""
    indexed, read = answers(searcher, query, 10)
    assert len(indexed.every) <= 10
    assert [hit.entry.title for hit in indexed.partial] == [hit.entry.title for hit in read.partial]


def test_words_that_say_little_are_not_counted() -> None:
    """Where others say more, how many entries hold `the` is not asked: that takes longer than all else."""
    asked = set()

    class Counting(HeldVocabulary):
        def count(self, word: str) -> int:
            asked.add(word)
            return super().count(word)

    held = Counting([record(1, "How we deploy", "the staging cache")])
    needs = needs_of(ask("how do we deploy the cache"), held)
    assert [need.text for need in needs if need.minor] == ["how", "we", "the"]
    assert not asked & {"how", "do", "we", "the"}
    assert {"deploy", "cache"} <= asked


def test_a_long_word_is_not_taken_apart() -> None:
    """A word of thousands of letters asks no more of the vocabulary than one that is too long to be two words."""

    class Counting(HeldVocabulary):
        asked = 0

        def count(self, word: str) -> int:
            Counting.asked += 1
            return super().count(word)

    asked = []
    for times in (40, 1000):
        Counting.asked = 0
        needs_of(ask("word" * times), Counting([record(1, "a title", "some words")]))
        asked.append(Counting.asked)
    assert asked[1] <= 2 * asked[0]


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=40) | st.text('aeé東のP1_-"* ', max_size=30))
def test_any_text_can_be_asked(text: str) -> None:
    """Whatever is typed, what fits some words is bounded, marked within its lines, and never fits all."""
    entries = [record(1, "aé 東京の P1_a", text), record(2, text[:20], "aeé a_1 xYz"), record(3, "other")]
    answer = scan(entries, ask(text))
    for hit in answer.partial:
        assert not hit.fits_all
        assert all(0 <= start < end <= len(hit.snippet) for start, end in hit.marks)
        assert all(0 <= start < end <= len(hit.entry.title) for start, end in hit.title_marks)


def test_only_words_that_say_little(searcher: Searcher) -> None:
    """A query of stop words finds by them; beside other words they find nothing alone, but count a little."""
    answer, _ = answers(searcher, "which of the offices has a pager at noon")
    assert {hit.entry.title for hit in answer.partial} == {"Phone list", "Phone tree for emergencies"}
    both, _ = answers(searcher, "all of the")
    assert both.every


def test_what_is_common_is_bounded(tmp_path: Path) -> None:
    """Where thousands hold the words, few are read: those with most of the words, the newest of them."""
    tasks = [
        f"### [LOW] task {number}\n- created: 2024-01-{1 + number % 28:02}\n- notes: alpha beta\n"
        for number in range(1300)
    ]
    tasks[700] = "### [LOW] the one\n- created: 2024-01-05\n- notes: alpha beta gamma\n"
    place, _ = Workspace.init(
        tmp_path / "a",
        NOW,
        actor="t",
        state_home=tmp_path / "state",
        machine_zone=UTC,
        files={"tasks.md": "## Pending\n" + "".join(tasks)},
    )
    searcher = searcher_of(place)
    assert searcher.update()
    answer = searcher.ask(ask("alpha gamma delta"), 0)
    assert answer is not None
    assert answer.partial[0].entry.title == "the one"
    assert len(answer.partial) <= WEIGHED
    common = searcher.ask(ask("alpha beta delta"), 0)
    assert common is not None
    assert {hit.entry.date for hit in common.partial[1:]} == {"2024-01-27", "2024-01-28"}
    assert len(searcher.scan(ask("alpha beta delta"), 0).partial) == MOST
    searcher.close()


def test_an_edit_is_followed(searcher: Searcher, tmp_path: Path) -> None:
    """Words that come and go are known by the next question: counts, parts of names, typos."""
    path = next(tmp_path.rglob("tasks.md"))
    before = path.read_text("utf-8")
    assert not answers(searcher, "fetchTollTable zzz")[0].every
    path.write_text(before + "### [LOW] Zebra crossing\n- notes: call fetchTollTable twice\n", "utf-8")
    assert searcher.update()
    for text in ("toll zzz", "zbera zzz", "tolltable zzz"):
        assert [hit.entry.title for hit in answers(searcher, text)[0].partial] == ["Zebra crossing"], text
    path.write_text(before, "utf-8")
    assert searcher.update()
    for text in ("toll zzz", "zbera zzz", "fetchTollTable zzz"):
        assert answers(searcher, text)[0].every == (), text


@pytest.mark.thorough
def test_the_index_agrees_with_reading_on_questions(tmp_path: Path) -> None:
    """The same entries in the same order lead below the line for questions of the benchmark."""
    place = Workspace.open(make_workspace(tmp_path / "a"), state_home=tmp_path / "state")
    searcher = searcher_of(place)
    assert searcher.update()
    for question in questions()[::3]:
        query = read_query(question.text, lambda _: None)
        indexed, read = searcher.ask(query, LIMIT), searcher.scan(query, LIMIT)
        assert indexed is not None
        assert [hit.entry for hit in indexed.partial[:10]] == [hit.entry for hit in read.partial[:10]], question.text
    searcher.close()


@pytest.mark.parametrize(
    "words",
    [
        ("deploy", "deploys", "deployed", "deploying", "deployment", "deployments"),
        ("rotate", "rotates", "rotating", "rotation"),
        ("policy", "policies"),
        ("page", "paged", "pager", "paging"),
        ("run", "ran", "running", "runs"),
        ("migrate", "migration", "migrating"),
        ("break", "broke", "broken", "breaks"),
        ("cache", "caches", "cached", "caching"),
    ],
)
def test_forms_of_a_word_have_one_stem(words: tuple[str, ...]) -> None:
    """Plural, tenses, nouns of verbs."""
    assert len({stem(word) for word in words}) == 1, [stem(word) for word in words]


def test_other_words_keep_their_own_stem() -> None:
    """Words that only look alike are not taken for each other, and other writings are left alone."""
    assert len({stem(word) for word in ("format", "form", "information", "status", "state", "news", "base")}) == 7
    assert [stem(word) for word in ("東京", "v2", "a", "straße", "is")] == ["東京", "v2", "a", "straße", "is"]
    assert short_forms("databases") == {"db", "database"}
    assert short_forms("xyz") == frozenset()


def test_parts_of_names() -> None:
    """Camel case is cut at its humps; other words are no names, and very long ones take no longer than their length."""
    assert camel_parts("getUserToken") == ["get", "user", "token"]
    assert camel_parts("HTTPServer2") == ["http", "server", "2"]
    assert [camel_parts(name) for name in ("snake_case", "CAPS", "Word", "12")] == [[], [], [], []]
    assert set(name_parts("a getUser, plain CAPS x")) == {("get", "getuser"), ("user", "getuser")}
    assert list(name_parts("a" * 100_000 + "B")) == []
    assert content_runs("数据库什么时候备份") == ["数据库", "备份"]


def test_near_words() -> None:
    """The longer a word the more typos are forgiven, one end of it is right, and the fewest typos win."""
    words = HeldVocabulary([record(1, "kubernetes authentication deploy depot cat backup")])
    assert [word for word, _ in near_words("kuberntes", words)] == ["kubernetes"]
    assert [word for word, _ in near_words("authetnicatoin", words)] == ["authentication"]
    assert [word for word, _ in near_words("dpeloy", words)] == ["deploy"]
    assert near_words("cta", words) == []
    assert near_words("dexlxyz", words) == []


def test_a_typo_is_forgiven_beside_a_shorter_word() -> None:
    """That a word begins with another one does not mean that it holds no typo."""
    words = HeldVocabulary([record(1, "pass the salt"), record(2, "password of the guests")])
    (need,) = needs_of(ask("passwrod"), words)
    assert ("password",) in [form.words for form in need.forms]


def test_needs_are_bounded() -> None:
    """However long a query is, a few words of it are looked at, each once."""
    words = HeldVocabulary([record(1, " ".join(f"word{number}" for number in range(100)))])
    needs = needs_of(ask(" ".join(f"word{number}" for number in range(100)) + " word1 word1"), words)
    assert len(needs) == 24
    assert len({need.text for need in needs}) == 24
