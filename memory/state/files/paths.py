"""The paths of a workspace: those that a bundle names, and how a path is shown and read."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .model import Json
from .schema import stays_inside

_PLACES = ("modules", "entrypoints", "denseSourceAreas", "firstFilesToRead")
"""The lists of the project map in which each entry is or has a path."""


def _path(entry: Any) -> str:
    return str(entry if isinstance(entry, str) else entry["path"])


def bundle_paths(bundle: Json) -> list[str]:
    """Return every path that a bundle names, each once, except the entry file."""
    listed = (_path(one) for key in _PLACES for one in bundle["projectMap"][key])
    return list(dict.fromkeys((*bundle["project"]["keyPaths"], *listed)))


def without_gone(bundle: Json, has: Callable[[str], bool]) -> Json:
    """Return a bundle without the paths that do not exist (`has` tells), and what it says of them."""
    project, parts = bundle["project"], bundle["projectMap"]
    kept = {key: [one for one in parts[key] if has(_path(one))] for key in _PLACES}
    paths = [path for path in project["keyPaths"] if has(path)]
    return {**bundle, "project": {**project, "keyPaths": paths}, "projectMap": {**parts, **kept}}


def shown_path(path: str, root: str | os.PathLike[str] | None, home: str | os.PathLike[str] | None = None) -> str:
    """Return a path for messages and files: relative in the workspace, with `~` for the home folder, in the names that
    agents make of it (`-home-ada-shop`), too.
    """
    for folder in () if root is None else (os.path.abspath(root), os.path.realpath(root)):
        if path == folder or path.startswith(folder.rstrip("/") + "/"):
            return os.path.relpath(path, folder)
    own = "" if home is None else os.path.abspath(home).rstrip("/")
    if own and (path == own or path.startswith(f"{own}/")):
        path = f"~{path[len(own) :]}"
    return path.replace(f"/{as_name(own)}-", "/~-") if own else path


def full_path(path: str, root: str | os.PathLike[str], home: str | os.PathLike[str] | None = None) -> str:
    """Return the absolute path of one that `shown_path` made, or that a person wrote relative to `root`."""
    if home is not None and (path == "~" or path.startswith("~/")):
        path = f"{os.path.abspath(home)}{path[1:]}"
    if home is not None:
        path = path.replace("/~-", f"/{as_name(os.path.abspath(home))}-")
    return os.path.normpath(os.path.join(root, path))


def as_name(path: str) -> str:
    """Return the name that agents give to the folder of the sessions of a path."""
    return re.sub(r"[^A-Za-z0-9]", "-", path)


def is_there(root: Path, path: str) -> bool:
    """Return whether a path is below the workspace and exists; a path that leads out through links does not count."""
    try:
        if not (stays_inside(path) and os.path.lexists(root / path)):
            return False
        return os.path.realpath(root / path).startswith(os.path.realpath(root).rstrip("/") + "/")
    except (OSError, ValueError):
        return False
