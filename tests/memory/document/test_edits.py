"""An edit changes only its lines, and what it returns is what its bytes say when they are read again."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.document import Document, Entry, Section, parse
from memory.errors import UsageError
from tests.examples import examples
from tests.fixture_files import sample, sample_names, variants
from tests.memory.document.documents import EXAMPLES, check_again, check_around, documents, lines_of

SETTINGS = settings(
    max_examples=max(EXAMPLES // 20, examples(200)), deadline=None, suppress_health_check=list(HealthCheck)
)
KEYS = st.sampled_from(["due", "notes", "new", "x-1"])
VALUES = st.one_of(
    st.sampled_from(
        ["", "x", "two\nlines", "a\n\n  b", "```\n## x", "<b>", "- due: 9", "## x", "caf\xe9 \udcff", "a\tb"]
    ),
    st.text(max_size=8),
)
ENTRIES = st.sampled_from(
    [
        b"### new\n",
        b"### new",
        b"### new\n- a: 1\n\n",
        b"### new\r\n- a: 1\r\n",
        b"### new\n```\n",
        b"### new\n<div>\n\n",
    ]
).map(Entry)
SECTIONS = st.sampled_from(
    [b"## S\n", b"## S", b"## S\ntext", b"## S\n### e\n- a: 1", b"## S\n<!--", b"# S\n### e\n~~~\n"]
)


def section_of(data: bytes) -> Section:
    """Return the one section of a source."""
    return parse(data).sections[0]


def place_of(document: Document, section: int, entry: int | None) -> int:
    """Return the line before which an entry is put in, or (None) a section."""
    if entry is not None and entry < len(document.section(section)):
        return document.line_of(section, entry)
    following = section if entry is None else section + 1
    if following < len(document.sections):
        return document.line_of(following)
    return len(lines_of(document.dump().removeprefix(document.bom)))


def blocks_of(document: Document) -> list[tuple[int, int | None]]:
    """Return (section, entry) of every block, None for a section's own body."""
    return [(index, entry) for index, part in document.all_sections() for entry in (None, *range(len(part)))]


def edit_block(
    document: Document, at: tuple[int, int | None], edit: Callable[[Entry | Section], Entry | Section]
) -> Document:
    """Return the document with one block edited."""
    section, entry = at
    part = document.section(section)
    if entry is None:
        changed = edit(part)
        assert isinstance(changed, Section)
        return document.with_section(section, changed)
    new = edit(part.entries[entry])
    assert isinstance(new, Entry)
    return document.replace_entry(section, entry, new)


def check_field_edit(data: bytes, at: tuple[int, int | None], key: str, value: str | None) -> bool:
    """Set (or unset, for None) one field of one block and compare all lines; return whether it was possible."""
    document = parse(data)
    section, entry = at
    part = document.section(section)
    block: Entry | Section = part if entry is None else part.entries[entry]
    nodes = block.fields.nodes
    try:
        if value is None:
            edited = edit_block(document, at, lambda one: one.unset_field(key))
        else:
            edited = edit_block(document, at, lambda one: one.set_field(key, value))
    except UsageError:
        return False
    check_again(edited)
    base = document.line_of(section, entry) + (1 if entry is not None or part.heading else 0)
    own = [node for node in nodes if node.key == key]
    body = block.body
    if value is None:
        after = edited.section(section) if entry is None else edited.section(section).entries[entry]
        assert key not in after.fields
        assert {**block.fields, key: None} == {**after.fields, key: None}
        if not own:
            assert edited.dump() == data
            return True
    else:
        after = edited.section(section) if entry is None else edited.section(section).entries[entry]
        assert list(after.fields) == list(block.fields) + ([] if own else [key])
        if value.strip() and value.isascii() and value.isprintable():
            assert after.fields[key] == value.strip()
    if own:
        lines = len(
            lines_of(body[own[0].start : own[-1 if value is None else 0].end].encode("utf-8", "surrogateescape"))
        )
        check_around(data, edited.dump(), base + own[0].line, base + own[0].line + lines)
    return True


