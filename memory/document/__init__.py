"""Lossless sectioned Markdown: `parse(data).dump() == data` for any bytes, and edits that change only their lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from .lines import Bullet, Field, FieldValues
    from .model import Document, parse
    from .nodes import Block, Entry, Section, bare

__all__ = ["Block", "Bullet", "Document", "Entry", "Field", "FieldValues", "Section", "bare", "parse"]

_PLACES = {
    "Bullet": "lines",
    "Field": "lines",
    "FieldValues": "lines",
    "Document": "model",
    "parse": "model",
    "Block": "nodes",
    "bare": "nodes",
    "Entry": "nodes",
    "Section": "nodes",
}


def __getattr__(name: str) -> Any:
    """Return a name of this package, imported on first use: reading or comparing lines needs no document."""
    from importlib import import_module

    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
    globals()[name] = found
    return found
