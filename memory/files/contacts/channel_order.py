"""By which channels a contact is reached, as contacts.md says it: in the order in which they are to be used."""

from __future__ import annotations

from .model import Channel, Contact, Contacts, Route

MEANING = 4
"""The first word of a channel's name stands for it when it has more letters than that."""

GONE = frozenset({"disconnected", "offline", "error", "failed", "down", "off", "disabled"})
"""States of a channel that need a person."""


def is_gone(channel: Channel) -> bool:
    """Tell whether a channel says that it does not work."""
    return (channel.status or "").strip().casefold() in GONE


def is_same(name: str, channel: Channel) -> bool:
    """Tell whether a route's channel is this one, by name or by id."""
    return bool(name) and name.casefold() in (channel.name.casefold(), channel.id.casefold())


def mentions(text: str, name: str) -> bool:
    """Tell whether a text names a channel, by all of its name or by a first word that says enough."""
    return _place(text.casefold(), name.casefold()) >= 0


def _place(folded: str, wanted: str) -> int:
    """Return where a text names a channel; -1: nowhere."""
    if not wanted:
        return -1
    found = folded.find(wanted)
    if found >= 0:
        return found
    first = wanted.split(" ")[0]
    if len(first) <= MEANING:
        return -1
    at = 0
    for word in folded.split():
        at = folded.index(word, at)
        if word.strip(".,;:()!?") == first:
            return at
        at += len(word)
    return -1


def channels_of(contact: Contact, contacts: Contacts) -> tuple[Channel, ...]:
    """Return the channels that a contact is reached by, the first one first.

    A person's are those that the words about how to reach them name, in their order; a route has the one that it
    belongs to, a channel is its own.
    """
    if isinstance(contact, Channel):
        return (contact,)
    if isinstance(contact, Route):
        return tuple(one for one in contacts.channels if is_same(contact.channel, one))
    folded = (contact.name if contact.plain else contact.text).casefold()
    places = [(_place(folded, one.name.casefold()), number, one) for number, one in enumerate(contacts.channels)]
    return tuple(one for at, _, one in sorted(places, key=lambda place: place[:2]) if at >= 0)


def unreachable(contact: Contact, contacts: Contacts) -> bool:
    """Tell whether a contact names channels and all of them say that they do not work."""
    found = channels_of(contact, contacts)
    return bool(found) and all(map(is_gone, found))
