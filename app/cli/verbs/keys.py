"""`memdeck keys`: every key of the application with the user's settings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from app.tui.keys.every_key import known_bindings
from app.tui.keys.user_keys import read_keymap
from memory.operations import Context, shows, verb
from memory.operations.result import Paint, Result, listing
from memory.storage.own_folders import config_home
from widgets.chrome.keys import key_name

if TYPE_CHECKING:
    from app.tui.keys.user_keys import Keymap


NO_KEY = "(none)"
"""The word for no key; `-` is a key."""


@verb("keys", serves="machine", looks=shows, examples=("memdeck keys", "memdeck keys -o json"))
def keys(context: Context) -> Result:
    """List every key of the application with its id, those of ~/.config/memdeck/keys.toml included.

    A changed key is marked; what has none is reached from the palette. See docs/keys.md for the file.
    """
    keymap = read_keymap(config_home(context.environ), context.root)
    notes = [f"warning: {problem}" for problem in keymap.problems]
    return listing("keys", lambda: _rows(keymap), lambda paint: _lines(paint, keymap), notes)


def _rows(keymap: Keymap) -> Iterator[dict[str, Any]]:
    for known in known_bindings():
        live = keymap.keys(known.id, known.keys)
        yield {
            "id": known.id,
            "keys": [key_name(key) for key in live],
            "default": [key_name(key) for key in known.keys],
            "group": known.group,
            "description": known.description,
            "changed": known.id in keymap.rebound,
        }


def _lines(paint: Paint, keymap: Keymap) -> Iterator[str]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in _rows(keymap):
        groups.setdefault(row["group"], []).append(row)
    found = [row for rows in groups.values() for row in rows]
    width = max(len(" ".join(row["keys"]) or NO_KEY) for row in found)
    ids = max(len(row["id"]) for row in found)
    for number, (group, rows) in enumerate(groups.items()):
        if number:
            yield ""
        yield paint.line(group)
        for row in rows:
            mark = "*" if row["changed"] else " "
            shown = " ".join(row["keys"]) or NO_KEY
            yield paint.line(f"{mark} {shown:<{width}}  {row['id']:<{ids}}  {row['description']}")
    if keymap.rebound:
        yield ""
        yield paint.line(f"* changed in {keymap.path}")
