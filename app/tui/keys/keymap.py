"""Keymap: the user's keys by the id of their action; and the names of keys."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from widgets.chrome.keys import UNBOUND

MODIFIERS = ("ctrl", "alt", "shift", "super", "hyper", "meta")

_ALIASES = {
    "esc": "escape",
    "pgup": "pageup",
    "pgdn": "pagedown",
    "pgdown": "pagedown",
    "del": "delete",
    "ins": "insert",
    "return": "enter",
    "spacebar": "space",
    "bs": "backspace",
}
_NAMED = frozenset(
    {"escape", "enter", "space", "tab", "backspace", "delete", "insert", "home", "end", "pageup", "pagedown"}
    | {"up", "down", "left", "right", *(f"f{number}" for number in range(1, 25))}
)


class KeyProblem(NamedTuple):
    """A problem with a key: a sentence, the file it is in (empty: none) and its line there, from 1."""

    message: str
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        """The place, if there is one, and the sentence."""
        if not self.file:
            return self.message
        return f"{self.file}:{self.line}: {self.message}" if self.line else f"{self.file}: {self.message}"


@dataclass(frozen=True, slots=True)
class Keymap:
    """The keys that the user chose, by the id of their action; keys have Textual's names.

    `path` is the file, empty if there is none.
    """

    rebound: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    problems: tuple[KeyProblem, ...] = ()
    path: str = ""

    def keys(self, binding_id: str | None, default: Sequence[str]) -> tuple[str, ...]:
        """Return the keys of a binding: those that were chosen, else its defaults; empty if it has none."""
        return tuple(self.rebound.get(binding_id or "", default))

    def for_textual(self) -> dict[str, str]:
        """Return the argument of `App.set_keymap`."""
        return {binding_id: ",".join(keys) or UNBOUND for binding_id, keys in self.rebound.items()}


def key_of(written: str) -> str | None:
    """Return Textual's name of a key as users write it (`?`, `Esc`, `ctrl+s`); None: there is no such key."""
    text = written.strip() or ("space" if written else "")
    *before, last = [*text[:-1].split("+")[:-1], "+"] if text == "+" or text.endswith("++") else text.split("+")
    modifiers = [part.strip().casefold() for part in before]
    last = last.strip()
    if not last or any(part not in MODIFIERS for part in modifiers) or len(set(modifiers)) < len(modifiers):
        return None
    if len(last) == 1:
        if not last.isprintable():
            return None
        if modifiers == ["shift"] and last.upper() != last.lower():
            return last.upper()
        name = _character(last.casefold() if modifiers else last)
    else:
        name = last.casefold().replace(" ", "_")
        name = _ALIASES.get(name, name)
        if name not in _NAMED and not is_character_name(name):
            return None
    return "+".join([*sorted(modifiers, key=MODIFIERS.index), name])


def _character(character: str) -> str:
    from textual.keys import _character_to_key

    return _character_to_key(character)


def is_character_name(name: str) -> bool:
    """Return whether a key types a character, given its long name such as `question_mark` or the character."""
    from textual.keys import KEY_NAME_REPLACEMENTS

    if len(name) == 1 or name in KEY_NAME_REPLACEMENTS.values():
        return True
    if name in _NAMED:
        return False

    try:
        return unicodedata.lookup(name.replace("_", " ")).isprintable()
    except KeyError:
        return False
