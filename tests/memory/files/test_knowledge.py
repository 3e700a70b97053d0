"""Knowledge: bullets under sections and topics, decisions with date and reason."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.errors import MemdeckError, UsageError
from memory.files import template_files
from memory.files.find import find_knowledge
from memory.files.verbs.knowledge import add_knowledge, edit_knowledge
from tests.fixture_files import sample
from tests.memory_files import NOW, after, changed_lines, left_by, snapshot_of, text_of

NAME = "knowledge.md"
SAMPLE = snapshot_of({NAME: sample(NAME)})


def test_the_sample() -> None:
    """Sections, topics, items and the parts of decisions."""
    knowledge = SAMPLE.knowledge
    assert [(one.title, len(one.items), len(one.topics)) for one in knowledge.sections] == [
        ("User Preferences", 5, 0),
        ("Project Knowledge", 0, 2),
        ("Technical Facts", 5, 0),
        ("Decisions Made", 3, 0),
    ]
    jwt = find_knowledge(SAMPLE, "JWT")
    assert (jwt.date, jwt.text, jwt.reason, jwt.kind) == (
        "2024-01-10",
        "Chose JWT over session cookies for auth",
        "stateless, mobile-friendly",
        "decision",
    )
    cms = find_knowledge(SAMPLE, "Contentful")
    assert (cms.section, cms.topic, cms.text, cms.kind) == (
        "Project Knowledge",
        "Marketing Site",
        "CMS: Contentful",
        "fact",
    )
    lines = sample(NAME).decode().split("\n")
    assert all(item.raw in lines[item.line] for item in knowledge.items)


def test_nested_bullets_belong_to_their_parent() -> None:
    """What is indented below a bullet is part of its text; bullets in code are none."""
    items = snapshot_of({NAME: "## A\n- one\n  - inner\n\n  more\n* two\n```\n- code\n```\n"}).knowledge.items
    assert [item.text for item in items] == ["one\n- inner\n\nmore", "two"]


@pytest.mark.parametrize(
    ("section", "topic", "lines"),
    [
        ("Project Knowledge", "Marketing Site", ["- X"]),
        ("project knowledge", "marketing site", ["- X"]),
        ("Project Knowledge", "New", ["### New", "- X"]),
        ("Brand New", None, ["## Brand New", "- X"]),
        ("Brand New", "Topic", ["## Brand New", "### Topic", "- X"]),
        ("Decisions Made", None, ["- 2024-01-15: X"]),
    ],
)
def test_missing_places_are_made(section: str, topic: str | None, lines: list[str]) -> None:
    """A section or topic that is missing is made at the end; a decision gets today's date."""
    for start in (SAMPLE, snapshot_of({NAME: sample(NAME).rstrip(b"\n")})):
        edit = add_knowledge(start, "X", section=section, topic=topic, now=NOW)
        done = after(start, edit)
        came = changed_lines(text_of(start, NAME), text_of(done, NAME))[1]
        assert [line.rstrip("\n") for line in came if line.strip() and line.rstrip("\n") in lines] == lines
        assert left_by(done, edit).text == "X"


def test_templates_and_styles() -> None:
    """The first bullet of a template has blank lines around it; further ones take the marker that stands there."""
    start = snapshot_of(template_files(NOW))
    text = text_of(after(start, add_knowledge(start, "X", section="Technical Facts", now=NOW)), NAME)
    assert "## Technical Facts\n\n- X\n\n## Decisions Made\n" in text
    start = snapshot_of({NAME: "## A\n*   one\n\nwords\n"})
    text = text_of(after(start, add_knowledge(start, "two\nmore", section="A", now=NOW)), NAME)
    assert text == "## A\n*   one\n*   two\n    more\n\nwords\n"


def test_decisions_keep_date_and_reason() -> None:
    """Another text leaves date and reason, unless others are given or the text brings its own."""
    cases = [
        (edit_knowledge(SAMPLE, "JWT", "Sessions", now=NOW), "- 2024-01-10: Sessions (stateless, mobile-friendly)"),
        (edit_knowledge(SAMPLE, "JWT", "Sessions (easy)", now=NOW), "- 2024-01-10: Sessions (easy)"),
        (edit_knowledge(SAMPLE, "JWT", "Sessions", reason="", now=NOW), "- 2024-01-10: Sessions"),
        (
            edit_knowledge(SAMPLE, "JWT", "Sessions", date="2024-01-11", reason="x", now=NOW),
            "- 2024-01-11: Sessions (x)",
        ),
        (edit_knowledge(SAMPLE, "JWT", "2024-01-12: Sessions", now=NOW), "- 2024-01-12: Sessions"),
    ]
    for edit, expected in cases:
        assert changed_lines(text_of(SAMPLE, NAME), text_of(after(SAMPLE, edit), NAME))[1] == [expected + "\n"]


@pytest.mark.parametrize("date", ["2024-02-30", "soon", "null"])
def test_bad_dates(date: str) -> None:
    """A decision has a date that exists."""
    with pytest.raises(UsageError):
        add_knowledge(SAMPLE, "X", section="Decisions Made", date=date, now=NOW)


@given(st.text(alphabet="ab #-*`~<>!|\\\n\r\t:_(0é中", min_size=1, max_size=24), st.booleans())
def test_hostile_texts_stay_one_bullet(text: str, topic: bool) -> None:
    """Any text either becomes one more item that reads as it was given, or is refused; nothing else changes."""
    before = [item.raw for item in SAMPLE.knowledge.items]
    try:
        edit = add_knowledge(
            SAMPLE, text, section="Project Knowledge", topic="Marketing Site" if topic else None, now=NOW
        )
    except MemdeckError:
        return
    done = after(SAMPLE, edit)
    items = [item.raw for item in done.knowledge.items]
    added = left_by(done, edit)
    assert added.raw.split() == text.split()
    items.remove(added.raw)
    assert items == before
    assert len(done.document(NAME).sections) == 4
