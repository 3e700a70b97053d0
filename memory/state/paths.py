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


def is_there(root: Path, path: str) -> bool:
    """Tell whether a path is one beneath the workspace, and there; one that links lead out of it is not."""
    try:
        if not (stays_inside(path) and os.path.lexists(root / path)):
            return False
        return os.path.realpath(root / path).startswith(os.path.realpath(root).rstrip("/") + "/")
    except (OSError, ValueError):
        return False