@SETTINGS
@given(documents(), KEYS, st.one_of(st.none(), VALUES), st.integers(0, 99))
def test_fields_of_generated_documents(data: bytes, key: str, value: str | None, which: int) -> None:
    """Setting or unsetting a field touches only its lines, or is refused."""
    blocks = blocks_of(parse(data))
    check_field_edit(data, blocks[which % len(blocks)], key, value)


@pytest.mark.parametrize("name", sample_names())
def test_fields_of_the_samples(name: str) -> None:
    """In every block of the sample files, in every form, fields are set, added and unset line by line."""
    for data in variants(sample(name)).values():
        document = parse(data)
        for at in blocks_of(document)[1:]:
            part = document.section(at[0])
            block: Entry | Section = part if at[1] is None else part.entries[at[1]]
            for key in [*list(block.fields)[:2], "newKey"]:
                assert check_field_edit(data, at, key, "a value")
                assert check_field_edit(data, at, key, "two\nlines")
                assert check_field_edit(data, at, key, None)


@SETTINGS
@given(documents(), ENTRIES, st.integers(0, 99))
def test_insert_and_remove_entries(data: bytes, new: Entry, which: int) -> None:
    """An entry that is put in adds its lines and blank ones; taken out again the others are as they were."""
    document = parse(data)
    places = [(index, at) for index, part in document.all_sections() for at in range(len(part) + 1)]
    section, entry = places[which % len(places)]
    try:
        edited = document.insert_entry(section, entry, new)
    except UsageError:
        assert new.open_ended or document.open_end or data.startswith((b"---", b"\xef\xbb\xbf---"))
        return
    assert not new.open_ended
    check_again(edited)
    assert edited.section(section).entries[entry].fields == new.fields
    place = place_of(document, section, entry)
    check_around(data, edited.dump(), place, place)
    removed = edited.remove_entry(section, entry)
    check_again(removed)
    kept = [raw for raw in lines_of(removed.dump()) if raw.strip()]
    wanted = [raw for raw in lines_of(data) if raw.strip()]
    assert [raw.rstrip(b"\r\n") for raw in wanted] == [raw.rstrip(b"\r\n") for raw in kept]


@SETTINGS
@given(documents(), ENTRIES, st.integers(0, 99))
def test_replace_entry(data: bytes, new: Entry, which: int) -> None:
    """An entry takes the place of another one, unless it would swallow what follows."""
    document = parse(data)
    places = [(index, at) for index, part in document.all_sections() for at in range(len(part))]
    if not places:
        return
    section, entry = places[which % len(places)]
    last = places[-1] == (section, entry) and section == len(document.sections) - 1
    if new.open_ended and not last:
        with pytest.raises(UsageError, match=r"document\.unclosed"):
            document.replace_entry(section, entry, new)
        return
    edited = document.replace_entry(section, entry, new)
    check_again(edited)
    start = document.line_of(section, entry)
    check_around(data, edited.dump(), start, start + len(lines_of(document.section(section).entries[entry].raw)))


@SETTINGS
@given(documents(), SECTIONS, st.integers(0, 99))
def test_insert_section(data: bytes, source: bytes, which: int) -> None:
    """A section goes between two others with blank lines as the file has them, or is refused."""
    document = parse(data)
    section = section_of(source)
    index = which % (len(document.sections) + 1)
    try:
        edited = document.insert_section(index, section)
    except UsageError:
        assert section.open_ended or document.open_end or data.startswith((b"---", b"\xef\xbb\xbf---"))
        return
    assert not section.open_ended
    check_again(edited)
    assert edited.sections[index].title == "S"
    place = place_of(document, index, None)
    check_around(data, edited.dump(), place, place)
    removed = edited.remove_section(index)
    check_again(removed)
    assert [part.title for part in removed.sections] == [part.title for part in document.sections]


