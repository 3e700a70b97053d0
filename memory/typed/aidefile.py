"""The Aidefile of an agent: where its three types of memory are, and how much of them it wants to load.

Only `[memory]` is read; the sections of other tools are accepted and kept. Paths are resolved with their links and must
stay inside the agent's folder: an Aidefile that came with a clone must not cause files elsewhere to be deleted.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from memory.base.clock import read_duration, say_span
from memory.base.problems import Problem
from memory.base.toml_text import Toml, config_error, read_toml
from memory.errors import ConfigError, MemdeckError

_SIZE = re.compile(r"([0-9][0-9_]*)\s*([km]?)", re.IGNORECASE | re.ASCII)
_FACTORS = {"": 1, "k": 1_000, "m": 1_000_000}
BYTES_PER_TOKEN = 4
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FARTHEST = 1900 * 365 * 86400 * 1_000_000
"""Microseconds from 1970 that the calendar holds in both directions."""


def read_size(value: object) -> int:
    """Return a number of tokens written as `200k`, `1M` or a plain number; ValueError for anything else.

    `k` is a thousand, `m` a million. An empty value, zero and negative numbers are not sizes.
    """
    number = 0
    if isinstance(value, int) and not isinstance(value, bool):
        number = value
    elif isinstance(value, str) and (found := _SIZE.fullmatch(value.strip())) and len(value) <= 20:
        number = int(found[1].replace("_", "")) * _FACTORS[found[2].lower()]
    if number <= 0:
        raise ValueError(f"{value!r} is not a size")
    return number


def read_age(value: timedelta | float | str) -> timedelta:
    """Return an age written as `7d`, `12h`, `30m`, `45s`, `2w`, or as a number of seconds; ValueError for others."""
    if isinstance(value, timedelta):
        seconds: float | None = value.total_seconds()
    else:
        seconds = read_duration(str(value))
    if seconds is None or seconds < 0:
        raise ValueError(f"{value!r} is not an age")
    return timedelta(seconds=seconds)


def moment_of(nanoseconds: int) -> datetime:
    """Return the time of a change, given in nanoseconds since 1970, as aware UTC.

    It is rounded down to microseconds, so that it is before a time of a whole microsecond exactly where the change is.
    """
    return _EPOCH + timedelta(microseconds=max(-_FARTHEST, min(nanoseconds // 1000, _FARTHEST)))


def age_text(seconds: float) -> str:
    """Return an age for people: `3 d`, `5 h`, `12 min`, `now`."""
    return say_span(seconds) or "now"


NAME = "Aidefile"
LOCK = ".lock"
"""The ending of the sentinel file beside a locked file."""
PRIVATE = ".memdeck"
SECTIONS = ("memory", "persona", "budget", "hooks", "skills", "trigger", "vault", "output", "workspace")
"""The sections that an Aidefile may have."""
PROCEDURAL, EPISODIC = "memory/procedural", "memory/episodic"
"""The folders of those memories where the Aidefile names none."""
_KEYS = ("compact_after", "core_files", "procedural_dir", "episodic_dir")
_LONGEST_PATH = 4096


class Place(NamedTuple):
    """A path in an agent's folder, with `/`: as it is written, and with its links resolved, by which it is compared."""

    written: str
    real: str


class Aidefile(NamedTuple):
    """What an Aidefile says about memory. `compact_after` is in tokens, None where the file does not set it."""

    compact_after: int | None
    core: tuple[Place, ...]
    procedural: Place
    episodic: Place
    problems: tuple[Problem, ...] = ()

    @property
    def places(self) -> tuple[Place, ...]:
        """The core files and the two folders."""
        return (*self.core, self.procedural, self.episodic)

    def is_core(self, path: str) -> bool:
        """Return whether a path (links resolved) is a core file or is in a folder that is listed as one."""
        return any(path == one.real or path.startswith(f"{one.real}/") for one in self.core)

    def holds(self, path: str) -> bool:
        """Return whether a path (links resolved) is in the agent's memory: core, procedural or episodic."""
        return self.is_core(path) or path.startswith((f"{self.procedural.real}/", f"{self.episodic.real}/"))


