"""The parts of a connection: each knows its file, adds itself to the file's text, and removes itself."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from memory.errors import UsageError

from .blocks import HASH, MARKUP, has_block, with_block, without_block
from .jsonc import JsonFile

_OURS = re.compile(r"(?:\bmemdeck|\bapp\.main)'? hook (?:session-start|prompt|pre-compact|stop|session-end) --client ")


class ConnectionPart(Protocol):
    """One part; `data` is the file's bytes, None if there is no file. Errors name file and line."""

    @property
    def path(self) -> Path:
        """The file."""

    def put(self, data: bytes | None) -> bytes:
        """Return the file with the part in it; unchanged if it is already there."""

    def take(self, data: bytes) -> bytes | None:
        """Return the file without the part, None if nothing would be left of a file that was created for it."""

    def stands(self, data: bytes | None) -> bool:
        """Return whether the part is in the file, exactly as `put` would write it."""


def _text(path: Path, data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(
            "connect.not_text", f"{path}:{line}: it is no UTF-8", "mend the file, nothing was changed", file=str(path)
        ) from None


def _file(part: JsonEntry | JsonHook, data: bytes | None) -> JsonFile:
    """Return the file of a part, parsed as strictly as its client does; an empty one for None."""
    return JsonFile(str(part.path), _text(part.path, data or b""), strict=part.strict)


@dataclass(frozen=True, slots=True)
class JsonEntry:
    """A value under some keys of a JSON file; with `keep` an existing one is left unchanged, and never removed."""

    path: Path
    keys: tuple[str, ...]
    value: Any
    strict: bool = False
    keep: bool = False

    def put(self, data: bytes | None) -> bytes:
        """Return the file with the value in it."""
        if data is not None and self.stands(data):
            return data
        return _file(self, data).put(self.keys, self.value).encode()

    def take(self, data: bytes) -> bytes | None:
        """Return the file without the value."""
        if self.keep:
            return data
        return _file(self, data).without(self.keys).encode()

    def stands(self, data: bytes | None) -> bool:
        """Return whether the value is there."""
        node = _file(self, data).find(self.keys)
        return node is not None and (self.keep or bool(node.value == self.value))


@dataclass(frozen=True, slots=True)
class JsonHook:
    """An item of a list of hooks in a JSON file; an older one of memdeck is replaced.

    The user may have added other commands to the same item, or given it a matcher: those stay.
    """

    path: Path
    keys: tuple[str, ...]
    value: Any
    strict: bool = False

    def put(self, data: bytes | None) -> bytes:
        """Return the file with the hook in it."""
        if data is not None and self.stands(data):
            return data
        file = _file(self, data)
        if file.find(self.keys) is not None:
            file = _file(self, self._without(file).encode())
        return file.add(self.keys, self.value).encode()

    def take(self, data: bytes) -> bytes | None:
        """Return the file without hooks of memdeck."""
        return self._without(_file(self, data)).encode()

    def stands(self, data: bytes | None) -> bool:
        """Return whether the hook is there, without an older one beside it."""
        node = _file(self, data).find(self.keys)
        items = node.value if node is not None and node.opening == "[" else []
        return [one for item in items for one in _commands(item) if self._is_ours(one)] == _commands(self.value)

    def _without(self, file: JsonFile) -> str:
        def only_ours(item: Any) -> bool:
            commands = _commands(item)
            return bool(commands) and all(map(self._is_ours, commands))

        return file.without(self.keys, only_ours, ("hooks", self._is_ours))

    def _is_ours(self, command: Any) -> bool:
        """Return whether a command of a client's file is one of memdeck's."""
        if not isinstance(command, dict):
            return False
        return command in _commands(self.value) or _OURS.search(str(command.get("command", ""))) is not None


def _commands(item: Any) -> list[Any]:
    """Return the commands of an item of a list of hooks: those of its own list, or the item itself."""
    inner = item.get("hooks") if isinstance(item, dict) else None
    return inner if isinstance(inner, list) else [item]


@dataclass(frozen=True, slots=True)
class TomlTable:
    """A table at the end of a TOML file, between two comment lines."""

    path: Path
    keys: tuple[str, ...]
    lines: tuple[str, ...]

    def put(self, data: bytes | None) -> bytes:
        """Return the file with the table; UsageError `connect.toml`, `connect.taken` if another table has its name."""
        rest = without_block(data, HASH)
        found: Any = self._read(rest or b"")
        for key in self.keys:
            found = found.get(key) if isinstance(found, dict) else None
        if found is not None:
            raise UsageError(
                "connect.taken",
                f"{self.path} has a table {'.'.join(self.keys)} already, which memdeck did not write",
                "remove it first",
                file=str(self.path),
            )
        new = with_block(data, HASH, list(self.lines))
        self._read(new)
        return new

    def _read(self, data: bytes) -> dict[str, Any]:
        try:
            return tomllib.loads(_text(self.path, data))
        except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
            said = str(error)
            line = int(found[1]) if (found := re.search(r"at line (\d+)", said)) else 1
            raise UsageError(
                "connect.toml",
                f"{self.path}:{line}: {said[:200]}",
                "mend the file, nothing was changed",
                file=str(self.path),
                line=line,
            ) from None

    def take(self, data: bytes) -> bytes | None:
        """Return the file without the table."""
        return without_block(data, HASH)

    def stands(self, data: bytes | None) -> bool:
        """Return whether the table is in the file exactly as `put` would write it."""
        return has_block(data, HASH) and with_block(data, HASH, list(self.lines)) == data


@dataclass(frozen=True, slots=True)
class InstructionBlock:
    """Instructions for the agent in a Markdown file, between two comment lines."""

    path: Path
    lines: Sequence[str]

    def put(self, data: bytes | None) -> bytes:
        """Return the file with the instructions at its end."""
        return with_block(data, MARKUP, list(self.lines))

    def take(self, data: bytes) -> bytes | None:
        """Return the file without the instructions."""
        return without_block(data, MARKUP)

    def stands(self, data: bytes | None) -> bool:
        """Return whether the instructions are there."""
        return has_block(data, MARKUP) and with_block(data, MARKUP, list(self.lines)) == data


@dataclass(frozen=True, slots=True)
class OwnFile:
    """A file that belongs to memdeck alone."""

    path: Path
    text: str

    def put(self, data: bytes | None) -> bytes:
        """Return its text; UsageError `connect.taken` if another file has its name."""
        if data is not None and not self._is_own(data):
            raise UsageError(
                "connect.taken", f"{self.path} is there, and not memdeck's", "move it", file=str(self.path)
            )
        return self.text.encode()

    def take(self, data: bytes) -> bytes | None:
        """Return None if the file is as this memdeck or an older one wrote it; else it stays unchanged."""
        return None if self._is_own(data) else data

    def stands(self, data: bytes | None) -> bool:
        """Return whether the file has the right content."""
        return data == self.text.encode()

    def _is_own(self, data: bytes) -> bool:
        return self.stands(data) or b"memdeck" in data or _OURS.search(data.decode("utf-8", "replace")) is not None
