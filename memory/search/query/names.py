"""Names in camel case: `getUserToken` is one word of the text, and is found by `user` and `token` as well."""

from __future__ import annotations

import re
from collections.abc import Iterator

# It begins with the capital: so the texts, which are mostly without, are gone through without a try at each letter.
_INSIDE = re.compile("[A-Z](?:(?<=[a-z0-9].)|(?<=[A-Z].)[a-z])")
_NAME = re.compile("(?<![A-Za-z0-9])[A-Za-z0-9]*?(?:[a-z0-9][A-Z]|[A-Z]{2}[a-z])[A-Za-z0-9]*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_LONGEST = 64


def camel_parts(name: str) -> list[str]:
    """Return the parts of a name in camel case, folded; none where it is no such name."""
    found = _NAME.fullmatch(name)
    parts = [part.lower() for part in _PART.findall(name)] if found else []
    return parts if len(parts) > 1 else []


def name_parts(text: str) -> Iterator[tuple[str, str]]:
    """Yield each part of each name in a text, of two letters or more, with the name as a word."""
    if _INSIDE.search(text):
        for name in _NAME.findall(text):
            if len(name) <= _LONGEST:
                yield from ((part, name.lower()) for part in camel_parts(name) if len(part) > 1)