def read_aidefile(folder: Path, data: bytes | None) -> Aidefile:
    """Read an agent's Aidefile, given as its bytes; None (no file) gives the defaults.

    Raises ConfigError `typed.toml`, `typed.section` (an unknown section), `typed.value` (a value of the wrong form) and
    `typed.outside` (a path that leads out of the folder), each with `file` and `line`.
    """
    toml = read_toml(data or b"", NAME)
    for name, value in toml.values.items():
        if name not in SECTIONS and _is_section(value):
            words, hint = f"[{name[:60]}] is not a section of an Aidefile", f"the sections are {', '.join(SECTIONS)}"
            raise config_error("typed.section", words, NAME, toml.line_of(name), hint)
    section = toml.values.get("memory", {})
    if not isinstance(section, Mapping):
        raise config_error("typed.value", "memory is not a section", NAME, toml.line_of("memory"))
    top = os.path.realpath(folder)

    def wrong(key: str, message: str, code: str = "typed.value", hint: str = "") -> ConfigError:
        return config_error(code, message, NAME, toml.line_of("memory", key), hint)

    def place_of(key: str, path: object) -> Place:
        if not isinstance(path, str):
            raise wrong(key, f"{key} takes {'a list of paths' if key == 'core_files' else 'one path'}")
        if not path.strip() or "\0" in path or len(path.encode()) > _LONGEST_PATH:
            raise wrong(key, f"{key} has a path that is empty or longer than {_LONGEST_PATH} bytes")
        try:
            real = inside(top, path)
        except MemdeckError as error:
            raise wrong(key, f"{key}: {error.message}", "typed.outside") from None
        return Place(os.path.relpath(os.path.normpath(os.path.join(top, path)), top), real)

    procedural = place_of("procedural_dir", section.get("procedural_dir", PROCEDURAL))
    episodic = place_of("episodic_dir", section.get("episodic_dir", EPISODIC))
    if procedural.real == episodic.real:
        key = "episodic_dir" if "episodic_dir" in section else "procedural_dir"
        raise wrong(key, "procedural_dir and episodic_dir are the same folder")
    listed = section.get("core_files", [])
    core = [place_of("core_files", path) for path in (listed if isinstance(listed, list) else [None])]
    size = section.get("compact_after")
    try:
        limit = None if size is None else read_size(size)
    except ValueError:
        hint = 'write a size such as "200k", "1m" or 200000'
        raise wrong("compact_after", f"compact_after does not take {str(size)[:40]!r}", hint=hint) from None
    return Aidefile(limit, tuple(core), procedural, episodic, _problems(toml))


def _problems(toml: Toml) -> tuple[Problem, ...]:
    """Return the warnings: keys that nothing reads."""
    outside = [name for name, value in toml.values.items() if name not in SECTIONS and not _is_section(value)]
    unknown = [name for name in toml.values.get("memory", {}) if name not in _KEYS]
    found = [(toml.line_of(name), f"{name[:60]} is outside of a section and is not read") for name in outside]
    found += [
        (toml.line_of("memory", name), f"[memory] has no key {name[:60]}; it has {', '.join(_KEYS)}")
        for name in unknown
    ]
    return tuple(Problem("warning", NAME, line, "typed.key", text) for line, text in found)


def _is_section(value: object) -> bool:
    return isinstance(value, Mapping | list)


def inside(top: str, path: str) -> str:
    """Return a path with its links resolved, relative to the real folder `top`.

    Raises MemdeckError `typed.outside` unless it leads to something strictly below that folder.
    """
    real = os.path.realpath(os.path.join(top, path))
    if not real.startswith(top.rstrip("/") + "/"):
        where = "the agent's folder itself" if real == top else "outside of the agent's folder"
        raise MemdeckError("typed.outside", f"{path[:200]!r} is {where}", "name a path inside of it", path=path)
    return real[len(top.rstrip("/")) + 1 :]


def with_core_file(data: bytes, path: str, *, add: bool) -> bytes:
    """Return an Aidefile whose `core_files` contains a path, or no longer does; comments and order are kept.

    A list that is already so stays unchanged. ConfigError `typed.toml` for invalid TOML, and for a file written in
    such a way that the list cannot be changed without touching anything else.
    """
    toml = read_toml(data, NAME)
    section = toml.values.get("memory", {})
    listed = section.get("core_files", []) if isinstance(section, Mapping) else None
    if not isinstance(listed, list):
        line = toml.line_of("memory", "core_files")
        raise config_error("typed.value", "core_files takes a list of paths", NAME, line)
    same = [index for index, one in enumerate(listed) if os.path.normpath(str(one)) == os.path.normpath(path)]
    if bool(same) == add:
        return data
    wanted = [*listed, path] if add else [one for index, one in enumerate(listed) if index not in same]
    try:
        made = _with_core_files(data.decode(), path if add else None, same)
        values = read_toml(made, NAME).values
    # The library that keeps comments understands less than the one that reads, and raises errors of many kinds.
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, MemdeckError):
        values = {}
    if values != {**toml.values, "memory": {**section, "core_files": wanted}}:
        line = toml.line_of("memory", "core_files")
        raise config_error("typed.toml", "core_files cannot be changed here", NAME, line, "change the list by hand")
    return made


def _with_core_files(text: str, path: str | None, gone: Sequence[int]) -> bytes:
    """Return a text whose list of core files has one more path, or lacks those at some positions."""
    import tomlkit

    bom, text = ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)
    document = tomlkit.parse(text)
    files: Any = document.setdefault("memory", tomlkit.table()).setdefault("core_files", tomlkit.array())
    if path is not None:
        files.append(path)
    for index in reversed(gone if path is None else ()):
        del files[index]
    made = tomlkit.dumps(document)
    if "\r\n" in text:
        made = made.replace("\r\n", "\n").replace("\n", "\r\n")
    return (bom + made).encode()
