"""No pattern has a possessive quantifier or an atomic group: before Python 3.11.5 they match too much."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[1]
ROOMS = ("app", "widgets", "memory", "bench", "screenshots", "tests")
# Without escapes and sets of characters, neither can mean anything else in a pattern, also in a part of one.
_ESCAPES = re.compile(r"\\.", re.DOTALL)
_SETS = re.compile(r"\[\^?\]?[^\]]*\]")
_FORBIDDEN = re.compile(r"[*?][+]|(?<=[^+])[+][+]|\{[0-9]*,?[0-9]*\}[+]|[(][?]>")
# Words that are no patterns.
_WORDS = re.compile(r"(?:C|ctrl)[+][+]")


def forbidden(text: str) -> bool:
    """Return whether a text, read as a pattern, has a possessive quantifier or an atomic group."""
    return _FORBIDDEN.search(_SETS.sub("x", _ESCAPES.sub("x", text))) is not None


def _literals(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each string and each bytes of a source; `x` stands for what is put in."""
    inner: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            inner.update(map(id, node.values))
            parts = [part.value if isinstance(part, ast.Constant) else "x" for part in node.values]
            yield node.lineno, "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and id(node) not in inner:
            if isinstance(node.value, bytes):
                yield node.lineno, node.value.decode("latin-1")
            elif isinstance(node.value, str):
                yield node.lineno, node.value


def test_no_source_has_one() -> None:
    """Every string of the sources passes, whether it is a whole pattern or a part of one."""
    found = [
        f"{path.relative_to(HOUSE)}:{line}: {text[:100]!r}"
        for room in ROOMS
        for path in sorted((HOUSE / room).rglob("*.py"))
        if path != Path(__file__)
        for line, text in _literals(path.read_text(encoding="utf-8"))
        if forbidden(_WORDS.sub("x", text))
    ]
    assert found == []


@pytest.mark.parametrize("text", ["a*+", "a++b", "(?:ab)?+", "(?>a|b)c", "[+*]++", "a{2,}+", r"\*++", "{0,3}+)"])
def test_one_is_found(text: str) -> None:
    """Each spelling of the two is found, in a part of a pattern as well."""
    assert forbidden(text)


@pytest.mark.parametrize(
    "text", [r"a\++b", "[*+]+", "a*?b+?", "(?:a+)+", r"\?+", "[]*+]", "[^]+*]+", "+++", "10:00+00:00"]
)
def test_nothing_else_is(text: str) -> None:
    """A sign that is escaped or in a set of characters is none."""
    assert not forbidden(text)
