"""Checks claims of entries about the repository without a model: the files that they name, the scripts that they run,
and the versions of packages and the commits that they say.

A name `holds` if it exists, is `changed` if it was renamed, and is `gone` if the history shows its removal; all others
are unknown. Only `changed` and `gone` are told: precision comes before recall.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from memory.base.safe_text import visible
from memory.document.lines import decode
from memory.storage.safe_open import read_within

from .claims import Text, lines_of

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

Band = Literal["holds", "changed", "gone", "unknown"]
_MOST_BYTES = 1_000_000
"""The largest file of a repository that is read for its scripts."""
_PATH = re.compile(
    r"(?<![\w/.:@~$<>{}*%-])((?:\./)?(?:[\w@.+-]+/)+[\w@+-][\w@.+-]*\.[A-Za-z]\w{0,7})(?![\w/<{*-])(?!\.[\w/])"
)
_SCRIPT = re.compile(r"\b(?:npm|pnpm|yarn|bun) run ([a-z][\w:.-]*)")
_TARGET = re.compile(r"(?:^|[`;&]\s*|\$ )(make|just) ([a-z][\w.-]*)")
_PACKAGE = re.compile(
    r"(?<![\w/@.-])`?([a-z@][\w@/-]{1,60})`?(?: is (?:at|on)| at)? (?:version |v)?(\d+(?:\.\d+){1,3})(?![\w.]*\w)"
)
_VERSION = re.compile(r"(?:\^|~|={1,3}|~=)? *v?(\d+)(?:\.[\w.+-]+)?")
"""A version of a manifest that allows one major version only."""
_REQUIREMENT = re.compile(r"([A-Za-z0-9][\w.-]*)(?:\[[^]]*\])? *(.*)")
_COMMIT = re.compile(r"\bcommit `?(?=[a-f]*\d)([0-9a-f]{7,40})(?![\w-])")
_MOST_COMMITS = 20
"""How many commits git is asked for."""
_ELSEWHERE = re.compile(r"\bcd |--prefix|--filter|--cwd|-[wCF] |--workspace|://")
"""Words of a line that is about another folder."""
_PAST = re.compile(
    r"\b(?:remov|delet|renam|mov(?:ed|ing)|replac|drop(?:ped)?|no longer|former|previous|was|were|old|legacy|deprecat|"
    r"migrat|until|instead of|used to|gone|historic|archiv|create|creat|will|new file|add(?:ed)?|e\.g|example|such as)",
    re.IGNORECASE,
)
"""Words of a line that is about the past or the future."""
_NOT_ALL = re.compile(r"^-?s?include\b|^import\b|^mod\b|^[^\s#%]*%[^:=\n]*:|^\$\(", re.MULTILINE)
"""A line of a Makefile or justfile by which other files or patterns have targets, too."""
_MAKE_HEAD = re.compile(r"^([\w./-][\w./ \t-]*)::?(?!=)", re.MULTILINE)
_JUST_HEAD = re.compile(r"^@?([\w-]+)(?![\w-])[^:=\n]*:(?!=)", re.MULTILINE)
_MADE = re.compile(r"^(?:dist|build|out|target|node_modules|coverage|tmp|\.next|\.git|vendor|venv|\.venv)/")


class Proof(NamedTuple):
    """The present state of a file or script that an entry names, in a few words; of a renamed one both names."""

    band: Band
    words: str = ""
    was: str = ""
    now: str = ""


class Repository:
    """The files and scripts of a repository now, and the files that it had; read when it is first asked."""

    def __init__(
        self,
        root: Path,
        gone: Callable[[Path], Mapping[str, str]],
        has_commit: Callable[[Path, str], bool | None],
    ) -> None:
        """`gone` returns the files that commits removed, with their new names."""
        self._root = root
        self._find_gone = gone
        self._has_commit = has_commit
        self._commits: dict[str, bool | None] = {}

    @cached_property
    def _gone(self) -> dict[str, str]:
        return dict(self._find_gone(self._root))

    @cached_property
    def _ignored(self) -> GitIgnoreSpec:
        """What git ignores: such a file is made here, so that the history does not tell whether it exists."""
        from memory.base.git import ignored_by

        return ignored_by(self._text(".gitignore"))

    def _text(self, name: str) -> str:
        return decode(read_within(name, self._root, _MOST_BYTES) or b"")

    @cached_property
    def _by_end(self) -> dict[str, list[str]]:
        ends: dict[str, list[str]] = {}
        for path in self._gone:
            ends.setdefault(path.rpartition("/")[2], []).append(path)
        return ends

    def path(self, said: str) -> Proof:
        """Return what became of a file; a path may begin at an inner folder of the repository."""
        path = said.removeprefix("./")
        if self._there(path):
            return Proof("holds")
        same = [path] if path in self._gone else []
        if not same and path.count("/") > 1:
            same = [one for one in self._by_end.get(path.rpartition("/")[2], ()) if one.endswith(f"/{path}")]
        if len(same) != 1 or self._there(same[0]) or self._ignored.match_file(same[0]):
            return Proof("unknown")
        seen, now = {same[0]}, self._gone[same[0]]
        while now and now not in seen and not self._there(now):
            seen.add(now)
            now = self._gone.get(now, "")
        return (
            Proof("changed", f"{said} is {now} now", said, now)
            if now and now not in seen
            else Proof("gone", f"{said} was removed")
        )

    def _there(self, path: str) -> bool:
        return ".." not in path.split("/") and os.path.lexists(self._root / path)

    @cached_property
    def _manifest(self) -> dict[str, Any]:
        """The content of package.json, empty where there is none or it cannot be read."""
        with suppress(ValueError, RecursionError):
            found = json.loads(self._text("package.json") or "{}")
            return found if isinstance(found, dict) else {}
        return {}

    @cached_property
    def _scripts(self) -> frozenset[str] | None:
        """The scripts of package.json; None where there is none, or where it has inner packages with their own."""
        found = self._manifest
        if "workspaces" in found or self._there("pnpm-workspace.yaml"):
            return None
        try:
            return frozenset(found["scripts"])
        except (KeyError, TypeError):
            return None

    @cached_property
    def _packages(self) -> dict[str, tuple[str, str]]:
        """The packages that the manifests name, each with its version there and the manifest."""
        import tomllib

        found: dict[str, tuple[str, str]] = {}
        with suppress(AttributeError):
            for group in ("dependencies", "devDependencies"):
                found |= {name: (str(said), "package.json") for name, said in self._manifest.get(group, {}).items()}
        with suppress(ValueError, TypeError, AttributeError, RecursionError):
            project = tomllib.loads(self._text("pyproject.toml")).get("project", {})
            needed = (_REQUIREMENT.match(one) for one in project.get("dependencies", ()))
            found |= {one[1].casefold(): (one[2], "pyproject.toml") for one in needed if one}
        return found

    def package(self, name: str, version: str) -> Proof:
        """Return whether a manifest asks for the major version of a package that is said."""
        wanted, manifest = self._packages.get(name.casefold(), ("", ""))
        known = _VERSION.fullmatch(wanted)
        if known is None:
            return Proof("unknown")
        same = known[1] == version.partition(".")[0]
        return Proof("holds") if same else Proof("changed", f"{manifest} has {name} {visible(wanted)[:40]}")

    def commit(self, said: str) -> Proof:
        """Return whether a commit is in the history."""
        if said not in self._commits and len(self._commits) < _MOST_COMMITS:
            self._commits[said] = self._has_commit(self._root, said)
        there = self._commits.get(said)
        if there is None:
            return Proof("unknown")
        return Proof("holds") if there else Proof("gone", f"the repository has no commit {said}")

    def _targets(self, program: str) -> frozenset[str] | None:
        """The targets of the Makefile or justfile; None where there is none, or where not all are in it."""
        names = ("Makefile", "makefile", "GNUmakefile") if program == "make" else ("justfile", "Justfile", ".justfile")
        for name in names:
            text = self._text(name)
            if text:
                heads = (_MAKE_HEAD if program == "make" else _JUST_HEAD).findall(text)
                whole = not _NOT_ALL.search(text)
                return frozenset(word for head in heads for word in head.split()) if whole else None
        return None

    def script(self, program: str, name: str) -> Proof:
        """Return whether there is a script, a target or a recipe of a name."""
        known = self._targets(program) if program in ("make", "just") else self._scripts
        if known is None:
            return Proof("unknown")
        kind = "package.json has no script" if program not in ("make", "just") else f"there is no target of {program}"
        return Proof("holds") if name in known else Proof("gone", f"{kind} {name}")


def proofs_of(text: Text, repository: Repository) -> Iterator[tuple[int, Proof]]:
    """Yield what became of everything that a text names, with the line (from 0), the front matter's lines included."""
    for number, line, inside in lines_of(text):
        if len(line) > 2_000 or _PAST.search(_PATH.sub(" ", line)):
            continue
        if not inside and "://" not in line:
            for found in _PATH.finditer(line):
                if not _MADE.match(found[1]):
                    yield number, repository.path(found[1])
            for found in _COMMIT.finditer(line):
                yield number, repository.commit(found[1])
            for found in _PACKAGE.finditer(line):
                yield number, repository.package(found[1], found[2])
        if not _ELSEWHERE.search(line) and (inside or "`" in line):
            for found in _SCRIPT.finditer(line):
                yield number, repository.script("npm", found[1])
            for found in _TARGET.finditer(line):
                yield number, repository.script(found[1], found[2])
