"""Bytes that somebody else wrote give the same document as a fresh parse, for a scan of the differing middle."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.document import Document, Entry, parse
from memory.document import model as model_module
from memory.document import nodes as nodes_module
from memory.document import rescan as rescan_module
from memory.document.lines import Outline, scan
from memory.document.rescan import updated
from tests.examples import examples
from tests.memory.document.documents import EXAMPLES, documents, structure

SETTINGS = settings(
    max_examples=max(EXAMPLES // 10, examples(300)), deadline=None, suppress_health_check=list(HealthCheck)
)
PIECES = st.sampled_from(
    [b"", b"x", b"\n", b"\r", b"\r\n", b"#", b"## X\n", b"\n### y\n", b"```\n", b"\n```", b"<!--", b"-->\n", b"<div>\n",
     b"\n\n",     b"---\n", b"\n---\n", b"- a: 1\n", b" ", b"\xef\xbb\xbf", b"\xff"]
)  # fmt: skip


@SETTINGS
@given(documents(), st.data())
def test_same_as_a_fresh_parse(data: bytes, draw: st.DataObject) -> None:
    """After each of a few random replacements of bytes the document is the one that its bytes are."""
    document = parse(data)
    for _ in range(draw.draw(st.integers(1, 4))):
        start = draw.draw(st.integers(0, len(data)))
        stop = draw.draw(st.one_of(st.just(start), st.integers(start, len(data))))
        data = data[:start] + draw.draw(PIECES) + data[stop:]
        document = updated(document, data)
        assert document.dump() == data
        assert structure(parse(data)) == structure(document)


@SETTINGS
@given(documents(), documents())
def test_any_two_files(one: bytes, other: bytes) -> None:
    """It holds for files that have nothing to do with each other, and for what they share at both ends."""
    document = parse(one)
    for data in (other, one + other, other + one, one[: len(one) // 2] + other + one[len(one) // 2 :]):
        assert structure(parse(data)) == structure(updated(document, data))


def test_shares_what_did_not_change() -> None:
    """Entries and sections outside of the difference are the same objects."""
    data = b"".join(b"## S%d\n" % part + b"".join(b"### e%d\n- a: 1\n" % at for at in range(5)) for part in range(5))
    document = parse(data)
    before = [section.entries for section in document.sections]
    changed = updated(document, data.replace(b"## S2\n### e0\n- a: 1", b"## S2\n### e0\n- a: 2", 1))
    assert changed.sections[0] is document.sections[0]
    assert changed.sections[4] is document.sections[4]
    assert changed.sections[2].entries[1:] == before[2][1:]
    assert changed.sections[2].entries[0].fields["a"] == "2"
    assert updated(document, data) is document


def test_shares_all_entries_between_the_places_of_a_moved_one() -> None:
    """An entry that is moved to another section is the same object there, as are all between; of twins each is one."""
    entries = [b"### e%d\n- a: 1\n" % (at // 2) for at in range(12)]
    document = parse(b"## One\n" + b"".join(entries[:6]) + b"## Two\n" + b"".join(entries[6:]))
    before = [entry for section in document.sections for entry in section.entries]
    moved = updated(document, b"## One\n" + b"".join(entries[1:6]) + b"## Two\n" + b"".join([*entries[6:], entries[0]]))
    after = [entry for section in moved.sections for entry in section.entries]
    assert [len(section) for section in moved.sections] == [5, 7]
    assert sorted(map(id, after)) == sorted(map(id, before))


@pytest.fixture
def scanned(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that collects how many bytes each scan of the document room is given."""
    sizes: list[int] = []

    def counting(data: bytes, start: int = 0, stop: int | None = None) -> Outline:
        sizes.append((len(data) if stop is None else stop) - start)
        return scan(data, start, stop)

    for module in (model_module, nodes_module, rescan_module):
        monkeypatch.setattr(module, "scan", counting)
    return sizes


def large_document() -> Document:
    """Return a document of 5 MB: 50 days with 100 entries of a kilobyte each."""
    entry = "### 10:{:02} — Heartbeat\n- due: 2024-01-15\n" + "- a line of text that says something\n" * 26
    days = (f"## 2024-01-{day}\n" + "".join(entry.format(at % 60) + "\n" for at in range(100)) for day in range(50))
    return parse(b"---\ntype: x\n---\n" + "".join(days).encode())


EDITS: list[Callable[[Document], Document]] = [
    lambda document: document.replace_entry(25, 50, document.sections[25].entries[50].set_field("due", "x")),
    lambda document: document.replace_entry(49, 99, document.sections[49].entries[99].set_field("new", "x")),
    lambda document: document.replace_entry(25, 50, document.sections[25].entries[50].with_title("x")),
    lambda document: document.replace_entry(25, 50, document.sections[25].entries[50].unset_field("due")),
    lambda document: document.insert_entry(25, 50, Entry.compose("x", "- a: 1")),
    lambda document: document.insert_entry(49, 100, Entry.compose("x", "- a: 1")),
    lambda document: document.remove_entry(25, 50),
    lambda document: document.remove_entries(25, range(0, 99, 2)),
    lambda document: document.remove_entry(49, 99),
    lambda document: document.with_section(25, document.sections[25].set_field("a", "1")),
    lambda document: document.set_meta("updated", "x"),
]


@pytest.mark.parametrize("edit", EDITS, ids=range(len(EDITS)))
def test_an_edit_scans_some_kilobytes(edit: Callable[[Document], Document], scanned: list[int]) -> None:
    """An edit inside 5 MB scans what is new, and taking the same over from outside only the differing middle."""
    document = large_document()
    assert len(document.dump()) > 5_000_000
    assert sum(scanned) >= 5_000_000
    scanned.clear()
    edited = edit(document)
    data = edited.dump()
    assert sum(scanned) < 6_000
    scanned.clear()
    from_outside = updated(document, data)
    middle = 200_000 if abs(len(data) - len(document.dump())) > 40_000 else 6_000
    assert sum(scanned) < middle
    assert from_outside.dump() == data
    assert from_outside.headings() == edited.headings()


def test_replacing_scans_only_that_entry(scanned: list[int]) -> None:
    """Replacing an entry scans that entry once, wherever it stands."""
    document = large_document()
    entry = Entry(document.sections[10].entries[10].raw + b"- more: 1\n")
    scanned.clear()
    document.replace_entry(10, 10, entry)
    document.replace_entry(49, 99, entry)
    assert scanned == [len(entry.raw)] * 2
