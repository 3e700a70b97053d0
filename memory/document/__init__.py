"""Lossless sectioned Markdown: `parse(data).dump() == data` for any bytes, and edits that change only their lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .fields import Bullet, Field, FieldValues
    from .model import Document, parse
    from .nodes import Block, Entry, Section

__all__ = ["Block", "Bullet", "Document", "Entry", "Field", "FieldValues", "Section", "parse"]

_PLACES = {
    "Bullet": "fields",
    "Field": "fields",
    "FieldValues": "fields",
    "Document": "model",
    "parse": "model",
    "Block": "nodes",
    "Entry": "nodes",
    "Section": "nodes",
}


def __getattr__(name: str) -> Any:
    """Return a name of this room, imported when it is first asked for: a look at facts needs no document."""
    from importlib import import_module

    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
    globals()[name] = found
    return found
