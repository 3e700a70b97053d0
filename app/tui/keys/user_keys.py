"""The user's keys by the id of their action, the names of keys, and the file that has them.

That is `keys.toml` in the configuration folder, read into a `Keymap`. A file with errors never blocks the start: errors
are reported with their line, and those keys keep their defaults. Without a file nothing else is imported or read.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from memory.base.toml_text import read_toml
from memory.errors import ConfigError
from widgets.chrome.keys import UNBOUND

MODIFIERS = ("ctrl", "alt", "shift")

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
        from textual.keys import _character_to_key

        name = _character_to_key(last.casefold() if modifiers else last)
    else:
        name = last.casefold().replace(" ", "_")
        name = _ALIASES.get(name, name)
        if name not in _NAMED:
            return None
    return "+".join([*sorted(modifiers, key=MODIFIERS.index), name])


NAME = "memdeck/keys.toml"
"""The path of the file in the configuration folder."""

_LONGEST_ID = 60


def read_keymap(folder: Path, workspace: Path | None = None) -> Keymap:
    """Read `keys.toml` in a configuration folder; never raises. A file inside `workspace` is ignored."""
    path = folder / NAME
    if workspace is not None and Path(os.path.realpath(path)).is_relative_to(os.path.realpath(workspace)):
        inside = KeyProblem("a file in the workspace cannot set keys", str(path))
        return Keymap(problems=(inside,), path=str(path)) if os.path.lexists(path) else Keymap()
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return Keymap()
    except OSError as error:
        return Keymap(problems=(KeyProblem(error.strerror or str(error), str(path)),), path=str(path))
    from .every_key import known_ids

    return parse_keymap(data, str(path), known_ids())


def parse_keymap(data: bytes, path: str, known: Collection[str]) -> Keymap:
    """Parse the bytes of the file; `known` are the ids that can be bound. Wrong entries are left out."""
    try:
        toml = read_toml(data, path)
    except ConfigError as error:
        line = error.details["line"]
        return Keymap(problems=(KeyProblem(error.message.removeprefix(f"{path}:{line}: "), path, line),), path=path)
    rebound: dict[str, tuple[str, ...]] = {}
    problems: list[KeyProblem] = []
    for steps, value in _entries(toml.values):
        binding_id = ".".join(steps)
        line = toml.line_of(*steps)
        if binding_id not in known:
            problems.append(KeyProblem(_unknown(binding_id, known), path, line))
            continue
        written = [value] if isinstance(value, str) else value
        if not isinstance(written, list) or not all(isinstance(one, str) for one in written):
            problems.append(KeyProblem(f'{binding_id}: write a key such as "f5", or a list of keys', path, line))
            continue
        keys = [key_of(one) for one in written]
        wrong = [one for one, key in zip(written, keys, strict=True) if key is None]
        if wrong:
            problems.append(
                KeyProblem(f"{binding_id}: there is no key {' and no '.join(map(repr, wrong))}", path, line)
            )
            continue
        rebound[binding_id] = tuple(dict.fromkeys(key for key in keys if key is not None))
    return Keymap(rebound, tuple(problems), path)


def _entries(table: Mapping[str, object], before: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    """Yield ids and values. `task.start = …` makes nested tables in TOML, `"task.start" = …` does not: both count."""
    for name, value in table.items():
        path = (*before, name)
        if isinstance(value, dict):
            yield from _entries(value, path)
        else:
            yield path, value


def _unknown(binding_id: str, known: Iterable[str]) -> str:
    said = binding_id[:_LONGEST_ID]
    near = get_close_matches(said, list(known), 1)
    return f"unknown id {said!r}" + (f", did you mean {near[0]}?" if near else "; see docs/keys.md")
