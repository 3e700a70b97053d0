"""The instruction files that clients load: which when a session starts, which later, and what they cost."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from memory.document.front_matter import FrontMatter
from memory.document.lines import decode
from memory.document.model import front_end
from memory.storage.safe_open import read_within

from .folders import ClientFolder
from .memories import without_code
from .sources import claude_home, codex_home, project_root

When = Literal["start", "on demand"]
_CODEX_BYTES = 32 * 1024
"""How much of all its files together Codex loads."""
_MOST_BYTES = 1_000_000
_MOST_RULES = 500
_IMPORT = re.compile(r"(?<![\w`@])@([\w.~/-][\w.~/ -]*\.md)\b")
_IMPORTS_DEEP = 5
_CHARACTERS = 4
"""How many characters a token has, roughly: the same measure as for what memdeck tells."""


@dataclass(frozen=True)
class Instructions:
    """One file that a client loads; `top` is a real folder, `path` is relative to it, `shown` its path for people.

    `cut` is how many of its bytes the client leaves out; `why` says when it is loaded, if not at the start.
    """

    client: str
    when: When
    top: Path
    path: str
    shown: str
    data: bytes
    cut: int = 0
    why: str = ""

    @cached_property
    def text(self) -> str:
        """Its text."""
        return decode(self.data)

    @property
    def tokens(self) -> int:
        """The approximate cost of the loaded part."""
        return -(-len(self.data[: len(self.data) - self.cut].decode(errors="replace")) // _CHARACTERS)

    def json(self) -> dict[str, Any]:
        """Return it for programs."""
        return {
            "client": self.client,
            "file": self.shown,
            "when": self.when,
            "why": self.why or None,
            "bytes": len(self.data),
            "cut": self.cut,
            "tokens": self.tokens,
        }


class _Reader:
    """Reads files of one workspace and its user for a listing; what cannot be read is left out."""

    def __init__(self, root: Path, home: Path | None) -> None:
        self.root = Path(os.path.realpath(root))
        self.home = None if home is None else Path(os.path.realpath(home))
        self.tops = [*_up(self.root, project_root(self.root))]

    def file(self, client: str, top: Path, path: str, when: When = "start", why: str = "") -> Iterator[Instructions]:
        """Yield a file, if it exists: links that lead out of its folder are not followed."""
        data = read_within(path, top, _MOST_BYTES)
        if data is not None:
            yield Instructions(client, when, top, path, self.shown(top / path), data, why=why)

    def shown(self, place: Path) -> str:
        """Return a path for people."""
        if place.is_relative_to(self.root):
            return str(place.relative_to(self.root))
        if self.home is not None and place.is_relative_to(self.home):
            return f"~/{place.relative_to(self.home)}"
        return os.path.relpath(place, self.root)

    def rules(
        self, client: str, top: Path, folder: str, ending: str
    ) -> Iterator[tuple[Instructions, Mapping[str, Any]]]:
        """Yield the rule files below a folder, each with its front matter; none where a link leads out of `top`."""
        left = _MOST_RULES
        if not Path(os.path.realpath(top / folder)).is_relative_to(top):
            return
        for place, folders, names in os.walk(top / folder):
            folders[:] = sorted(one for one in folders if not one.startswith("."))
            for name in sorted(names):
                if name.endswith(ending) and left:
                    left -= 1
                    path = os.path.relpath(os.path.join(place, name), top)
                    for one in self.file(client, top, path):
                        yield one, _rule_front(one.data)


def instructions(root: Path, home: Path | None, environ: Mapping[str, str]) -> tuple[Instructions, ...]:
    """Return the instruction files of all clients, in the order in which each loads them."""
    reader = _Reader(root, home)
    return (*_claude(reader, environ), *_codex(reader, environ), *_gemini(reader), *_cursor(reader), *_vscode(reader))


def with_memory(files: tuple[Instructions, ...], folders: tuple[ClientFolder, ...]) -> tuple[Instructions, ...]:
    """Return instruction files, and what clients load of their own memories."""
    found = list(files)
    for folder in folders:
        source = folder.source
        when: When = "on demand" if source.agents or source.off else "start"
        why = "not loaded" if source.off else "for the subagent" if source.agents else ""
        for path, index in folder.indexes.items():
            gauge = folder.gauges[path]
            loaded = sum(len(line) for line in index.stored.data.splitlines(keepends=True)[: gauge.loaded])
            cut = gauge.size - loaded
            found.append(Instructions(source.client, when, source.root, path, index.file, index.stored.data, cut, why))
        for memory in folder.memories:
            if source.client == "codex" and memory.path == "memory_summary.md":
                data = memory.stored.data
                found.append(Instructions("codex", when, source.root, memory.path, memory.file, data, why=why))
    return tuple(found)


def _claude(reader: _Reader, environ: Mapping[str, str]) -> Iterator[Instructions]:
    found: list[Instructions] = []
    if reader.home is not None:
        own = Path(os.path.realpath(claude_home(reader.home, environ)))
        found += reader.file("claude-code", own, "CLAUDE.md")
        found += [_by_paths(*one) for one in reader.rules("claude-code", own, "rules", ".md")]
    for top in reader.tops:
        for name in ("CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md"):
            found += reader.file("claude-code", top, name)
    found += [_by_paths(*one) for one in reader.rules("claude-code", reader.root, ".claude/rules", ".md")]
    for one in found:
        yield one
        yield from _imported(reader, one, {one.top / one.path})


def _by_paths(rule: Instructions, front: Mapping[str, Any]) -> Instructions:
    if not front.get("paths"):
        return rule
    return Instructions(rule.client, "on demand", rule.top, rule.path, rule.shown, rule.data, why="for some paths")


def _imported(reader: _Reader, one: Instructions, seen: set[Path], depth: int = 0) -> Iterator[Instructions]:
    """Yield the files in the workspace that a file imports with `@path`, outside of code."""
    if depth >= _IMPORTS_DEEP:
        return
    for found in _IMPORT.finditer(without_code(one.text)):
        place = Path(os.path.normpath((one.top / one.path).parent / found[1]))
        if place in seen or not place.is_relative_to(reader.root):
            continue
        seen.add(place)
        for more in reader.file(one.client, reader.root, str(place.relative_to(reader.root)), one.when, "imported"):
            yield more
            yield from _imported(reader, more, seen, depth + 1)


def _codex(reader: _Reader, environ: Mapping[str, str]) -> Iterator[Instructions]:
    tops = list(reader.tops)
    if reader.home is not None:
        tops.insert(0, Path(os.path.realpath(codex_home(reader.home, environ))))
    left = _CODEX_BYTES
    for top in tops:
        for name in ("AGENTS.override.md", "AGENTS.md"):
            found = next(reader.file("codex", top, name), None)
            if found is not None:
                cut = max(len(found.data) - left, 0)
                left -= len(found.data) - cut
                yield Instructions("codex", "start", found.top, found.path, found.shown, found.data, cut)
                break


def _gemini(reader: _Reader) -> Iterator[Instructions]:
    if reader.home is not None:
        yield from reader.file("gemini", reader.home / ".gemini", "GEMINI.md")
    for top in reader.tops:
        yield from reader.file("gemini", top, "GEMINI.md")


def _cursor(reader: _Reader) -> Iterator[Instructions]:
    yield from reader.file("cursor", reader.root, ".cursorrules")
    yield from reader.file("cursor", reader.root, "AGENTS.md")
    tops = [reader.root] if reader.home is None else [reader.home, reader.root]
    for top in tops:
        for rule, front in reader.rules("cursor", top, ".cursor/rules", ".mdc"):
            if front.get("alwaysApply") == "true":
                yield rule
                continue
            why = (
                "for some files"
                if front.get("globs")
                else "when the agent asks"
                if front.get("description")
                else "by hand"
            )
            yield Instructions("cursor", "on demand", rule.top, rule.path, rule.shown, rule.data, why=why)


def _vscode(reader: _Reader) -> Iterator[Instructions]:
    yield from reader.file("vscode", reader.root, ".github/copilot-instructions.md")
    yield from reader.file("vscode", reader.root, "AGENTS.md")


def _rule_front(data: bytes) -> Mapping[str, Any]:
    """Return the front matter of a rule; Cursor's is no strict YAML, so its lines are read one by one."""
    front = decode(data[: front_end(data, 0)])
    found = FrontMatter.read(front)
    if found.data or not front:
        return found.data
    pairs = (line.partition(":") for line in front.splitlines()[1:-1] if line[:1].isalpha())
    return {key.strip(): value.strip() for key, colon, value in pairs if colon}


def _up(folder: Path, stop: Path) -> tuple[Path, ...]:
    """Return the folders from `stop`, or from the folder itself where that is not around it, down to the folder."""
    around = [folder, *folder.parents]
    return tuple(reversed(around[: around.index(stop) + 1])) if stop in around else (folder,)
