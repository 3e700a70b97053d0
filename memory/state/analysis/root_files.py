"""The sources right at the root that are the work itself, not settings of tools: each a part, with its header."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from .ignored import is_generated
from .languages import is_test_file, language_of
from .tree import Tree

_TOOLS = re.compile(
    r"\..*|(?:setup|conftest|noxfile|tasks|fabfile|manage|versioneer)\.py|(?:gulp|grunt)file\.\w+|(?:build|mix)\.\w+"
    r"|package\.swift|.*\.(?:config|conf|setup)\.[cm]?[jt]s|.*rc\.[cm]?js|.*\.d\.ts|magefile\.go",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"(?:examples?|demos?|samples?|bench(?:mark)?s?|fuzz\w*)\.\w+", re.IGNORECASE)
_HEADERS = (".h", ".hh", ".hpp", ".hxx")
_NAMELESS = frozenset(("index", "main", "mod", "lib", "doc", "__init__", "__main__"))
_ONE_PACKAGE = ("Go",)
"""Languages in which all files of a folder are one part."""
_MOST = 6


@dataclass(frozen=True, slots=True)
class RootPart:
    """A part that lies right at the root: its name ("" where its files tell none), the file to go to, and all of it."""

    name: str
    path: str
    files: list[str]


def root_parts(tree: Tree, languages: Collection[str]) -> list[RootPart]:
    """Return the parts at the root in the languages of the work, up to six of the largest, sorted by path.

    There are none where a folder holds more of the work than the root does: what is at the root then serves it.
    """
    files = [path for path in tree.top_files() if language_of(path) in languages and _is_work(tree, path)]
    one_package = [path for path in files if language_of(path) in _ONE_PACKAGE]
    rest = [path for path in files if path not in one_package] if _holds_most(tree, files, languages) else []
    groups: dict[str, list[str]] = {}
    for path in rest:
        groups.setdefault(path.rpartition(".")[0], []).append(path)
    parts = [RootPart("" if stem in _NAMELESS else stem, _main(tree, group), group) for stem, group in groups.items()]
    if one_package:
        parts.append(RootPart("", _main(tree, one_package), one_package))
    parts.sort(key=lambda part: (-sum(tree.files[path] for path in part.files), part.path))
    return sorted(parts[:_MOST], key=lambda part: part.path)


def headers_of(part: RootPart) -> list[str]:
    """Return the headers of a part, as in C."""
    return [path for path in part.files if path.lower().endswith(_HEADERS)]


def _is_work(tree: Tree, path: str) -> bool:
    if is_generated(path) or is_test_file(path) or not tree.files[path]:
        return False
    return _TOOLS.fullmatch(path) is None and _ASIDE.fullmatch(path) is None


def _holds_most(tree: Tree, files: list[str], languages: Collection[str]) -> bool:
    """Tell whether no folder at the root holds more bytes of the work than some files."""
    sizes: dict[str, int] = {}
    for path in tree.sources():
        folder, inner, _ = path.partition("/")
        around = path.rpartition("/")[0]
        if inner and language_of(path) in languages and not is_test_file(path) and not tree.is_aside(around):
            sizes[folder] = sizes.get(folder, 0) + tree.files[path]
    return sum(tree.files[path] for path in files) >= max(sizes.values(), default=0)


def _main(tree: Tree, files: list[str]) -> str:
    """Return the file of a part to go to: where it begins, else its largest that is no header."""
    first = [path for path in files if path.rpartition(".")[0] in _NAMELESS]
    sources = [path for path in files if not path.lower().endswith(_HEADERS)]
    return max(first or sources or files, key=lambda path: (tree.files[path], path))
