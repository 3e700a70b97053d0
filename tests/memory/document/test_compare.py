"""What is different between two documents, and taking that back out of a third."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from memory.document import Document, Entry, parse
from memory.document.compare import apply, compare, inverted
from memory.document.match import units_of
from memory.document.merge import merge
from memory.document.model import updated

TITLES = ("one", "[HIGH] two", "three", "two", "four")
BODIES = ("", "- a: 1\n", "- a: 2\n- b: x\n", "text\n\nmore\n", "- a: 1\n")
entries = st.builds(lambda title, body: f"### {title}\n{body}\n", st.sampled_from(TITLES), st.sampled_from(BODIES))
sections = st.builds(
    lambda title, lead, inside: f"## {title}\n{lead}\n{''.join(inside)}",
    st.sampled_from(("Pending", "Completed", "2024-01-15", "2024-01-14")),
    st.sampled_from(("", "\n", "- k: v\n", "- k: w\n- l: m\n")),
    st.lists(entries, max_size=5),
)
texts = st.builds(
    lambda front, head, parts: (front + head + "".join(parts)).encode(),
    st.sampled_from(("", "---\nupdated: 1\n---\n", "---\nupdated: 2\ntype: x\n---\n", "\ufeff---\na: b\n---\n")),
    st.sampled_from(("", "words\n", "### lone\n- a: 1\n", "```\n## no heading\n```\n")),
    st.lists(sections, max_size=4),
)


@given(texts | st.binary(max_size=80), texts | st.binary(max_size=80))
def test_regions_lead_from_one_to_the_other(before: bytes, after: bytes) -> None:
    """Whatever two files are, their regions give the one from the other, both ways round; none where they agree."""
    old = parse(before)
    for new in (parse(after), updated(old, after)):
        regions = compare(old, new)
        assert apply(regions, before) == after
        assert apply(inverted(regions), after) == before
        assert inverted(inverted(regions)) == regions
        assert bool(regions) == (before != after)


BASE = (
    b"---\nupdated: 1\n---\n\n## Pending\n\n### A\n- n: 1\n\n### B\n- n: 2\n\n### C\n- n: 3\n\n"
    b"## Done\n\n- one\n- two\n"
)


def _entry(document: Document, title: str) -> tuple[int, int]:
    return next(
        (index, number)
        for index, part in document.all_sections()
        for number, entry in enumerate(part.entries)
        if entry.title == title
    )


def _set(document: Document, title: str, key: str, value: str) -> Document:
    section, index = _entry(document, title)
    return document.replace_entry(section, index, document.section(section).entries[index].set_field(key, value))


def _move(document: Document, title: str, section: int, **fields: str) -> Document:
    at = _entry(document, title)
    entry = document.section(at[0]).entries[at[1]]
    for key, value in fields.items():
        entry = entry.set_field(key, value)
    return document.remove_entry(*at).insert_entry(section, 0, entry)


def test_units_tell_what_became_of_entries() -> None:
    """Added, removed, edited in place and moved entries are told apart; blank lines are no difference."""
    old = parse(BASE)
    new = _move(_set(old, "A", "n", "9"), "B", 1, started="now")
    new = new.remove_entry(*_entry(new, "C")).insert_entry(1, 0, Entry.compose("D"))
    found = {
        (
            unit.before and unit.before.title,
            unit.after and unit.after.title,
            unit.section,
            unit.new_section,
        )
        for unit in units_of(compare(old, new))
    }
    assert found == {
        ("A", "A", "Pending", "Pending"),
        ("B", "B", "Pending", "Done"),
        ("C", None, "Pending", None),
        (None, "D", None, "Done"),
    }
    assert units_of(compare(parse(b"## A\n### x\n"), parse(b"## A\n### x\n\n\n"))) == ()


edits = st.lists(
    st.tuples(st.sampled_from(("add", "remove", "set", "move")), st.integers(0, 11), st.integers(0, 2)), max_size=4
)


def _edited(document: Document, steps: list[tuple[str, int, int]], who: str) -> Document:
    """Return the document after some edits of one writer, whose entries and values bear the writer's name."""
    for number, (what, place, section) in enumerate(steps):
        if what == "add":
            at = min(place, len(document.section(section)))
            document = document.insert_entry(section, at, Entry.compose(f"{who} {number}", f"- by: {who}\n"))
            continue
        places = [(index, one) for index, part in document.all_sections() for one in range(len(part))]
        if not places:
            continue
        index, one = places[place % len(places)]
        entry = document.section(index).entries[one]
        if what == "set":
            document = document.replace_entry(index, one, entry.set_field(who, str(number)))
        else:
            document = document.remove_entry(index, one)
            if what == "move":
                document = document.insert_entry(section, 0, entry)
    return document


@given(edits, edits)
def test_of_two_writers_one_is_taken_back(
    first: list[tuple[str, int, int]], second: list[tuple[str, int, int]]
) -> None:
    """Entries are then those of the file, less what the one wrote, plus what it took; or it is a conflict."""
    body = "".join(f"## S{part}\n\n" + "".join(f"### E{part}{n}\n- k: v\n\n" for n in range(3)) for part in range(3))
    old = parse(body.encode())
    mine = _edited(old, first, "mine")
    theirs = _edited(mine, second, "theirs")
    result = merge(mine, old, theirs, "tasks", strict=True)
    if result.conflicts:
        assert second  # Where nobody else wrote, nothing can be in the way.
        return
    taken = result.document
    if not second:
        assert taken.dump() == old.dump()
    # No entry of the others is lost, and nothing comes but what was there before.
    before, kept, here = (Counter(_titles_in(one)) for one in (old, theirs, taken))
    assert not {title for title in kept - here if title.startswith("theirs")}
    assert here - kept <= before
    assert parse(taken.dump()).headings() == taken.headings()


def _titles_in(document: Document) -> list[str]:
    return [entry.title for _, part in document.all_sections() for entry in part.entries]
