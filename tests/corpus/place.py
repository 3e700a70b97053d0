"""The ground on which a case is played: the sample workspace, its private state, and what lies outside of both."""

from __future__ import annotations

import ctypes
import hashlib
import os
import stat as st
from collections.abc import Callable
from pathlib import Path

from tests.fixture_files import sample, sample_names

ORDINARY = 4242
"""The user that cases run as which root would not be stopped in."""
_NEWUSER, _NEWNS = 0x10000000, 0x00020000
_RDONLY, _REMOUNT, _REC, _PRIVATE = 1, 32, 16384, 1 << 18
_LARGE = 1 << 20
_HUGE = 1 << 30
_PATH = 4000


class Impossible(Exception):
    """This machine cannot build the situation; the text says what is missing."""


class Place:
    """A workspace with the sample files in `shop`, state beside it in `state`, and `outside`, which nobody may touch.

    `whole` says that generated files have their full size. `run` starts a verb as its own process. What is appended
    to `closers` is called at the end.
    """

    def __init__(self, top: Path, *, whole: bool, run: Callable[..., object]) -> None:
        """Keep where things will be; `build` makes them."""
        self.top = top
        self.whole = whole
        self.run = run
        self.shop = top / "shop"
        self.aiter = self.shop / ".aiter"
        self.memory = self.aiter / "memory"
        self.own = self.aiter / ".memdeck"
        self.state = top / "state"
        self.outside = top / "outside"
        self.folder = self.shop  # the current folder of the verbs
        self.deep = -1  # where it is deeper than a path can say: an open descriptor of it
        self.closers: list[Callable[[], object]] = []

    def build(self) -> None:
        """Write the sample files, and a secret outside that no link may show or change."""
        self.memory.mkdir(parents=True)
        for name in sample_names():
            (self.memory / name).write_bytes(sample(name))
        self.outside.mkdir()
        (self.outside / "secret.md").write_bytes(b"## Pending\n### [HIGH] the secret of another folder\n")
        (self.outside / "folder").mkdir()
        (self.outside / "folder" / "tasks.md").write_bytes(b"## Pending\n### [HIGH] another secret\n")

    @property
    def record(self) -> Path:
        """The private state folder of the workspace."""
        real = os.fsencode(os.path.realpath(self.shop))
        return self.state / "memdeck" / hashlib.sha256(real).hexdigest()[:32]

    def scale(self, full: int, small: int) -> int:
        """Return a size: the full one in the long run, the small one in the sample of every test run."""
        return full if self.whole else small

    def file(self, name: str = "tasks.md") -> Path:
        """Return a memory file's path after taking the file away."""
        path = self.memory / name
        path.unlink(missing_ok=True)
        return path

    def put(self, name: str, data: bytes) -> Path:
        """Write a file beneath the memory folder, whatever stands there."""
        path = self.memory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def replace(self, name: str, old: bytes, new: bytes) -> None:
        """Change bytes of a sample file; they must be there."""
        data = sample(name)
        assert old in data
        self.put(name, data.replace(old, new, 1))

    # -- mounts: only inside a case that has its own mount namespace -------------------------------------------------

    def tmpfs(self, path: Path, options: str) -> None:
        """Mount an empty file system in memory over a folder."""
        path.mkdir(parents=True, exist_ok=True)
        _mount("tmpfs", path, "tmpfs", 0, options)

    def read_only(self, path: Path) -> None:
        """Make a mounted file system read-only."""
        _mount("tmpfs", path, "tmpfs", _RDONLY | _REMOUNT, "")


def own_mounts() -> None:
    """Give this process a mount namespace of its own, with the help of a user namespace where it is not root."""
    libc = ctypes.CDLL(None, use_errno=True)
    uid, gid = os.geteuid(), os.getegid()
    if libc.unshare(_NEWNS | (0 if uid == 0 else _NEWUSER)):
        raise Impossible(f"no mount namespace here ({os.strerror(ctypes.get_errno())})")
    if uid:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"0 {uid} 1")
        Path("/proc/self/gid_map").write_text(f"0 {gid} 1")
    _mount("none", Path("/"), "", _REC | _PRIVATE, "")


def _mount(source: str, target: Path, kind: str, flags: int, options: str) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(source.encode(), os.fsencode(target), kind.encode(), flags, options.encode()):
        raise Impossible(f"mounting is not allowed here ({os.strerror(ctypes.get_errno())})")


def become_ordinary(top: Path) -> None:
    """Leave root behind where this process has it: permissions mean nothing to root."""
    if os.geteuid():
        return
    os.chown(top, ORDINARY, ORDINARY)
    os.setgroups([])
    os.setresgid(ORDINARY, ORDINARY, ORDINARY)
    os.setresuid(ORDINARY, ORDINARY, ORDINARY)


def need_root() -> None:
    """Raise Impossible unless this process can give files to others and make devices."""
    if os.geteuid():
        raise Impossible("needs root")


def digest(place: Place, *, own: bool = False) -> dict[str, tuple[object, ...]]:
    """Return what lies in the workspace and outside, by path: kind, mode, and bytes or a hash of them.

    memdeck's own folder is left out unless asked for; nothing but regular files is opened.
    """
    found: dict[str, tuple[object, ...]] = {}
    for root in (place.shop, place.outside):
        _collect(root, str(place.top), found, None if own else str(place.own))
    return found


def _collect(path: Path, top: str, found: dict[str, tuple[object, ...]], skip: str | None) -> None:
    if str(path) == skip:
        return
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return
    name, kind, mode = os.path.relpath(path, top), st.S_IFMT(status.st_mode), st.S_IMODE(status.st_mode)
    if st.S_ISDIR(status.st_mode):
        found[name] = (kind, mode)
        try:
            names = sorted(os.listdir(path))
        except PermissionError:
            return
        for inner in names:
            if len(str(path)) + len(inner) < _PATH:
                _collect(path / inner, top, found, skip)
    elif st.S_ISLNK(status.st_mode):
        found[name] = (kind, os.readlink(path))
    elif st.S_ISREG(status.st_mode):
        try:
            data = path.read_bytes() if status.st_size < _HUGE else b"huge"
        except PermissionError:
            data = None
        if data is None or data == b"huge":
            found[name] = (kind, mode, status.st_size, status.st_ino, status.st_mtime_ns)
            return
        found[name] = (kind, mode, hashlib.blake2b(data).digest() if len(data) > _LARGE else data)
    else:
        found[name] = (kind, mode, status.st_rdev)
