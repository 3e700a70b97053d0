"""Whatever parses as an entry of a memory file is in some row of the pane of that file."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.base.safe_text import visible
from memory.document import Document
from memory.document.nodes import Entry
from memory.files import MEMORY_FILES
from memory.files.tasks.reading import plain_task
from tests.examples import examples
from tests.fixture_files import sample
from tests.memory_files import snapshot_of
from tests.strategies import markdown_documents
from widgets.list.rows import Heading, Note
from widgets.pane.records import Record
from widgets.pane.rows import LineRow
from widgets.panes import all_panes

NOW = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)
CORPUS = sorted((Path(__file__).parents[2] / "corpus/files").rglob("*.md"))
HEADINGS = ("Pending", "In Progres", "In Progress", "Completed", "Active Plans", "Plans", "Monitors", "Monitor", "Done")
HEADINGS += ("Channels", "People", "Peeple", "2024-01-15", "Yesterday", "Workspace", "Technical Facts", "")


@st.composite
def memory_documents(draw: st.DrawFn) -> str:
    """Documents with right and wrong headings of both levels, and entries above, below and between them."""
    parts = [draw(st.sampled_from(("", "---\ntype: x\n---\n", "### Above all\n- key: value\n")))]
    for number in range(draw(st.integers(0, 5))):
        parts.append(f"{draw(st.sampled_from(('#', '##')))} {draw(st.sampled_from(HEADINGS))}\n")
        parts.append(draw(st.sampled_from(("", "- a bullet\n", "some prose\n", "| Name | ID |\n|--|--|\n| a | b |\n"))))
        for entry in range(draw(st.integers(0, 3))):
            title = draw(st.sampled_from((f"Entry {number}.{entry}", "[HIGH] Same", "10:30 \u2014 Same", "")))
            parts.append(f"### {title}\n{draw(st.sampled_from(('', '- key: value', '- planId: orch-1', 'prose')))}\n")
    return "".join(parts)


def missing(file: str, data: str | bytes) -> Counter[str]:
    """Return the titles of the entries of a file that are in no row of its pane."""
    snapshot = snapshot_of({file: data})
    pane = next(name for name in all_panes() if file in name.files).load()()
    parts = pane.rows(snapshot, NOW)
    rows = list(parts)
    document = snapshot.document(file)
    entries = [plain_task(one)[0] if file == "tasks.md" else one for one in _entries(document)]
    left = Counter(visible(entry.title) for entry in entries)
    for row in rows:
        row = row.thing if isinstance(row, Record) and row.thing is not None else row
        entry = getattr(row, "entry", None)
        if isinstance(entry, Entry):
            left[visible(entry.title)] -= 1
        elif isinstance(row, LineRow):
            left[row.text] -= 1
        elif not isinstance(row, Heading | Note):
            _named(row, document, left)
    return +left


def _entries(document: Document) -> list[Entry]:
    return [entry for _, section in document.all_sections() for entry in section.entries]


def _named(row: Any, document: Document, left: Counter[str]) -> None:
    """Take away what a row shows that is no entry itself: a topic of knowledge, or a setting of an entry."""
    if isinstance(row, Record) and row.group and row.depth:
        left[visible(row.title)] -= 1
    elif hasattr(row, "section") and hasattr(row, "raw"):
        for index, section in document.all_sections():
            for number, entry in enumerate(section.entries):
                first = document.line_of(index, number) + 1
                nodes = entry.fields.nodes
                if nodes and first + nodes[0].line == row.line:
                    left[visible(entry.title)] -= 1


@pytest.mark.parametrize("file", MEMORY_FILES)
@given(text=memory_documents())
@settings(max_examples=examples(150), deadline=None)
def test_every_entry_of_a_memory_file_is_in_a_row(file: str, text: str) -> None:
    """Whatever heading it stands under, of whatever level, or above all of them."""
    assert missing(file, text) == {}


@pytest.mark.parametrize("file", MEMORY_FILES)
@given(text=markdown_documents())
@settings(max_examples=examples(100), deadline=None)
def test_every_entry_of_any_markdown_is_in_a_row(file: str, text: str) -> None:
    """Also where the file is none of memory, with fences, HTML blocks and containers around headings."""
    assert missing(file, text) == {}


@pytest.mark.parametrize("file", MEMORY_FILES)
def test_every_entry_of_the_corpus_is_in_a_row(file: str) -> None:
    """The corpus of bad inputs, each file of it as each of the memory files, and the format's own samples."""
    for path in CORPUS:
        if path.stat().st_size < 200_000:
            assert missing(file, path.read_bytes()) == {}, path.name
    assert missing(file, sample(file)) == {}
