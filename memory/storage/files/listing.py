"""What lies in a folder of the workspace, told without following a link that leads out of it."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


class Unlisted:
    """Why the names in a folder are not told: the code of the problem, and what the folder is.

    It is no tuple: names that are told are one.
    """

    __slots__ = ("code", "what")

    def __init__(self, code: str, what: str) -> None:
        """Keep both."""
        self.code, self.what = code, what

    def __eq__(self, other: object) -> bool:
        """Tell whether both say the same."""
        return isinstance(other, Unlisted) and (self.code, self.what) == (other.code, other.what)

    def __hash__(self) -> int:
        """Return a hash of both."""
        return hash((self.code, self.what))


def names_in(folder: Path, root: Path) -> tuple[str, ...] | Unlisted:
    """Return what lies in a folder, sorted, or why that is not told; nothing where the folder is missing.

    A link that leads out of the workspace is not followed, nor is what it leads to opened: a clone must not show what
    lies elsewhere.
    """
    try:
        if not stat.S_ISDIR(os.stat(folder).st_mode):
            return Unlisted("file.not_folder", "not a folder")
        if os.path.realpath(folder).startswith(os.path.realpath(root).rstrip("/") + "/"):
            return tuple(sorted(os.listdir(folder)))
        return Unlisted("file.link_outside", "a link that leads out of the workspace")
    except FileNotFoundError:
        return Unlisted("file.link_dangling", "a link to nothing") if os.path.islink(folder) else ()
    except NotADirectoryError:
        return Unlisted("file.not_folder", "not a folder")
    except OSError as error:
        code = "file.link_loop" if error.errno == errno.ELOOP else "file.unreadable"
        return Unlisted(code, f"not to be listed ({os.strerror(error.errno or 0)})")
