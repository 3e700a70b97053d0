"""Contacts: rows of tables edited cell by cell, people as bullets."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.errors import MemdeckError, UsageError
from memory.files import template_files
from memory.files.verbs.contacts import add_contact, edit
from tests.fixture_files import sample
from tests.memory_files import NOW, after, changed_lines, left_by, snapshot_of, text_of

NAME = "contacts.md"
SAMPLE = snapshot_of({NAME: sample(NAME)})


def test_the_sample() -> None:
    """Three channels, two routes, three people, with their lines."""
    found = SAMPLE.contacts.json()
    assert [one["name"] for one in found["channels"]] == ["Dev Team Bot", "Slack Alerts", "DingTalk Team"]
    assert [one["prefix"] for one in found["routes"]] == ["/ask", "/deploy"]
    assert [(one["name"], one["role"]) for one in found["people"]] == [
        ("Alice", "PM"),
        ("Bob", "DevOps"),
        ("Carol", "Designer"),
    ]
    lines = sample(NAME).decode().split("\n")
    assert all(one.title.split()[0] in lines[one.line] for one in SAMPLE.contacts.items)


def test_odd_tables() -> None:
    """Columns in another order, further columns, missing cells, and a table of something else."""
    text = "## Channels\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
    text += "| ID | Name | Team |\n|--|--|--|\n| c-1 | Bot | ops |\n| c-2 |\n"
    channels = snapshot_of({NAME: text}).contacts.channels
    assert [(one.id, one.name, one.type, dict(one.extra)) for one in channels] == [
        ("c-1", "Bot", "", {"Team": "ops"}),
        ("c-2", "", "", {"Team": ""}),
    ]


@pytest.mark.parametrize(
    ("text", "name", "role", "rest", "plain"),
    [
        ("**Alice** (PM): hi", "Alice", "PM", "hi", False),
        ("**Al** (PM (EU)): a: b", "Al", "PM (EU)", "a: b", False),
        ("**王芳**: x", "王芳", None, "x", False),
        ("**Bob**", "Bob", None, "", False),
        ("Bob: x", "Bob: x", None, "", True),
    ],
)
def test_people(text: str, name: str, role: str | None, rest: str, plain: bool) -> None:
    """Name, role and text; what has no bold name is kept as it is."""
    (person,) = snapshot_of({NAME: f"## People\n- {text}\n"}).contacts.people
    assert (person.name, person.role, person.text, person.plain) == (name, role, rest, plain)


@pytest.mark.parametrize(
    ("kind", "values", "line"),
    [
        ("channel", {"name": "A|b", "id": "c-9", "Status": "off"}, "| A\\|b | c-9 |  | off |"),
        ("route", {"channel": "Slack Alerts", "project": "p", "prefix": "/x"}, "| Slack Alerts | p | /x |  |"),
        ("person", {"name": "Zed", "role": "QA", "text": "hi"}, "- **Zed** (QA): hi"),
        ("person", {"name": "Zed"}, "- **Zed**"),
    ],
)
def test_add(kind: str, values: Mapping[str, str], line: str) -> None:
    """A row or a bullet comes behind the last one; from a template, or nothing, it works as well."""
    edit = add_contact(SAMPLE, kind, values, now=NOW)
    done = after(SAMPLE, edit)
    assert changed_lines(text_of(SAMPLE, NAME), text_of(done, NAME)) == ([], [line + "\n"])
    assert left_by(done, edit).kind == kind
    lower = {key.lower(): value for key, value in values.items()}
    for start in (snapshot_of(template_files(NOW)), snapshot_of({}), snapshot_of({NAME: "## Notes\nhi"})):
        edit = add_contact(start, kind, lower, now=NOW)
        assert left_by(after(start, edit), edit).title.startswith(values.get("name") or values["channel"])


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("robot", {"name": "x"}),
        ("channel", {"id": "x"}),
        ("channel", {"name": "x", "colour": "red"}),
        ("channel", {"name": "x", "id": "a\nb"}),
        ("person", {"name": "a\nb"}),
        ("person", {"name": "a**b"}),
        ("person", {"name": "a", "role": "x)"}),
        ("person", {"name": "a", "phone": "1"}),
        ("route", {"project": "p"}),
    ],
)
def test_bad_values_are_refused(kind: str, values: Mapping[str, str]) -> None:
    """Unknown kinds and keys, missing names and values with line ends are refused."""
    with pytest.raises(UsageError):
        add_contact(SAMPLE, kind, values, now=NOW)


@given(
    st.sampled_from(["channel", "route", "person"]),
    st.text(alphabet="ab |#-*`~<>!\\\n:()中", min_size=1, max_size=10),
    st.text(alphabet="ab |#-*`~<>!\\\n:()中", max_size=16),
)
def test_hostile_values_stay_where_they_are_put(kind: str, name: str, text: str) -> None:
    """Any value is read back as it was given, or refused; nobody else changes."""
    values = {
        "channel": {"name": name, "type": text},
        "route": {"channel": name, "prefix": text},
        "person": {"name": name, "text": text},
    }[kind]
    try:
        edit = add_contact(SAMPLE, kind, values, now=NOW)
    except MemdeckError:
        return
    done = after(SAMPLE, edit)
    found = left_by(done, edit).json()
    assert {key: found[key].split() for key in values} == {key: value.split() for key, value in values.items()}
    others = [one.title for one in done.contacts.items if one.at != edit.at[1]]
    assert [one.title for one in SAMPLE.contacts.items] == others or len(others) == len(SAMPLE.contacts.items) - 1


CHANNELS = """\
## Channels
| Name | ID | Type | Status |
|------|----|------|--------|
| Ops Bot | c-1 (Telegram) | telegram | connected |
| Sales | c-2 | slack | connected |
"""


@pytest.mark.parametrize("taken", ["c-1", "C-1", "c-1 (Slack)"])
def test_the_id_of_another_channel_is_refused(taken: str) -> None:
    """A channel that is added or edited gets no id that another one has; its own may stay, and none is no id."""
    start = snapshot_of({"contacts.md": CHANNELS})
    with pytest.raises(UsageError) as caught:
        add_contact(start, "channel", {"name": "New", "id": taken}, now=NOW)
    assert caught.value.code == "contact.id"
    with pytest.raises(UsageError, match="has the id"):
        edit(start, "c-2", {"id": taken}, now=NOW)
    assert edit(start, "c-1", {"id": "c-1"}, now=NOW).documents
    once = after(start, add_contact(start, "channel", {"name": "One"}, now=NOW))
    assert len(after(once, add_contact(once, "channel", {"name": "Two"}, now=NOW)).contacts.channels) == 4


def test_a_channel_is_edited_by_its_id() -> None:
    """The id names it, whatever names hold it, and though another one is called like this."""
    text = CHANNELS + "| c-2 | c-9 | slack | connected |\n"
    start = snapshot_of({"contacts.md": text})
    changed = after(start, edit(start, "c-2", {"status": "disconnected"}, now=NOW))
    assert [(one.id, one.status) for one in changed.contacts.channels][1:] == [
        ("c-2", "disconnected"),
        ("c-9", "connected"),
    ]
