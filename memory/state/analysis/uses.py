"""Tells which source files of a repository others build on: by the names that one file alone declares."""

from __future__ import annotations

import re

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


def weights(tree: Tree) -> dict[str, float]:
    """Return how much it helps to know each source: the more files use its names, and the more code it has, the more.

    A use is a name that one source alone declares, in another source or test. What is old has no weight.
    """
    sources = tree.sources()[:_MOST_FILES]
    tests = [path for path in tree.files if is_test(path) and language_of(path) is not None][:_MOST_FILES]
    texts = {path: _NO_CODE.sub("", tree.text(path)) for path in [*sources, *tests]}
    declaring: dict[str, list[str]] = {}
    for path in sources:
        for name in _names(texts[path], nested=language_of(path) in _NESTED):
            declaring.setdefault(name, []).append(path)
    of_one = {name: paths[0] for name, paths in declaring.items() if len(paths) == 1}
    users: dict[str, set[str]] = {path: set() for path in sources}
    for user, text in texts.items():
        used = set(_WORD.findall(text))
        for path in {of_one[name] for name in used & of_one.keys()} - {user}:
            folder, _, file = path.rpartition("/")
            near = user.rpartition("/")[0] == folder or language_of(path) not in _BY_PATH
            if near or not used.isdisjoint((file.partition(".")[0], folder.rpartition("/")[2])):
                users[path].add(user)
    old = [path for path in sources if _OLD.search(path) or _GONE.search(tree.text(path)[:600])]
    return {path: (1 + len(found)) ** _OTHERS * len(texts[path]) for path, found in users.items()} | dict.fromkeys(
        old, 0
    )


def _names(text: str, *, nested: bool) -> set[str]:
    types = _TYPE.findall(re.sub(r"(?m)^[ \t]{1,4}", "", text) if nested else text)
    return {*types, *(next(filter(None, one)) for one in _FUNCTION.findall(text))}
