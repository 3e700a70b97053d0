"""One file of a client's memory: read in any form, and changed without touching another byte."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from memory.document.front_matter import read_front, set_key
from memory.document.lines import decode, encode, newline_of
from memory.document.model import front_end
from memory.errors import MemdeckError, RefusedError, UsageError
from memory.files.refs import identity_hex
from memory.storage import Stored

from .sources import INDEX, ClientStore, Source, is_memory

KIND = "memory"
MOST_FILES, MOST_DEPTH = 3_000, 4
MOST_BYTES = 1_000_000
"""The largest file that is read: a memory is a page or two."""
TYPES = ("user", "feedback", "project", "reference")
"""The types that Claude Code gives to memories."""
KEYS = ("name", "description", "type")
"""The fields that an edit sets."""
_LINK = re.compile(r"\[\[([^\[\]\r\n|#]{1,200})(?:[|#][^\[\]\r\n]*)?\]\]")
_HEADING = re.compile(r"\s*#{1,3} +(.+?)[ #]*$", re.MULTILINE)
_CODE = re.compile(r"^(`{3,}|~{3,}).*?(?:^\1|\Z)|`[^`\r\n]*`", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class ClientMemory:
    """One file of a client's memory; `path` is relative to the folder of its source, `line` that of its beginning."""

    source: Source
    path: str
    stored: Stored
    line: int = 0

    @property
    def ref(self) -> str:
        """Its ref, which stays while its file and its title stay."""
        return f"{KIND}#{identity_hex(KIND, self.file, self.title)}"

    @property
    def file(self) -> str:
        """Its path for people."""
        return f"{self.source.shown}/{self.path}"

    @cached_property
    def text(self) -> str:
        """The whole text."""
        return decode(self.stored.data)

    @cached_property
    def _front_end(self) -> int:
        return front_end(self.stored.data, 0)

    @cached_property
    def front(self) -> Mapping[str, Any]:
        """The front matter, with the keys of a nested `metadata` among its own."""
        return flattened(read_front(decode(self.stored.data[: self._front_end])).data) if self._front_end else {}

    @cached_property
    def body(self) -> str:
        """The text after the front matter."""
        return decode(self.stored.data[self._front_end :])

    def _said(self, key: str) -> str:
        value = self.front.get(key)
        return one_line(value) if isinstance(value, str) else ""

    @cached_property
    def title(self) -> str:
        """The name that its front matter gives, else the heading that it begins with, else its path without ending."""
        heading = None if self._said("name") else _HEADING.match(self.body[:4000])
        return self._said("name") or (one_line(heading[1]) if heading else "") or one_line(self.path.rpartition(".")[0])

    @property
    def agent(self) -> str:
        """The subagent that it belongs to, "" for none."""
        return self.path.partition("/")[0] if self.source.agents and "/" in self.path else ""

    @property
    def type(self) -> str:
        """Its type: user, feedback, project or reference for Claude Code."""
        return self._said("type")

    @property
    def description(self) -> str:
        """The description in its front matter."""
        return self._said("description")

    @property
    def changed(self) -> str:
        """The time of its last change: what it says, else that of the file."""
        said = self._said("modified")
        written = datetime.fromtimestamp(self.stored.version.mtime_ns // 10**9, UTC).isoformat()
        return said if re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d", said) else written

    @property
    def date(self) -> str:
        """The day of its last change."""
        return self.changed[:10]

    @cached_property
    def links(self) -> tuple[tuple[str, int], ...]:
        """The names in `[[…]]` outside of code, each with its line from 0."""
        plain = without_code(self.text)
        return tuple((found[1].strip(), plain.count("\n", 0, found.start())) for found in _LINK.finditer(plain))

    def json(self) -> dict[str, Any]:
        """Return it for programs; the keys of its front matter that have no other place are in `extra`."""
        known = {*KEYS, "metadata"}
        return {
            "client": self.source.client,
            "scope": self.source.scope,
            "agent": self.agent or None,
            "type": self.type or None,
            "description": self.description or None,
            "modified": self.date,
            "bytes": len(self.stored.data),
            "links": list(dict.fromkeys(name for name, _ in self.links)),
            "extra": {key: value for key, value in self.front.items() if key not in known and isinstance(value, str)},
        }


def flattened(front: Mapping[str, Any]) -> dict[str, Any]:
    """Return front matter with the keys of a nested `metadata` in its place, where no other key has the name."""
    nested = front.get("metadata")
    if not isinstance(nested, Mapping):
        return dict(front)
    return {**nested, **{key: value for key, value in front.items() if key != "metadata"}}


def files_of(source: Source) -> Iterator[str]:
    """Yield the files of a folder of memories, sorted, relative to it; links are not followed."""
    if source.only:
        yield from (name for name in source.only if (source.root / name).is_file())
        return
    yield from sorted(_walk(str(source.root), "", 0, [MOST_FILES]))


def _walk(top: str, folder: str, depth: int, left: list[int]) -> Iterator[str]:
    with suppress(OSError), os.scandir(f"{top}/{folder}" if folder else top) as listing:
        for one in sorted(listing, key=lambda one: one.name):
            path = f"{folder}/{one.name}" if folder else one.name
            if left[0] <= 0:
                return
            if one.is_dir(follow_symlinks=False):
                if depth < MOST_DEPTH and is_memory(f"{path}/x.md"):
                    yield from _walk(top, path, depth + 1, left)
            elif is_memory(path) and one.is_file(follow_symlinks=False):
                left[0] -= 1
                yield path


def read_memory(store: ClientStore, path: str) -> ClientMemory:
    """Return a file of a client's folder; RefusedError `clients.too_large`, and errors as `Store.read`."""
    try:
        size = os.lstat(store.root / path).st_size
    except OSError:
        size = 0
    if size > MOST_BYTES:
        raise RefusedError(
            "clients.too_large",
            f"{path} has {size:,} bytes; the limit is {MOST_BYTES:,}",
            "look at it in an editor",
        )
    return ClientMemory(store.source, path, store.read(path))


def without_code(text: str) -> str:
    """Return a text with blanks in place of code, roughly: what looks like a link in code is none. Lines stay."""
    return _CODE.sub(lambda code: re.sub(r"[^\r\n]", " ", code[0]), text)


def one_line(text: str) -> str:
    """Return a text with single blanks in place of line ends and runs of blanks."""
    return " ".join(text.split())


# -- changing --------------------------------------------------------------------------------------------------------


def with_values(data: bytes, values: Mapping[str, str]) -> bytes:
    """Return a memory with fields of its front matter set; each changes or adds one line.

    `type` is set in a nested `metadata` where that has it. UsageError `clients.field` for another field.
    """
    end = front_end(data, 0)
    front, rest = decode(data[:end]), data[end:]
    for key, value in values.items():
        if key not in KEYS:
            raise UsageError("clients.field", f"a memory has no field {key[:40]!r}", f"use {', '.join(KEYS)}")
        if key == "type" and front and not isinstance(read_front(front).data.get("type"), str):
            nested = re.search(r"^([ \t]+type:)[ \t]*[^\r\n]*", front, re.MULTILINE)
            if nested is not None and isinstance(read_front(front).data.get("metadata"), Mapping):
                front = f"{front[: nested.end(1)]} {_plain_type(value)}{front[nested.end() :]}"
                continue
        front = set_key(front, key, _plain_type(value) if key == "type" else one_line(value), newline_of(data))
    return encode(front) + rest


def _plain_type(value: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9_-]{0,39}", value):
        raise UsageError("clients.type", f"{value[:40]!r} is not a type", f"use one of {', '.join(TYPES)}")
    return value


def with_body(data: bytes, body: str) -> bytes:
    """Return a memory with another body; its front matter, its line ends and how it ended stay."""
    end = front_end(data, 0)
    old = decode(data[end:])
    newline = newline_of(data[end:], newline_of(data))
    text = body.replace("\r\n", "\n").strip("\n").replace("\n", newline)
    lead = old[: len(old) - len(old.lstrip("\r\n"))]
    tail = old[len(old.rstrip("\r\n")) :] or newline
    return data[:end] + encode(f"{lead}{text}{tail}")


def new_memory(title: str, body: str, kind: str, description: str, now: datetime) -> bytes:
    """Return the bytes of a new memory in the form that Claude Code writes."""
    front = set_key("", "name", one_line(title))
    if description:
        front = set_key(front, "description", one_line(description))
    moment = now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    nested = f"metadata:\n  node_type: memory\n  type: {_plain_type(kind)}\n  modified: {moment}\n"
    return encode(f"{front.removesuffix('---' + chr(10))}{nested}---\n\n{body.strip(chr(10))}\n")


def file_name(title: str, kind: str, taken: Collection[str]) -> str:
    """Return a free file name for a new memory, such as `feedback_use_tabs.md`."""
    words = re.sub(r"[^a-z0-9]+", "_", one_line(title).casefold())[:60].strip("_") or KIND
    stem = words if words.startswith(f"{kind}_") else f"{kind}_{words}"
    names = (f"{stem}.md", *(f"{stem}_{number}.md" for number in range(2, 1000)))
    free = next((name for name in names if name not in taken and name != INDEX), None)
    if free is None:
        raise MemdeckError("clients.name", f"all names for {title[:40]!r} are taken", "choose another title")
    return free
