"""What a git repository says of itself in its files, read without git: nothing of a repository runs."""

from __future__ import annotations

import os

from memory.errors import MemdeckError
from memory.storage.files.safe_open import open_beneath

_MOST_BYTES = 4 << 20


def top_of(path: str) -> str | None:
    """Return the folder of the work tree that a path is in, None where it is in none."""
    folder = os.path.realpath(path)
    while True:
        if os.path.lexists(os.path.join(folder, ".git")):
            return folder
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


def git_folder(top: str) -> str | None:
    """Return the folder with the data of a work tree: `.git`, or where that file points to; None without one."""
    path = os.path.join(top, ".git")
    if os.path.isdir(path):
        return path if not os.path.islink(path) else None
    text = read_small(top, ".git") or ""
    if not text.startswith("gitdir:"):
        return None
    target = os.path.join(top, text.removeprefix("gitdir:").strip().split("\n", 1)[0])
    return os.path.realpath(target) if _is_git(target) else None


def _is_git(folder: str) -> bool:
    return os.path.isfile(os.path.join(folder, "HEAD"))


def common_of(folder: str) -> str:
    """Return the folder that all work trees of a repository share, by that of one of them."""
    text = (read_small(folder, "commondir") or "").strip()
    common = os.path.realpath(os.path.join(folder, text)) if text and "\0" not in text else folder
    return common if _is_git(common) else folder


def common_folder(top: str) -> str | None:
    """Return the folder that all work trees of the repository at `top` share, None without one."""
    folder = git_folder(top)
    return None if folder is None else os.path.realpath(common_of(folder))


def read_bytes(folder: str, name: str) -> bytes | None:
    """Return a file of git, None where there is none, where it is too large, or leads out of its folder."""
    try:
        with os.fdopen(open_beneath(name, folder), "rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except (OSError, ValueError, MemdeckError):
        return None
    return None if len(data) > _MOST_BYTES else data


def read_small(folder: str, name: str) -> str | None:
    """Return a file of git as text, under the conditions of `read_bytes`."""
    data = read_bytes(folder, name)
    return None if data is None else data.decode("utf-8", "replace")
