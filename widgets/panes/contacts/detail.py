"""How contacts are reached: the channels of a contact in order of use, and the channels a notification would use."""

from __future__ import annotations

from datetime import tzinfo

from memory.base.clock import format_local
from memory.files.contacts.channel_order import channels_of, is_gone, unreachable
from memory.files.contacts.model import Channel, Contact, Contacts
from memory.monitoring.alerts.channels import Reach
from widgets.detail import Caption, DetailLine, Labelled, Link, Prose
from widgets.text.glyphs import Glyphs
from widgets.text.styled_text import Piece, line

NTH = ("1st", "2nd", "3rd")
"""The first ordinals; later ones are `4th` and so on."""

GUTTER = 2
"""Cells for the mark before a row."""


def nth(number: int) -> str:
    """The ordinal of a number, from 1."""
    return NTH[number - 1] if number <= len(NTH) else f"{number}th"


def status_line(status: str | None, glyphs: Glyphs, *, gone: bool) -> tuple[Piece, ...]:
    """The sign and the word of a channel's state."""
    if gone:
        return (Piece(f"{glyphs.alert} {status}", "alert"),)
    if not status:
        return (Piece(f"{glyphs.circle} unknown", "muted"),)
    return (Piece(f"{glyphs.check} ", "good"), Piece(status))


def row_mark(contact: Contact, contacts: Contacts, reach: Reach, glyphs: Glyphs) -> Piece:
    """The mark before a row.

    A channel for notifications has a number: 1 if it would be used, 2 and so on for fallbacks. The alert sign means
    that nothing can be sent: a channel is disconnected or has no address, or all channels of a person or route are
    disconnected.
    """
    if isinstance(contact, Channel):
        step = reach.step(contact)
        if is_gone(contact) or (step is not None and step.why):
            return Piece(f"{glyphs.alert} ", "alert")
        if step is None:
            return Piece(" " * GUTTER)
        number = reach.usable.index(step) + 1
        return Piece(f"{number if number < 10 else '+'} ", "accent" if number == 1 else "muted")
    if unreachable(contact, contacts):
        return Piece(f"{glyphs.alert} ", "alert")
    return Piece(" " * GUTTER)


def reached_by(contact: Contact, contacts: Contacts, glyphs: Glyphs) -> list[DetailLine]:
    """The channels of a person or a route in order of use, as links with their state; empty for a channel."""
    channels = channels_of(contact, contacts)
    if contact.kind == "channel":
        return []
    if not channels:
        return [Caption("REACHED BY"), Prose("no channel of contacts.md is named here", tone="muted")]
    links: list[DetailLine] = []
    for number, channel in enumerate(channels, 1):
        sign = glyphs.alert if is_gone(channel) else glyphs.check if channel.status else glyphs.circle
        links.append(Link(nth(number), f"{sign} {channel.name}", ("contacts.md", channel.ref)))
        # On its own line: a link is cut where room is short, and the state is what matters.
        links.append(Labelled("", channel.status or "state unknown", "muted"))
    return [Caption("REACHED BY"), *links]


def notification(reach: Reach, zone: tzinfo, glyphs: Glyphs) -> list[DetailLine]:
    """The channels that a notification would use now: the first, the fallback, and why not the others."""
    lines: list[DetailLine] = [Caption("A NOTIFICATION NOW")]
    if not reach.steps:
        lines.append(Prose("goes nowhere: config.md names no channel for it, or turns notifications off", tone="muted"))
        return lines
    if reach.first is None:
        lines.append(Prose(f"{glyphs.alert} no channel can take it", tone="alert"))
    for number, step in enumerate(reach.steps, 1):
        if step.why:
            lines.append(Labelled(nth(number), line(Piece(f"{glyphs.alert} ", "alert"), step.name)))
            lines.append(Labelled("", step.why, "muted"))
        else:
            use = "used first" if step == reach.first else "the fallback" if step == reach.fallback else "after that"
            lines.append(
                Labelled(nth(number), line(Piece(f"{glyphs.check} ", "good"), step.name, Piece(f", {use}", "muted")))
            )
    if reach.quiet is not None:
        end = format_local(reach.quiet, zone)[11:16]
        lines.append(Labelled("waits", f"until {end} (quiet hours), unless its priority is high"))
    return lines
