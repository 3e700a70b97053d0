"""By which channels contacts are reached, in the order of their words."""

from __future__ import annotations

from memory.document import parse
from memory.files.contacts.model import Contacts, channels_of, is_gone, mentions, unreachable

TEXT = """## Channels

| Name | ID | Type | Status |
|---|---|---|---|
| Dev Team Bot | c-1 | telegram | connected |
| Slack Alerts | c-2 | webhook | Disconnected |
| DingTalk Team | c-3 | webhook | offline |
| Ops | c-4 | webhook | |

## Message Routes

| Channel | Project | Prefix | Terminal |
|---|---|---|---|
| c-2 | p | /a | auto |
| Nobody | p | /b | auto |

## People

- **Alice** (PM): Slack first, then the Dev Team Bot
- **Bob** (DevOps): DingTalk; Slack Alerts
- **Carol**: by letter; slackers, opsy
- Dave, by DingTalk
"""


def contacts() -> Contacts:
    """The contacts of these tests."""
    return Contacts("contacts.md", parse(TEXT.encode()))


def test_channels_come_in_the_order_in_which_they_are_named() -> None:
    """A first word that says enough names a channel, a part of another word does not."""
    known = contacts()
    names = {person.name: [one.id for one in channels_of(person, known)] for person in known.people}
    assert names == {"Alice": ["c-2", "c-1"], "Bob": ["c-3", "c-2"], "Carol": ["c-4"], "Dave, by DingTalk": ["c-3"]}


def test_routes_and_channels_have_their_own() -> None:
    """A route names its channel by name or id; one that is not there is none."""
    known = contacts()
    assert [[one.id for one in channels_of(route, known)] for route in known.routes] == [["c-2"], []]
    assert channels_of(known.channels[0], known) == (known.channels[0],)


def test_nobody_is_reached_where_all_channels_are_gone() -> None:
    """Case does not matter; a channel without a state is not gone, and who names no channel is not unreachable."""
    known = contacts()
    assert [is_gone(one) for one in known.channels] == [False, True, True, False]
    assert [person.name for person in known.people if unreachable(person, known)] == ["Bob", "Dave, by DingTalk"]
    assert [unreachable(route, known) for route in known.routes] == [True, False]


def test_short_first_words_name_nothing() -> None:
    """`Dev` alone could mean anything."""
    assert not mentions("ask the dev on duty", "Dev Team Bot")
    assert mentions("ask the dev team bot", "Dev Team Bot")
    assert not mentions("anything", "")
