"""The paths that a bundle names, and whether the workspace has them."""

from __future__ import annotations

import os
from pathlib import Path

from .files.model import Json
from .files.schema import stays_inside


def bundle_paths(bundle: Json) -> list[str]:
    """Return every path that a bundle names, each once, but for the entry file."""
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
    """Return a path as messages name it: one in the workspace as seen from it, one in the home folder with `~`."""
    own = "" if home is None else os.path.abspath(home).rstrip("/")
    if root is None:
        return path
    for folder in (os.path.abspath(root), os.path.realpath(root)):
        if path == folder or path.startswith(folder.rstrip("/") + "/"):
            return os.path.relpath(path, folder)
    return f"~{path[len(own) :]}" if own and (path == own or path.startswith(f"{own}/")) else path


def is_there(root: Path, path: str) -> bool:
    """Tell whether a path is one beneath the workspace, and there; one that links lead out of it is not."""
    try:
        if not (stays_inside(path) and os.path.lexists(root / path)):
            return False
        return os.path.realpath(root / path).startswith(os.path.realpath(root).rstrip("/") + "/")
    except (OSError, ValueError):
        return False
