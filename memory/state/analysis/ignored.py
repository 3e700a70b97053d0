"""Folders and files of a repository that are not its own work: built, downloaded, hidden, or ignored by git."""

from __future__ import annotations

import re
from fnmatch import translate
from typing import NamedTuple

_FOLDERS = frozenset(
    (
        "node_modules", "bower_components", "vendor", "third_party", "third-party", "thirdparty",
        "build", "dist", "target", "obj", "_build", "cmake-build-debug", "cmake-build-release", "venv", "virtualenv",
        "site-packages", "__pycache__", "__pypackages__", "eggs", "htmlcov", "coverage",
        "Pods", "Carthage", "DerivedData", "elm-stuff", "jspm_packages",
    )
)  # fmt: skip
_SUFFIXES = (".egg-info", ".dist-info", ".xcodeproj", ".xcworkspace")
_OWN_HIDDEN = frozenset((".github", ".circleci", ".buildkite", ".ci"))
_LOCKS = re.compile(r".*[.-]lock(?:b|file|\.ya?ml|\.json|\.hcl)?\Z|.*\.min\.(?:js|css)\Z|.*\.map\Z|.*\.pyc\Z")

_MOST_LINES = 5000
_MOST_PATTERNS = 200
_MOST_CHARACTERS = 300
_LITERAL = re.compile(r"[^*?\[\\]+")


class _Rule(NamedTuple):
    """The line of a pattern, whether it includes files again (`!`), and whether it is for folders only."""

    place: int
    negated: bool
    folder: bool


def is_foreign_folder(name: str) -> bool:
    """Return whether a folder of that name is hidden, or holds what was built or downloaded."""
    if name.startswith("."):
        return name not in _OWN_HIDDEN
    return name in _FOLDERS or name.endswith(_SUFFIXES)


def is_generated(name: str) -> bool:
    """Return whether a file of that name is written by a tool: lock files, minified code, maps."""
    return _LOCKS.fullmatch(name) is not None


class Ignore:
    """The patterns of a `.gitignore` at the top of a repository."""

    def __init__(self, text: str = "") -> None:
        """Read the patterns; where there are very many or they are very long, the rest is left out."""
        self._names: dict[str, list[_Rule]] = {}
        self._patterns: list[tuple[re.Pattern[str], bool, _Rule]] = []
        for place, line in enumerate(text.split("\n")[:_MOST_LINES]):
            pattern = line.rstrip()
            if not pattern or pattern.startswith("#") or len(pattern) > _MOST_CHARACTERS:
                continue
            negated = pattern.startswith("!")
            rule = _Rule(place, negated, pattern.endswith("/"))
            pattern = pattern[negated:].rstrip("/")
            whole = "/" in pattern
            pattern = pattern.lstrip("/")
            if pattern.startswith("**/"):
                pattern, whole = pattern[3:], "/" in pattern[3:]
            if pattern and not whole and _LITERAL.fullmatch(pattern):
                self._names.setdefault(pattern, []).append(rule)
            elif pattern and len(self._patterns) < _MOST_PATTERNS:
                self._patterns.append((re.compile(translate(pattern)), whole, rule))

    def ignores(self, path: str, *, folder: bool) -> bool:
        """Return whether a path, relative to the repository, is ignored; the last pattern that matches decides."""
        name = path.rpartition("/")[2]
        fitting = [rule for rule in self._names.get(name, ()) if folder or not rule.folder]
        for pattern, whole, rule in self._patterns:
            if (folder or not rule.folder) and pattern.match(path if whole else name):
                fitting.append(rule)
        return bool(fitting) and not max(fitting).negated
