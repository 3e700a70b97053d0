"""Tells which source files of a repository others build on: by the names that one file alone declares."""

from __future__ import annotations

import re
from collections import Counter

from .tree import Tree, is_test, language_of

_MOST_FILES, _MOST_SHOWN, _OTHERS = 3000, 3, 0.75
_WORD = re.compile(r"(?:[A-Z]\w*\.)+[A-Z]\w+|[A-Za-z_]\w{3,60}")
_NO_CODE = re.compile(r"^[ \t]*(?://|/?\*|#(?!\[|[ \t]*include)|--|%)[^\n]*|\"\"\".*?\"\"\"", re.DOTALL | re.MULTILINE)
"""Comments on lines of their own, and docstrings: what they contain is no use."""
_TYPE = re.compile(
    r"^[ \t]{0,4}(?:[a-z]+(?:\([a-z]+\))? )*?(?:class|interface|trait|struct|enum(?: class)?|record|object|protocol"
    r"|actor|module|type|defmodule|defprotocol|union|namespace)[ \t]+(?:\w+::)?([A-Z][\w.]{3,60})(?![\w.])",
    re.MULTILINE,
)
_FUNCTION = re.compile(
    r"^(?:(?:export|default|pub(?:\([a-z]+\))?|public|internal|async|unsafe|const|static|inline|open|local) )*"
    r"(?:(?:func|fun|fn|function\*?|def|sub|macro_rules!) ([A-Za-z_]\w{3,60})(?![\w.])"
    r"|(?:const|let|val) ([A-Za-z_]\w{3,60})(?= ?[=:]))"
    r"|^(?:[a-z_][\w \t*]*?[ \t*])?([a-z_]\w{3,60})\((?!.*;[ \t]*$)",
    re.MULTILINE,
)
"""Declarations of functions and values that are not inside of anything; the last form is that of C."""
_GONE = re.compile(r"@?\bdeprecated\b", re.IGNORECASE)


_BY_PATH = {"Go", "JavaScript", "TypeScript", "Python", "Rust", "Dart", "Vue", "Svelte"}
"""The languages in which a name of another folder is used only with the path of that."""


_NO_TEST = re.compile(r"\Atests?|(?:tests?|specs?)\Z")


_WHOLE = ("__init__", "mod", "index")
"""The names of files that are their folder."""


class Uses:
    """The use that the sources of a repository make of each other."""

    def __init__(self, tree: Tree) -> None:
        """Read the sources."""
        self._tree = tree
        texts = {path: _NO_CODE.sub("", tree.text(path)) for path in tree.sources()[:_MOST_FILES]}
        words = {path: set(_WORD.findall(text)) for path, text in texts.items()}
        declaring: dict[str, set[str]] = {}
        for path in words:
            for name in _names(texts[path]):
                declaring.setdefault(name, set()).add(path)
        of_one = {name: next(iter(paths)) for name, paths in declaring.items() if len(paths) == 1}
        self._code = {path: len(text) for path, text in texts.items()}
        self._users: dict[str, set[str]] = {path: set() for path in words}
        self._names: dict[str, Counter[str]] = {path: Counter() for path in words}
        for user, used in words.items():
            for name in used & of_one.keys():
                path = of_one[name]
                if path != user and self._reaches(user, used, path):
                    self._users[path].add(user)
                    self._names[path][name] += 1

    def _reaches(self, user: str, used: set[str], path: str) -> bool:
        """Return whether a file names another one or its folder, where names alone do not reach into other files."""
        folder, _, name = path.rpartition("/")
        near = user.rpartition("/")[0] == folder or language_of(path) not in _BY_PATH
        return near or not used.isdisjoint((name.partition(".")[0], folder.rpartition("/")[2]))

    def weight(self, path: str) -> float:
        """Return how much it helps to know a file: the more others build on it, and the more code it has, the more."""
        old = _GONE.search(self._tree.text(path)[:2000]) is not None
        return 0 if old else (1 + len(self._users.get(path, ()))) ** _OTHERS * self._code.get(path, 0)

    def ranked(self, folder: str = "") -> list[str]:
        """Return the sources below a folder, those that help most to know first."""
        return sorted(self._tree.sources(folder), key=lambda path: (-self.weight(path), path))

    def declared(self, path: str) -> list[str]:
        """Return the names that a file declares and most other files use; of a folder those of its main files."""
        if path in self._names:
            found = self._names[path]
            names = sorted(found, key=lambda name: (-found[name], name))
            named = [name for name in names if name[0] != "_" and name.lower() not in ("main", _stem(path))]
            return named[:_MOST_SHOWN]
        return [name for one in self.ranked(path) for name in self._main(one)][:_MOST_SHOWN] if path else []

    def _main(self, path: str) -> list[str]:
        """Return the name that a file is about: that which most other files use."""
        found = self._names.get(path, Counter())
        return [name for name in sorted(found, key=lambda name: (-found[name], name)) if name[0] != "_"][:1]

    def tested(self, folder: str = "") -> tuple[str, str] | None:
        """Return the most useful source file whose test, below a folder, is named after it, and that test."""
        tests = {path: _NO_TEST.sub("", _stem(path)) for path in self._tree.below(folder) if is_test(path)}
        tests = {path: name for path, name in tests.items() if name != _stem(path) and language_of(path) is not None}
        for path in self.ranked():
            stem = _stem(path)
            for test, name in tests.items():
                if len(stem) > 2 and (name == stem or name == f"{_stem(path.rpartition('/')[0])}{stem}"):
                    return path, test
        return None


def _stem(path: str) -> str:
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    return re.sub(r"[\W_]", "", folder.rpartition("/")[2] if stem in _WHOLE else stem).lower()


def _names(text: str) -> set[str]:
    found = {one[1] for one in _TYPE.finditer(text)}
    return found | {one[1] or one[2] or one[3] for one in _FUNCTION.finditer(text)}
