"""Search by scanning: what is found, in which order, and what is shown of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.document import Document, parse
from memory.files.snapshot import Snapshot
from memory.recall import FILE_KINDS as KINDS
from memory.recall import Record, records, scan, words_of
from tests.fixture_files import sample, sample_names


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
    return [hit.record.title for hit in scan(records(snapshot or _snapshot(), kinds), query)]


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
    assert _titles("old deploy", _snapshot(archive)) == ["Old deploy", "Old deploy note", "Old deploy plan"]


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
    ],
)
def test_the_best_find_comes_first(query: str, first: str) -> None:
    """Words in any case and order; what has them in the title is before what has them in the text."""
    assert _titles(query)[0] == first


def test_every_word_has_to_be_there() -> None:
    """One word that nothing holds finds nothing, and so does no word."""
    assert _titles("api xyzzy") == []
    assert _titles("  ") == []
    assert words_of("a A  b") == ("a", "b")


def _record(number: int, title: str, text: str = "", kind: str = "tasks", date: str = "") -> Record:
    return Record(kind, f"{kind}.md", title, f"{title}\n{text}", number, date)


def test_the_order_of_finds() -> None:
    """Phrase, whole words, parts of words, text; then kind, newest, order of the records."""
    given_records = [
        _record(1, "x", "deploy now"),
        _record(2, "redeploys now"),
        _record(3, "now deploy"),
        _record(4, "deploy now"),
        _record(5, "a", "deploy now", "journal", "2024-01-01"),
        _record(6, "b", "deploy now", "journal", "2024-02-01"),
        _record(7, "c", "deploy now", "journal"),
        _record(8, "y", "deploy now"),
    ]
    hits = scan(given_records, "deploy now")
    assert [hit.record.item for hit in hits] == [4, 3, 2, 1, 8, 6, 5, 7]
    assert hits[0].score == 1.0
    assert all(0 < hit.score <= 1 for hit in hits)
    assert [hit.record.item for hit in scan(given_records, "deploy now", 3)] == [4, 3, 2]


@given(st.lists(st.tuples(st.text("ab ", max_size=6), st.text("ab \n", max_size=12))), st.text("ab ", max_size=5))
def test_finds_are_what_a_plain_reading_says(texts: list[tuple[str, str]], query: str) -> None:
    """The same records as by looking for each word, the limited list is the beginning of the whole one."""
    all_records = [_record(number, title, text) for number, (title, text) in enumerate(texts)]
    hits = scan(all_records, query)
    expected = {record.item for record in all_records if query.split() and all(w in record.text for w in query.split())}
    assert expected == {hit.record.item for hit in hits}
    assert hits[:2] == scan(all_records, query, 2)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all("\n" not in hit.snippet for hit in hits)


def test_the_snippet_shows_the_first_find() -> None:
    """One line, cut around the word, with signs where something is left out."""
    long = "start " + "x" * 100 + " needle " + "y" * 300
    (hit,) = scan([_record(1, "t", f"other line\n{long}")], "NEEDLE")
    assert "needle" in hit.snippet
    assert hit.snippet.startswith("…")
    assert hit.snippet.endswith("…")
    assert len(hit.snippet) <= 162
