"""Search by reading: what is found, in which order, and what is shown of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.document import Document, parse
from memory.files.snapshot import Snapshot
from memory.search.query.query import Query, read_day, read_query
from memory.search.records import FILE_KINDS as KINDS
from memory.search.records import Record, records
from memory.search.scan import scan
from tests.fixture_files import sample, sample_names

TODAY = date(2024, 1, 15)


def ask(text: str) -> Query:
    """Return the query that a text is on the day of the tests."""
    return read_query(text, lambda day: read_day(day, TODAY))


class _Files:
    """Files in memory."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = files

    def document(self, name: str) -> Document | None:
        data = self.files.get(name)
        return None if data is None else parse(data)

    def archives(self) -> Sequence[str]:
        return sorted(name for name in self.files if name.startswith("archive/"))


def _snapshot(files: Mapping[str, bytes] | None = None) -> Snapshot:
    return Snapshot(_Files({name: sample(name) for name in sample_names()} | dict(files or {})), lambda: UTC)


def _titles(query: str, snapshot: Snapshot | None = None, kinds: Sequence[str] = KINDS) -> list[str]:
    return [hit.entry.title for hit in scan(records(snapshot or _snapshot(), kinds), ask(query)).hits]


def test_every_file_gives_records() -> None:
    """Each kind is there, with the file, a line and, but for settings, a ref."""
    found = list(records(_snapshot()))
    assert {record.kind for record in found} == set(KINDS)
    for record in found:
        assert record.line >= 0
        assert (record.ref is None) == (record.kind == "config")
        assert record.ref is None or record.ref.startswith(record.file.removesuffix(".md") + "#")
    assert {record.kind for record in records(_snapshot(), ["plans", "tasks"])} == {"tasks", "plans"}


def test_the_archive_is_searched_too() -> None:
    """Archived tasks, entries and plans are records, behind those of the files."""
    archive = {
        "archive/tasks-2023-12.md": b"## Completed\n### [LOW] Old deploy\n- completed: 2023-12-01\n",
        "archive/journal-2023-12.md": b"## 2023-12-01\n### 10:00 \xe2\x80\x94 Old deploy note\n- done\n",
        "archive/orchestration-2023-12.md": b"## Completed Plans\n### Old deploy plan\n- planId: orch-aaaaaa\n",
    }
    found = [record.file for record in records(_snapshot(archive)) if record.file in archive]
    assert sorted(archive) == sorted(found)
    assert sorted(_titles("old deploy", _snapshot(archive))) == ["Old deploy", "Old deploy note", "Old deploy plan"]
    assert _titles("deploy in:archive tag:x -tag:y before:2023", _snapshot(archive)) == []
    assert sorted(_titles("deploy in:archive/tasks", _snapshot(archive))) == ["Old deploy"]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("api latency", "Monitor API latency"),
        ("LATENCY api", "Monitor API latency"),
        ("pg_isready", "Database Connection"),
        ("carol", "Carol"),
        ("channel-def456", "Slack Alerts"),
        ("maxJournalEntries", "maxJournalEntries"),
        ("redis", "Using Redis for caching"),
        ("jwt mobile", "Chose JWT over session cookies for auth"),
        ("2024-01-14 moved section", "Task Completed"),
        ('"session cookies"', "Chose JWT over session cookies for auth"),
    ],
)
def test_the_best_find_comes_first(query: str, first: str) -> None:
    """Words in any case and order; what has them in the title is before what has them in the text."""
    assert _titles(query)[0] == first


def test_every_word_has_to_be_there() -> None:
    """One word that nothing holds finds nothing, and so does no word."""
    assert _titles("api xyzzyplugh") == []
    assert _titles("  ") == []


def record(number: int, title: str, text: str = "", kind: str = "tasks", date: str = "") -> Record:
    """Return a record whose item is a number; its ref is none, its line the number."""
    return Record(kind, f"{kind}.md", title, f"{title}\n{text}", Item(number), date)


class Item:
    """What a record is about, for tests that only need to tell them apart."""

    ref = None

    def __init__(self, line: int) -> None:
        """Keep the number."""
        self.line = line


def test_the_order_of_finds() -> None:
    """Phrase, whole words, longer words, text; then the newest, the kind, the order of the records."""
    given_records = [
        record(1, "x", "deploy now"),
        record(2, "deployment now"),
        record(3, "now deploy"),
        record(4, "deploy now"),
        record(5, "a", "deploy now", "journal", "2024-01-01"),
        record(6, "b", "deploy now", "journal", "2024-02-01"),
        record(7, "c", "deploy now", "journal"),
        record(8, "y", "deploy now"),
    ]
    hits = scan(given_records, ask("deploy now")).hits
    assert [hit.entry.line for hit in hits] == [4, 3, 2, 6, 5, 1, 8, 7]
    assert hits[0].score == 1.0
    assert all(0 < hit.score <= 1 for hit in hits)
    assert [hit.entry.line for hit in scan(given_records, ask("deploy now"), 3).hits] == [4, 3, 2]


@settings(deadline=None)
@given(st.lists(st.tuples(st.text("ab ", max_size=6), st.text("ab \n", max_size=12))), st.text("ab ", max_size=5))
def test_finds_are_what_a_plain_reading_says(texts: list[tuple[str, str]], query: str) -> None:
    """The same records as by looking at each word, the limited list is the beginning of the whole one."""
    all_records = [record(number, title, text) for number, (title, text) in enumerate(texts)]
    answer = scan(all_records, ask(query))

    def fits(one: Record, word: str) -> bool:
        words = f"{one.title} {one.text}".split()
        return word in words if len(word) <= 2 else any(other.startswith(word) for other in words)

    expected = {one.line for one in all_records if query.split() and all(fits(one, word) for word in query.split())}
    if not answer.also:
        assert expected == {hit.entry.line for hit in answer.hits}
    else:
        assert expected == set()
    assert answer.hits[:2] == scan(all_records, ask(query), 2).hits
    assert [hit.score for hit in answer.hits] == sorted((hit.score for hit in answer.hits), reverse=True)
    assert all("\n" not in hit.snippet for hit in answer.hits)


def test_the_snippet_shows_the_find() -> None:
    """One line, cut around the word, with signs where something is left out, and the place of the word in it."""
    long = "start " + "x" * 100 + " needle " + "y" * 300
    (hit,) = scan([record(1, "t", f"other line\n{long}")], ask("NEEDLE")).hits
    ((start, end),) = hit.marks
    assert hit.snippet[start:end] == "needle"
    assert hit.snippet.startswith("…")
    assert hit.snippet.endswith("…")
    assert len(hit.snippet) <= 162
    assert hit.why == (("NEEDLE", "text"),)


def test_words_that_stand_nowhere_are_guessed() -> None:
    """Longer words, and words with a typo, are taken where nothing fits, and the answer says which."""
    texts = [record(1, "deployment"), record(2, "redis cache"), record(3, "Konfiguration")]
    for query, line, words in (
        ("deplyoment", 1, ("deployment",)),
        ("edis", 2, ("redis",)),
        ("konfigurattoin", 3, ("konfiguration",)),
    ):
        answer = scan(texts, ask(query))
        assert [hit.entry.line for hit in answer.hits] == [line]
        assert answer.also == ((query, words),)
        assert any(words[0] in note for note in answer.notes)
        assert answer.hits[0].title_marks
    assert scan(texts, ask("xyzzyplugh")).hits == ()
    assert scan(texts, ask('"deplyoment"')).hits == ()
