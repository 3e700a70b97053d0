"""The paths that a bundle names, and whether they exist in the workspace."""

from __future__ import annotations

import os
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
