"""Tells which source files of a repository others build on: by the names that one file alone declares."""

from __future__ import annotations

import re
from collections import Counter

from .tree import Tree, is_test, language_of

_MOST_FILES, _OTHERS = 3000, 0.75
_WORD = re.compile(r"(?:[A-Z]\w*\.)+[A-Z]\w+|[A-Za-z_]\w{3,60}")
_NO_CODE = re.compile(r"^[ \t]*(?://|/?\*|#(?!\[|[ \t]*include)|--|%)[^\n]*|\"\"\".*?\"\"\"", re.DOTALL | re.MULTILINE)
"""Comments on lines of their own, and docstrings: what they contain is no use."""
_TYPE = re.compile(
    r"^(?:[a-z]+(?:\([a-z]+\))? )*?(?:class|interface|trait|struct|enum(?: class)?|record|object|protocol"
    r"|actor|module|package|type|defmodule|defprotocol|union|namespace)[ \t]+(?:\w+::)*([A-Z][\w.]{3,60})"
    r"(?![\w.]|::|[ \t]*[;*]|[ \t]+\w+[ \t]*[;=,\[])",
    re.MULTILINE,
)
_FUNCTION = re.compile(
    r"^(?:(?:export|default|pub(?:\([a-z]+\))?|public|internal|async|unsafe|static|inline|open|local) )*"
    r"(?:(?:func|fun|fn|function\*?|def|macro_rules!) ([A-Za-z_]\w{3,60})(?![\w.])"
    r"|val ([A-Za-z_]\w{3,60})(?= ?[=:])"
    r"|(?<=export )const ([A-Za-z_]\w{3,60})|const ([A-Za-z_]\w{3,60})(?= = (?:async )?(?:function\b|class\b|\()))"
    r"|^(?:(?!static |return |else )[a-z_][\w \t*]*?[ \t*])?((?:[A-Za-z]+_|[a-z]+[A-Z0-9]|_)\w{3,60})\((?!.*;[ \t]*$)",
    re.MULTILINE,
)
"""Declarations of functions and values that are not inside of anything; the last form is that of C."""
_GONE = re.compile(r"\bdeprecated\b|\bthe author of this software is\b|\bvendored\b|\bsingle-header\b", re.IGNORECASE)
"""What the beginning of a file says that is old, or from elsewhere."""
_OLD = re.compile(r"(?:\A|/)(?:legacy|deprecated|compat\w*|polyfills?)(?=[/._-])", re.IGNORECASE)


_NESTED = {"C#", "F#", "Ruby", "Elixir", "Visual Basic"}
"""The languages in which types are usually inside of a namespace or module."""
_BY_PATH = {"Go", "JavaScript", "TypeScript", "Python", "Rust", "Dart", "Vue", "Svelte"}
"""The languages in which a name of another folder is used only with the path of that."""


_TEST = re.compile(r"(?:tests?[_-](.+?)|(.+?)(?:[._-]?(?:[tT]ests?|[sS]pecs?)))(?:\.[\w-]+)+")
"""The name of a test file around that of what it tests."""
_WHOLE = ("__init__", "mod", "index")
"""The names of files that are their folder."""


class Uses:
    """The use that the sources of a repository make of each other."""

    def __init__(self, tree: Tree) -> None:
        """Read the sources."""
        self._tree = tree
        sources = tree.sources()[:_MOST_FILES]
        tests = [path for path in tree.files if is_test(path) and language_of(path) is not None][:_MOST_FILES]
        texts = {path: _NO_CODE.sub("", tree.text(path)) for path in [*sources, *tests]}
        words = {path: set(_WORD.findall(text)) for path, text in texts.items()}
        self._code = {path: len(texts[path]) for path in sources}
        self._declared = {path: _names(texts[path], nested=language_of(path) in _NESTED) for path in sources}
        declaring: dict[str, list[str]] = {}
        for path, names in self._declared.items():
            for name in names:
                declaring.setdefault(name, []).append(path)
        of_one = {name: paths[0] for name, paths in declaring.items() if len(paths) == 1}
        self._users: dict[str, set[str]] = {path: set() for path in sources}
        for user, used in words.items():
            for name in used & of_one.keys():
                path = of_one[name]
                if path != user and self._reaches(user, used, path):
                    self._users[path].add(user)

    def _reaches(self, user: str, used: set[str], path: str) -> bool:
        """Return whether a file names another one or its folder, where names alone do not reach into other files."""
        folder, _, name = path.rpartition("/")
        near = user.rpartition("/")[0] == folder or language_of(path) not in _BY_PATH
        return near or not used.isdisjoint((name.partition(".")[0], folder.rpartition("/")[2]))

    def size(self, path: str) -> int:
        """Return the number of characters of code in a file, without comments."""
        return self._code.get(path, 0)

    def weight(self, path: str) -> float:
        """Return how much it helps to know a file: the more others build on it, and the more code it has, the more."""
        old = _GONE.search(self._tree.text(path)[:600]) is not None or _OLD.search(path) is not None
        return 0 if old else (1 + len(self._users.get(path, ()))) ** _OTHERS * self.size(path)

    def ranked(self, folder: str = "") -> list[str]:
        """Return the sources below a folder, those that help most to know first."""
        return sorted(self._tree.sources(folder), key=lambda path: (-self.weight(path), path))

    def tested(self, folder: str = "") -> tuple[str, str] | None:
        """Return the most useful source file with one test below a folder that is named after it, and that test."""
        tests: dict[str, list[str]] = {}
        for path in self._tree.below(folder):
            if is_test(path) and language_of(path) and (found := _TEST.fullmatch(path.rpartition("/")[2])):
                tests.setdefault(_folded(found[1] or found[2]), []).append(path)
        stems = Counter(map(_stem, self._code))
        for path in self.ranked():
            stem = _stem(path)
            near = [one for one in tests.get(stem, []) if len(stem) > 2 and _is_beside(path, one)]
            if (
                stems[stem] == 1
                and len(near) == 1
                and self._declared[path] & {*_WORD.findall(self._tree.text(near[0]))}
            ):
                return path, near[0]
        return None


def _is_beside(path: str, test: str) -> bool:
    """Return whether a test is in a folder of tests, in one with the name of that of the source file, or beside it."""
    around, own = (one.rpartition("/")[0].rpartition("/")[2] for one in (test, path))
    return is_test(f"{around}/") or _folded(around) == _folded(own)


def _folded(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()


def _stem(path: str) -> str:
    """Return the name of a file without its end; of one that stands for its folder the name of that."""
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    return _folded(folder.rpartition("/")[2] if stem in _WHOLE else stem)


def _names(text: str, *, nested: bool) -> set[str]:
    types = _TYPE.findall(re.sub(r"(?m)^[ \t]{1,4}", "", text) if nested else text)
    return {*types, *(next(filter(None, one)) for one in _FUNCTION.findall(text))}
