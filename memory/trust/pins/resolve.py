"""Where a path of a workspace really leads: link by link, without reading anything outside the workspace.

What counts is the target of a link, and each link on the way is reported. The folders above the workspace are known by
name, so a link that leaves and comes back is followed; one that leads anywhere else is outside, whatever is there.
"""

from __future__ import annotations

import errno
import os
import stat as st
from dataclasses import dataclass
from typing import Literal

MOST_LINKS = 40
"""The maximum number of links followed, as in the kernel."""
_NOTHING = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.EINVAL, errno.ELOOP)
Kind = Literal["file", "folder", "nothing", "outside", "elsewhere", "running", "special"]


@dataclass(frozen=True, slots=True)
class Led:
    """Where a path leads.

    `path` is the real path in the workspace ("" for the workspace itself) of a `file` or `folder`, of a `special` file
    (a pipe, a device), and for `outside` where a link leads out. `elsewhere` is a path that names a place outside
    directly, without a link. `running` leads to `path` in the folder in which the command is at that moment. `links`
    are the links on the way with their targets, `node` is the device and inode of a file.
    """

    kind: Kind
    path: str
    links: tuple[tuple[str, str], ...]
    node: tuple[int, int] = (0, 0)


class Resolver:
    """Resolves paths of one workspace as the kernel would, as long as they stay in it or come back."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        """Determine the real path of the workspace."""
        self.root = os.path.realpath(root)
        self._above = _parts(self.root)
        # The name under which it was opened may contain a link outside the workspace.
        self._names = (self._above, _parts(os.path.abspath(root)))

    def resolve(self, path: str) -> Led:
        """Follow a path that is relative to the workspace; raises OSError if a part of it may not be read."""
        links: dict[str, str] = {}
        here: list[str] = []
        above = 0  # the number of folders above the workspace; `here` is empty then
        pending = _parts(path)[::-1]
        mode, node, met = st.S_IFDIR, (0, 0), 0
        while pending:
            name = pending.pop()
            if name == "..":
                if here:
                    here.pop()
                else:
                    above = min(above + 1, len(self._above))
                mode = st.S_IFDIR
                continue
            if above:
                if above == len(self._above) and name == "proc":
                    magic = _magic(pending)
                    if magic is not None:
                        return Led("running", magic, tuple(links.items()))
                if name != self._above[len(self._above) - above]:
                    rest = "/".join([*self._above[: len(self._above) - above], name, *reversed(pending)])
                    return Led("outside" if links else "elsewhere", f"/{rest}", tuple(links.items()))
                above -= 1
                mode = st.S_IFDIR
                continue
            place = "/".join((*here, name))
            try:
                status = os.lstat(f"{self.root}/{place}")
                target = os.readlink(f"{self.root}/{place}") if st.S_ISLNK(status.st_mode) else None
            except OSError as error:
                if error.errno in _NOTHING:
                    return Led("nothing", place, tuple(links.items()))
                raise
            if target is None:
                mode, node = status.st_mode, (status.st_dev, status.st_ino)
                if pending and not st.S_ISDIR(mode):
                    return Led("nothing", place, tuple(links.items()))
                here.append(name)
                continue
            links[place] = target
            met += 1
            if met > MOST_LINKS:
                return Led("nothing", place, tuple(links.items()))
            parts = _parts(target)
            if target.startswith("/"):
                known = next((one for one in self._names if parts[: len(one)] == one), None)
                here, above = [], 0 if known is not None else len(self._above)
                parts = parts if known is None else parts[len(known) :]
            pending.extend(reversed(parts))
            mode = st.S_IFDIR
        if above:
            rest = "/".join(self._above[: len(self._above) - above])
            return Led("outside" if links else "elsewhere", f"/{rest}", tuple(links.items()))
        kind: Kind = "folder" if st.S_ISDIR(mode) else "file" if st.S_ISREG(mode) else "special"
        return Led(kind, "/".join(here), tuple(links.items()), node)


def _magic(pending: list[str]) -> str | None:
    """Return the part of a /proc path below the current folder of the process that follows it, None for any other path.

    `pending` is the rest of the path, its first part last. memdeck itself would see its own current folder there.
    """
    if len(pending) > 1 and pending[-1] in ("self", "thread-self") and pending[-2] == "cwd":
        return "/".join(reversed(pending[:-2]))
    return None


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]
