"""The parts of a connection: each knows its file, adds itself to the file's text, and removes itself."""

from __future__ import annotations

import os
import re
import shlex
import tomllib
from codecs import BOM_UTF8
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory.errors import RefusedError, UsageError

from .blocks import HASH, MARKUP, has_block, with_block, without_block
from .jsonc import JsonFile

_HOOK = re.compile(
    r"\b(?:memdeck|app\.main)\b.* hook (?:session-start|prompt|pre-compact|stop|session-end)\b", re.DOTALL
)


def _normal(value: Any) -> Any:
    """Return a command of a client's file without the program that runs memdeck, which may have moved since."""
    if not isinstance(value, dict):
        return value
    command, more = value.get("command"), value.get("args", [])
    words = shlex.split(command) if isinstance(command, str) and "args" not in value else [command]
    words = [*(command if isinstance(command, list) else words), *(more if isinstance(more, list) else [more])]
    if os.path.basename(str(words[0] if words else "")) == "memdeck":
        return {**value, "command": words[1:], "args": []}
    rest = words[2:] if words[1:2] == ["-P"] else words[1:]
    return {**value, "command": rest[2:], "args": []} if rest[:2] == ["-m", "app.main"] else value


def _same(found: Any, written: Any) -> bool:
    """Return whether a value of a client's file is what memdeck writes, wherever memdeck is."""
    try:
        return found == written or bool(_normal(found) == _normal(written))
    except ValueError:  # a quote without an end
        return False


def stay_inside(path: Path, folder: Path, instead: str) -> None:
    """Raise RefusedError `connect.outside` if a link leads out of a folder: its author would choose the written file.

    `instead` is what the user can do instead.
    """
    real = path.resolve()
    if not real.is_relative_to(folder.resolve()):
        raise RefusedError(
            "connect.outside",
            f"{path} leads out of {folder}, to {real}",
            f"remove the link, or {instead}; nothing was changed",
            file=str(path),
        )


