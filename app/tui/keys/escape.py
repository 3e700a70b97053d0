"""Esc that the terminal hands over together with the next key, as it comes where the machine is busy.

A terminal writes Esc and `d` in the same bytes as Alt+d, and only the time between them tells them apart. Whoever was
kept from reading for longer than that has both at once. Then it is two keys, unless Alt with this key means something.
"""

from __future__ import annotations

from collections.abc import Iterable

from textual._xterm_parser import XTermParser
from textual.events import Key

ESC, ALT = "\x1b", "alt+"


class EscapeParser(XTermParser):
    """Textual's parser, which forgets Esc before a key that it knows no Alt of, and takes one between keys for `^`."""

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[Key]:
        """Return the keys of some characters; `alt` says that Esc came right before them."""
        if len(sequence) == 2 and sequence[0] == ESC and sequence[1] not in "[O":
            # No longer sequence begins like this. Those of Alt and a digit would be signs such as `¡`.
            if not sequence[1].isdecimal() and (found := [*super()._sequence_to_key_events(sequence)]):
                yield from found
                return
            sequence, alt = sequence[1], True
        for key in super()._sequence_to_key_events(sequence, alt=alt):
            if alt and not key.key.startswith(ALT):
                yield Key("escape", ESC)
            yield key


def use_parser() -> None:
    """Have drivers that are started from now on read keys with this parser."""
    from textual.drivers import linux_driver

    linux_driver.XTermParser = EscapeParser  # type: ignore[attr-defined]


def apart(key: Key) -> tuple[Key, Key] | None:
    """Return Esc and the other key of what may be both or Alt; None: it is one key for sure.

    Terminals that tell of Alt in sequences of their own give no character with it.
    """
    character = key.character
    if not key.key.startswith(ALT) or not character or not character.isprintable():
        return None
    two = Key("escape", ESC), Key(character, character)
    for one in two:
        # A question that came up since does not take them for its answer.
        one.time = key.time
    return two
