"""Values of manifests, which are untrusted: read without failing, used only where they have the right form."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator
from typing import Any

from memory.state.analysis.found import Ecosystem
from memory.state.analysis.languages import language_of
from memory.state.analysis.tree import Tree
from memory.state.projections.markdown import one_line

_MOST_NAME = 100
_MOST_PARTS, _MOST_STARS = 8, 3


def read_manifest(tree: Tree, path: str, found: Ecosystem) -> dict[str, Any] | None:
    """Return the object in a JSON or TOML file; None for a broken one, which is added to the problems of `found`."""
    form, load = ("TOML", tomllib.loads) if path.endswith(".toml") else ("JSON", json.loads)
    try:
        value: object = load(tree.text(path))
    except (ValueError, RecursionError, OverflowError):
        found.problems.append(f"`{path}` (not valid {form})")
        return None
    if not isinstance(value, dict):
        found.problems.append(f"`{path}` (not a {form} object)")
        return None
    return value


def folders_with(tree: Tree, manifest: str) -> list[str]:
    """Return the folders below the root that have a manifest, sorted, without samples."""
    folders = sorted(path.rpartition("/")[0] for path in tree.named(manifest))
    return [folder for folder in folders if folder and not tree.is_sample(folder)]


def dig(value: object, *keys: str) -> object:
    """Return the value at nested keys; None where there is none."""
    for key in keys:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def text_at(value: object, *keys: str) -> str:
    """Return a text at nested keys on one line, "" where there is none."""
    found = dig(value, *keys)
    return one_line(found) if isinstance(found, str) else ""


def name_at(value: object, *keys: str) -> str:
    """Return a name at nested keys, "" where there is none or where it is too long for a name."""
    found = text_at(value, *keys)
    return found if len(found) <= _MOST_NAME else ""


def table_at(value: object, *keys: str) -> dict[str, Any]:
    """Return an object at nested keys, an empty one where there is none."""
    found = dig(value, *keys)
    return found if isinstance(found, dict) else {}


def texts_at(value: object, *keys: str) -> list[str]:
    """Return the texts of a list at nested keys."""
    found = dig(value, *keys)
    return [one_line(text) for text in found if isinstance(text, str)] if isinstance(found, list) else []


def members(tree: Tree, patterns: list[str], manifest: str) -> Iterator[str]:
    """Yield the folders that a workspace names by patterns such as `packages/*` and that have a manifest.

    Patterns that begin with `!` remove folders; those that lead out of the repository match nothing.
    """
    folders = [path.rpartition("/")[0] for path in tree.named(manifest)]
    wanted: list[re.Pattern[str]] = []
    unwanted: list[re.Pattern[str]] = []
    for pattern in patterns[:200]:
        plain = pattern.removeprefix("!").removeprefix("./").rstrip("/")
        if not plain or len(plain) > 200 or ".." in plain.split("/"):
            continue
        (unwanted if pattern.startswith("!") else wanted).append(_glob(plain))
    for folder in folders:
        if (
            folder
            and any(one.fullmatch(folder) for one in wanted)
            and not any(one.fullmatch(folder) for one in unwanted)
        ):
            yield folder


def fullest(tree: Tree, folders: Iterable[str]) -> str:
    """Return the folder with most sources, without tests and examples; "" where there is none."""

    def sources(folder: str) -> int:
        paths = [path for path in tree.below(folder) if language_of(path) is not None]
        return sum(not tree.is_sample(path.rpartition("/")[0]) for path in paths)

    # A name that begins with a dash would be taken for an option.
    named = [folder for folder in folders if folder and not folder.startswith("-")]
    return max(sorted(named), key=sources, default="")


def _glob(pattern: str) -> re.Pattern[str]:
    """Return a pattern in which `*` stands for a part of one name, `?` for a character, and `**` for any folders."""
    parts = []
    for part in pattern.split("/")[:_MOST_PARTS]:
        if part == "**":
            parts.append(r"[^/]+(?:/[^/]+)*?")
        else:
            # Only a few stars are kept: each one more multiplies the ways to match a name.
            pieces = re.sub(r"\*+", "*", part).split("*", _MOST_STARS)
            parts.append("[^/]*".join(re.escape(piece).replace(r"\?", "[^/]") for piece in pieces))
    return re.compile("/".join(parts))