@SETTINGS
@given(documents(), st.one_of(st.just("---\nx\n---\n"), st.just("\ufeff## x\n"), VALUES), st.integers(0, 99))
def test_with_body(data: bytes, body: str, which: int) -> None:
    """Any text as a body is one body again, or refused: no heading, fence or front matter comes out of it."""
    document = parse(data)
    blocks = blocks_of(document)
    section, entry = blocks[which % len(blocks)]
    try:
        edited = edit_block(document, (section, entry), lambda block: block.with_body(body))
    except UsageError:
        return
    check_again(edited)
    assert [level for _, level, _ in document.headings()] == [level for _, level, _ in edited.headings()]


@pytest.mark.parametrize(
    ("body", "key", "value", "wanted"),
    [
        ("", "a", "1", "- a: 1\n"),
        ("text\n", "a", "1", "- a: 1\ntext\n"),
        ("\n\ntext\n", "a", "1", "- a: 1\n\n\ntext\n"),
        ("  indented\n", "a", "1", "  indented\n- a: 1\n"),
        ("\n  indented\n\ntext", "a", "1", "\n  indented\n- a: 1\n\ntext"),
        ("- b: 2", "a", "1", "- b: 2\n- a: 1"),
        ("-  b: 2\n\ntext\n", "a", "1", "-  b: 2\n-  a: 1\n\ntext\n"),
        ("- a: old\n  more\n\n  more\nend\n", "a", "1", "- a: 1\nend\n"),
        ("- a:\n", "a", "1", "- a: 1\n"),
        ("- a: 1\n", "a", "", "- a: \n"),
        ("- a: 1\n- a: 2\n", "a", "3", "- a: 3\n- a: 2\n"),
        ("- a: 1\r\n", "b", "2", "- a: 1\r\n- b: 2\r\n"),
        ("```\n- a: 1\n```\n", "a", "2", "- a: 2\n```\n- a: 1\n```\n"),
        ("- a: 1\n", "a", "x\n\ny", "- a: x\n\n  y\n"),
    ],
)
def test_set_field_table(body: str, key: str, value: str, wanted: str) -> None:
    """Where a field goes and how it is written, one small body each."""
    newline = "\r\n" if "\r\n" in body else "\n"
    entry = Entry.compose("t", "", newline).with_body(body)
    assert entry.set_field(key, value).body == wanted


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("text\n### a\n", "document.structure"),
        ("### a\n### b\n", "document.structure"),
        ("### a\n## b\n", "document.structure"),
        ("## a\n", "document.structure"),
        ("", "document.structure"),
        ("### a\n```\n", "document.unclosed"),
        ("### a\n<!-- b\n", "document.unclosed"),
        ("### a\n<div>\n", "document.unclosed"),
    ],
)
def test_what_is_no_entry(text: str, code: str) -> None:
    """Text that would not stay one entry in a file is refused with its code."""
    with pytest.raises(UsageError) as caught:
        Entry.from_text(text)
    assert code == caught.value.code


def test_a_field_that_code_would_hide_is_refused() -> None:
    """Taking the line away that keeps a tag inside a paragraph would hide the field behind it."""
    entry = Entry.from_text("### t\n- a: 1\n<b>\n- c: 2\n\n")
    with pytest.raises(UsageError, match=r"field\.place"):
        entry.unset_field("a")


def test_an_edit_shares_what_it_does_not_touch() -> None:
    """After an edit all other entries and sections are the same objects, and what was computed for them stays."""
    document = parse(sample("tasks.md"))
    entries = document.sections[0].entries
    seen = entries[1].memo(lambda entry: [entry.title])
    edited = document.replace_entry(0, 0, entries[0].set_field("notes", "x"))
    assert edited.sections[0].entries[1:] == entries[1:]
    assert edited.sections[1:] == document.sections[1:]
    assert edited.sections[0].entries[1].title == seen[0]