def _text(path: Path, data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(
            "connect.not_text", f"{path}:{line}: it is not UTF-8", "fix the file, nothing was changed", file=str(path)
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
        if data is not None and self.present(data):
            return data
        return _file(self, data).put(self.keys, self.value).encode()

    def take(self, data: bytes) -> bytes | None:
        """Return the file without the value."""
        if self.keep or self.taken(data):
            return data
        return _file(self, data).without(self.keys).encode()

    def present(self, data: bytes | None) -> bool:
        """Return whether the file has the value."""
        node = _file(self, data).find(self.keys)
        return node is not None and (self.keep or bool(node.value == self.value))

    def taken(self, data: bytes) -> str:
        """Return the keys if the file has another value."""
        node = None if self.keep else _file(self, data).find(self.keys)
        return "" if node is None or _same(node.value, self.value) else ".".join(self.keys)


@dataclass(frozen=True, slots=True)
class JsonHook:
    """An item of a list of hooks in a JSON file; an older one of memdeck is replaced.

    The user may have added other commands to the same item: those stay.
    """

    path: Path
    keys: tuple[str, ...]
    value: Any
    strict: bool = False

    def put(self, data: bytes | None) -> bytes:
        """Return the file with the hook in it."""
        if data is not None and self.present(data):
            return data
        file = _file(self, data)
        if file.find(self.keys) is not None:
            file = _file(self, self._without(file).encode())
        return file.add(self.keys, self.value).encode()

    def take(self, data: bytes) -> bytes | None:
        """Return the file without hooks of memdeck."""
        return self._without(_file(self, data)).encode()

    def present(self, data: bytes | None) -> bool:
        """Return whether the file has the hook, without an older one beside it."""
        found = [one for item, one in self._commands_in(data) if self._is_ours(item, one)]
        return found == _commands(self.value)

    def taken(self, data: bytes) -> str:
        """Return the keys if a hook there runs memdeck in another way than this one."""
        own = any(
            isinstance(one, dict) and _HOOK.search(str(one.get("command", ""))) and not self._is_ours(item, one)
            for item, one in self._commands_in(data)
        )
        return f"a hook of memdeck with other options in {'.'.join(self.keys)}" if own else ""

    def _commands_in(self, data: bytes | None) -> list[tuple[Any, Any]]:
        node = _file(self, data).find(self.keys)
        items = node.value if node is not None and node.opening == "[" else []
        return [(item, one) for item in items for one in _commands(item)]

    def _without(self, file: JsonFile) -> str:
        def only_ours(item: Any) -> bool:
            commands = _commands(item)
            return bool(commands) and all(self._is_ours(item, one) for one in commands)

        return file.without(self.keys, only_ours, ("hooks", self._is_ours))

    def _is_ours(self, item: Any, command: Any) -> bool:
        """Return whether a command is what memdeck writes, in an item to which the user gave no keys of their own."""
        nested = item is not command
        plain = not nested or item.keys() == self.value.keys()
        return plain and any(_same(command, one) for one in _commands(self.value))


def _commands(item: Any) -> list[Any]:
    """Return the commands of an item of a list of hooks: those of its own list, or the item itself."""
    inner = item.get("hooks") if isinstance(item, dict) else None
    return inner if isinstance(inner, list) else [item]


@dataclass(frozen=True, slots=True)
class TomlTable:
    """A table at the end of a TOML file, between two comment lines; `more` are further tables, where they fit."""

    path: Path
    keys: tuple[str, ...]
    lines: tuple[str, ...]
    more: tuple[str, ...] = ()

    def put(self, data: bytes | None) -> bytes:
        """Return the file with the table; UsageError `connect.toml` if the file is invalid, or can hold no table."""
        self._read(without_block(data, HASH) or b"")
        try:
            self._read(new := with_block(data, HASH, [*self.lines, *self.more]))
        except UsageError:
            new = with_block(data, HASH, list(self.lines))
            try:
                self._read(new)
            except UsageError:
                raise UsageError(
                    "connect.toml",
                    f"{self.path} has {self.keys[0]} as a value in one line, to which nothing can be added",
                    f"write it as tables, such as [{self.keys[0]}.name]; nothing was changed",
                    file=str(self.path),
                ) from None
        return new

    def _read(self, data: bytes) -> dict[str, Any]:
        try:
            return tomllib.loads(_text(self.path, data.removeprefix(BOM_UTF8)))
        except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
            said = str(error)
            line = int(found[1]) if (found := re.search(r"at line (\d+)", said)) else 1
            raise UsageError(
                "connect.toml",
                f"{self.path}:{line}: {said[:200]}",
                "fix the file, nothing was changed",
                file=str(self.path),
                line=line,
            ) from None

    def take(self, data: bytes) -> bytes | None:
        """Return the file without the table."""
        return without_block(data, HASH)

    def present(self, data: bytes | None) -> bool:
        """Return whether the table is in the file exactly as `put` would write it."""
        return has_block(data, HASH) and self.put(data) == data

    def taken(self, data: bytes) -> str:
        """Return the name of the table if the user's own lines have one."""
        found: Any = self._read(without_block(data, HASH) or b"")
        for key in self.keys:
            found = found.get(key) if isinstance(found, dict) else None
        return "" if found is None else ".".join(self.keys)


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

    def present(self, data: bytes | None) -> bool:
        """Return whether the instructions are there."""
        return has_block(data, MARKUP) and self.put(data) == data

    def taken(self, data: bytes) -> str:  # noqa: ARG002
        """Return nothing: the block is marked."""
        return ""


@dataclass(frozen=True, slots=True)
class OwnFile:
    """A file that belongs to memdeck alone, which its first line says."""

    path: Path
    text: str

    def put(self, data: bytes | None) -> bytes:  # noqa: ARG002
        """Return its text."""
        return self.text.encode()

    def take(self, data: bytes) -> bytes | None:
        """Return None if the file is as this memdeck or an older one wrote it; else it stays unchanged."""
        return data if self.taken(data) else None

    def present(self, data: bytes | None) -> bool:
        """Return whether the file has the right content."""
        return data == self.text.encode()

    def taken(self, data: bytes) -> str:
        """Return what the file is if its first line is not memdeck's."""
        return "" if data.splitlines()[:1] == self.text.encode().splitlines()[:1] else "a content of its own"


ConnectionPart = JsonEntry | JsonHook | TomlTable | InstructionBlock | OwnFile
"""One part of a connection, which gets the bytes of its file, None where there is no file; errors name file and line.

`put` returns the file with the part, unchanged if it is there already; `take` the file without it, None if nothing
would be left of a file that was created for it. `present` is whether the part is there exactly as `put` would write it,
and `taken` what has its name and is the user's own: `put` and `take` leave that.
"""
