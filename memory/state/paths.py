"""The paths that a bundle names, and whether they exist in the workspace."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from .files.model import Json
from .files.schema import stays_inside


def bundle_paths(bundle: Json) -> list[str]:
    """Return every path that a bundle names, each once, except the entry file."""
    parts = bundle["projectMap"]
    paths = [
        *bundle["project"]["keyPaths"],
        *(one["path"] for one in parts["modules"]),
        *(one["path"] for one in parts["entrypoints"]),
        *(one["path"] for one in parts["denseSourceAreas"]),
        *parts["firstFilesToRead"],
    ]
    return list(dict.fromkeys(paths))


def without_gone(bundle: Json, has: Callable[[str], bool]) -> Json:
    """Return a bundle without the paths that do not exist (`has` tells), and what it says of them."""
    project, parts = bundle["project"], bundle["projectMap"]
    lists = {key: list(parts[key]) for key in ("modules", "entrypoints", "denseSourceAreas", "firstFilesToRead")}
    kept = {
        key: [one for one in values if has(one if isinstance(one, str) else one["path"])]
        for key, values in lists.items()
    }
    paths = [path for path in project["keyPaths"] if has(path)]
    return {**bundle, "project": {**project, "keyPaths": paths}, "projectMap": {**parts, **kept}}


def shown_path(path: str, root: str | os.PathLike[str] | None, home: str | os.PathLike[str] | None = None) -> str:
    """Return a path for messages: relative in the workspace, with `~` in the home folder."""
    own = "" if home is None else os.path.abspath(home).rstrip("/")
    if root is None:
        return path
    for folder in (os.path.abspath(root), os.path.realpath(root)):
        if path == folder or path.startswith(folder.rstrip("/") + "/"):
            return os.path.relpath(path, folder)
    return f"~{path[len(own) :]}" if own and (path == own or path.startswith(f"{own}/")) else path


def is_there(root: Path, path: str) -> bool:
    """Return whether a path is below the workspace and exists; a path that leads out through links does not count."""
    try:
        if not (stays_inside(path) and os.path.lexists(root / path)):
            return False
        return os.path.realpath(root / path).startswith(os.path.realpath(root).rstrip("/") + "/")
    except (OSError, ValueError):
        return False
