"""Writes the tables of the page of keys from the bindings: `python -m app.tui.keys.reference`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from widgets.chrome.keys import key_name

from .bindings import KnownBinding, known_bindings

PAGE = Path("docs/keys.md")
BEGIN = "<!-- Made from the bindings: -->\n"
"""The line of the page below which everything is made; the text above it is written by hand."""


def keys_page(page: str) -> str:
    """Return the page as Markdown, with its tables made anew."""
    return page.partition(BEGIN)[0] + BEGIN + "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield ""
    groups: dict[str, list[KnownBinding]] = {}
    for known in known_bindings():
        groups.setdefault(known.group, []).append(known)
    for name, rows in groups.items():
        yield f"## {name}\n"
        yield "| key | does | id |"
        yield "| :- | :- | :- |"
        for known in rows:
            keys = " ".join(f"`{key_name(key)}`" for key in known.keys) or "palette"
            yield f"| {keys.replace('|', '&#124;')} | {known.description} | `{known.id}` |"
        yield ""


if __name__ == "__main__":
    PAGE.write_text(keys_page(PAGE.read_text("utf-8")), "utf-8")
