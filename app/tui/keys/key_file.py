"""The file with the user's keys: `keys.toml` in the configuration folder, read into a `Keymap`.

A file with errors never blocks the start: errors are reported with their line, and those keys keep their defaults.
Without a file nothing else is imported or read.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path

from memory.base.toml_text import read_toml
from memory.errors import ConfigError

from .bindings import known_ids
from .keymap import Keymap, KeyProblem, key_of

NAME = "memdeck/keys.toml"
"""The path of the file in the configuration folder."""

LONGEST = 65_536
"""The most bytes of the file that are read; no real file is larger."""

_TIMES = 4
"""How many more entries it may have than other files: each id once, some with many keys."""

_MOST_PROBLEMS = 20
_LONGEST_ID = 60


def read_keymap(folder: Path, workspace: Path | None = None) -> Keymap:
    """Read `keys.toml` in a configuration folder; never raises. A file inside `workspace` is ignored."""
    path = folder / NAME
    if workspace is not None and Path(os.path.realpath(path)).is_relative_to(os.path.realpath(workspace)):
        inside = KeyProblem("it is inside the workspace, whose files choose no keys", str(path))
        return Keymap(problems=(inside,), path=str(path)) if os.path.lexists(path) else Keymap()
    try:
        with open(path, "rb") as file:
            data = file.read(LONGEST + 1)
    except FileNotFoundError:
        return Keymap()
    except OSError as error:
        return Keymap(problems=(KeyProblem(error.strerror or str(error), str(path)),), path=str(path))
    if len(data) > LONGEST:
        return Keymap(problems=(KeyProblem(f"more than {LONGEST:,} bytes", str(path)),), path=str(path))

    return parse_keymap(data, str(path), known_ids())


def parse_keymap(data: bytes, path: str, known: Collection[str]) -> Keymap:
    """Parse the bytes of the file; `known` are the ids that can be bound. Wrong entries are left out."""
    try:
        toml = read_toml(data, path, times=_TIMES)
    except ConfigError as error:
        line = error.details["line"]
        return Keymap(problems=(KeyProblem(error.message.removeprefix(f"{path}:{line}: "), path, line),), path=path)
    rebound: dict[str, tuple[str, ...]] = {}
    problems: list[KeyProblem] = []
    for steps, value in _entries(toml.values):
        binding_id = ".".join(steps)
        line = toml.line_of(*steps)
        if binding_id not in known:
            near = known if len(problems) < _MOST_PROBLEMS else ()  # finding the closest id is slow
            problems.append(KeyProblem(_unknown(binding_id, near), path, line))
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
    if len(problems) > _MOST_PROBLEMS:
        more = f"{len(problems) - _MOST_PROBLEMS} more entries are wrong"
        problems[_MOST_PROBLEMS:] = [KeyProblem(more, path, problems[_MOST_PROBLEMS].line)]
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
    return f"nothing is called {said!r}" + (f", did you mean {near[0]}?" if near else "; see `memdeck keys`")
