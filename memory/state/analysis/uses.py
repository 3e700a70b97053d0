"""Tells how much it helps to know each source: how many files use it, how much it decides, how often it changes."""

from __future__ import annotations

import re
from typing import NamedTuple

from memory.base.git import most_changed

from .declarations import declared_in
from .documents import capital, ended
from .tree import Tree, is_helper, is_test, language_of

_MOST_FILES, _MANY, _OFTEN = 3000, 4, 5
_WORD = re.compile(r"[A-Za-z_]\w{3,60}")
_NO_CODE = re.compile(r"^[ \t]*(?://|/?\*|#(?!\[|[ \t]*include)|--|%)[^\n]*|\"\"\".*?\"\"\"", re.DOTALL | re.MULTILINE)
_TEXT = re.compile(r"\"[^\"\\\n]{1,200}\"")
"""Comments on lines of their own, docstrings, and texts: what they contain is no use."""
_DECIDES = re.compile(
    r"\b(?:if|elif|elsif|for|foreach|while|loop|match|switch|case|when|return|yield|await|raise|throw|try|catch|rescue"
    r"|unless|defer|guard)\b|=> ?\{|\|>"
)
"""What tables, constants and headers do not have: a file with little of it tells little of how the work is done."""
_LINES = 20
"""How many lines of code weigh as much as one decision."""
_GONE = re.compile(r"\bdeprecated\b|\bthe author of this software is\b|\bvendored\b|\bsingle-header\b", re.IGNORECASE)
"""What the beginning of a file says that is old, or from elsewhere."""
_OLD = re.compile(r"(?:\A|/)(?:legacy|deprecated|compat\w*|polyfills?)(?=[/._-])", re.IGNORECASE)
_BY_PATH = {"Go", "JavaScript", "TypeScript", "Python", "Rust", "Dart", "Vue", "Svelte"}
"""The languages in which a name of another folder is used only with the path of that."""


class Weight(NamedTuple):
    """How many files use the names that a source alone declares, how much it decides, how many commits change it."""

    users: int
    decides: float
    changes: int

    @property
    def value(self) -> float:
        """How much it helps to know the file."""
        return (1 + self.users) * self.decides * (1 + self.changes)


def weights(tree: Tree) -> dict[str, Weight]:
    """Return the weight of each source file that is neither old nor from elsewhere, the heaviest first."""
    sources = tree.sources()[:_MOST_FILES]
    tests = [path for path in tree.files if is_test(path) and language_of(path) is not None][:_MOST_FILES]
    texts = {path: _NO_CODE.sub("", tree.text(path)) for path in [*sources, *tests]}
    # Where a name is used with its path, that is in a text.
    texts |= {path: _TEXT.sub("", text) for path, text in texts.items() if language_of(path) not in _BY_PATH}
    declaring: dict[str, list[str]] = {}
    for path in sources:
        language = language_of(path)
        outer = (one for one in declared_in(texts[path], language) if one.is_outer(language) and not one.is_value)
        names = {one.name.rpartition(".")[2] for one in outer if "::" not in one.name}
        # A name of one word in small letters is often that of something else, too.
        for name in (one for one in names if re.search("[A-Z_]", one)):
            declaring.setdefault(name, []).append(path)
    of_one = {name: paths[0] for name, paths in declaring.items() if len(paths) == 1 and len(name) > 3}
    users: dict[str, set[str]] = {path: set() for path in sources}
    for user, text in texts.items():
        used = set(_WORD.findall(text))
        for path in {of_one[name] for name in used & of_one.keys()} - {user}:
            folder, _, file = path.rpartition("/")
            near = user.rpartition("/")[0] == folder or language_of(path) not in _BY_PATH
            if near or not used.isdisjoint((file.partition(".")[0], folder.rpartition("/")[2])):
                users[path].add(user)
    changes = most_changed(tree.root)
    decides = {path: len(_DECIDES.findall(texts[path])) + texts[path].count("\n") / _LINES for path in sources}
    own = [path for path in sources if not (_OLD.search(path) or _GONE.search(tree.text(path)[:600]))]
    own = [path for path in own if not is_helper(path)] or own
    found = {path: Weight(len(users[path]), decides[path], changes[path]) for path in own}
    return dict(sorted(found.items(), key=lambda one: (-one[1].value, one[0])))


def often_changed(weight: dict[str, Weight]) -> list[str]:
    """Return the few sources that most commits change, at least a quarter as many as change the first of them."""
    paths = sorted(weight, key=lambda path: -weight[path].changes)
    least = max(_OFTEN, weight[paths[0]].changes / 4) if paths else 0
    return [path for path in paths[:_OFTEN] if weight[path].changes >= least]


def reason(weight: dict[str, Weight], path: str) -> str:
    """Return why to read a file that says nothing of itself: many files use it, or it changes often; "" for neither."""
    users, often = weight[path].users if path in weight else 0, often_changed(weight)
    said = [f"{users} files use what it declares"] if users >= _MANY else []
    most = "changes most often of all sources" if path in often[:1] else "one of the sources that change most often"
    said += [most] if path in often else []
    return ended(capital("; ".join(said))) if said else ""
