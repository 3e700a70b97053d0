"""The only module that makes file-changing system calls; a test greps that nothing else does.

Everything here works on names in an open folder (`dir_fd`), so that no link in a path can lead a write
astray, and raises plain OSError unless said otherwise: the callers know the path that a person understands.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat as st
from contextlib import suppress

from memory.errors import RefusedError

from . import faults
from .beneath import read, version_of

__all__ = [
    "KEPT",
    "copy_attributes",
    "empty_folder",
    "link",
    "make_folder",
    "open_folder",
    "open_lock",
    "open_target",
    "overwrite",
    "private_folder",
    "put_private",
    "read",
    "remove",
    "remove_folders",
    "rename",
    "scratch_file",
    "stage",
    "sync",
    "temporary_folder",
    "version_of",
]

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_TARGET = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_FULL_SYNC: int | None = getattr(fcntl, "F_FULLFSYNC", None)


KEPT = ".kept"
"""The ending of a displaced file that a failed change could not put back."""


# Folders


def open_folder(parts: list[str], beneath: str | os.PathLike[str], made: list[str] | None = None) -> int:
    """Open a folder beneath the workspace without following any link; the caller closes the descriptor.

    Missing folders are made (and synced into their parent) where `made` is given, which collects their paths.
    RefusedError `file.link`, `file.not_folder`, `file.read_only`; FileNotFoundError where one is missing.
    """
    path = "/".join(parts)
    try:
        fd = os.open(beneath, _FOLDER & ~os.O_NOFOLLOW)
        for depth, name in enumerate(parts, 1):
            parent = fd
            try:
                fd = _enter(name, parent, None if made is None else "/".join(parts[:depth]), made)
            finally:
                os.close(parent)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise faults.writing(error, path or os.fspath(beneath)) from error
    return fd


def _enter(name: str, parent: int, path: str | None, made: list[str] | None) -> int:
    """Open one folder in another, make it first where `made` is given."""
    try:
        return os.open(name, _FOLDER, dir_fd=parent)
    except FileNotFoundError:
        if made is None or path is None:
            raise
        # Another process may make it first; whoever did, it is opened in the same careful way.
        with suppress(FileExistsError):
            os.mkdir(name, 0o777, dir_fd=parent)
            made.append(path)
            sync(parent)
        return os.open(name, _FOLDER, dir_fd=parent)
    except NotADirectoryError:
        if st.S_ISLNK(os.lstat(name, dir_fd=parent).st_mode):
            raise OSError(errno.ELOOP, "is a link") from None
        raise


def private_folder(name: str, parent: int, path: str) -> int:
    """Open a folder that only its owner enters (0700), make it if it is missing; the caller closes it.

    RefusedError `file.link`, `file.not_folder`, `file.foreign_owner`, `file.read_only`.
    """
    try:
        with suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=parent)
            sync(parent)
        fd = _enter(name, parent, None, None)
        try:
            found = os.fstat(fd)
            if found.st_uid != os.geteuid():
                raise foreign(path)
            if st.S_IMODE(found.st_mode) != 0o700:
                os.fchmod(fd, 0o700)
        except BaseException:
            os.close(fd)
            raise
    except OSError as error:
        raise faults.writing(error, path) from error
    return fd


def empty_folder(folder: int) -> int:
    """Unlink what a crash left in a folder of memdeck's own and return how many files that were.

    Folders in it are left alone, and so are files that end in `KEPT`.
    """
    count = 0
    for name in os.listdir(folder):
        if name.endswith(KEPT):
            continue
        with suppress(IsADirectoryError, PermissionError):
            os.unlink(name, dir_fd=folder)
            count += 1
    return count


def remove_folders(paths: list[str], beneath: str | os.PathLike[str]) -> None:
    """Remove folders that were just made and are still empty, the innermost first."""
    for path in reversed(paths):
        with suppress(OSError):
            os.rmdir(f"{os.fspath(beneath)}/{path}")


def make_folder(path: str | os.PathLike[str]) -> None:
    """Make a folder that the user named, and its parents; nothing happens where it is there already."""
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise faults.writing(error, os.fspath(path)) from error


def temporary_folder(prefix: str = "memdeck-") -> str:
    """Make a new private folder among the machine's temporary files and return its path."""
    import tempfile

    try:
        return tempfile.mkdtemp(prefix=prefix)
    except OSError as error:
        raise faults.writing(error, "the folder of temporary files") from error


# Files


def open_target(name: str, folder: int, path: str) -> tuple[int, os.stat_result] | None:
    """Open a file that is about to be replaced, None where there is none; the caller closes the descriptor.

    RefusedError with the reason why it must not be written: `file.link`, `file.not_regular`,
    `file.hard_link`, `file.foreign_owner`, `file.read_only`, `file.unreadable`.
    """
    try:
        found = os.lstat(name, dir_fd=folder)
    except FileNotFoundError:
        return None
    _allow(found, path)
    try:
        fd = os.open(name, _TARGET, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK):
            raise faults.writing(error, path) from error
        raise faults.reading(error, path) from error
    try:
        opened = os.fstat(fd)
        _allow(opened, path)
    except BaseException:
        os.close(fd)
        raise
    return fd, opened


def _allow(found: os.stat_result, path: str) -> None:
    """Raise RefusedError with the reason unless a file is one that memdeck may replace."""
    if st.S_ISLNK(found.st_mode):
        raise RefusedError("file.link", f"{path} is a symbolic link", "edit the file it leads to", file=path)
    if not st.S_ISREG(found.st_mode):
        raise faults.not_regular(path, found.st_mode)
    if found.st_nlink > 1:
        raise RefusedError(
            "file.hard_link",
            f"{path} has {found.st_nlink} names (hard links)",
            "replace it with a copy of its own",
            file=path,
            links=found.st_nlink,
        )
    if found.st_uid != os.geteuid():
        raise foreign(path)
    if not found.st_mode & st.S_IWUSR:
        raise RefusedError("file.read_only", f"{path} is read-only", f"chmod u+w {path}", file=path)


def foreign(path: str) -> RefusedError:
    """Return the error for a file or folder of another user."""
    return RefusedError(
        "file.foreign_owner",
        f"{path} belongs to another user",
        "change its owner, or run as that user",
        file=path,
    )


def stage(name: str, folder: int, data: bytes, like: os.stat_result | None) -> int:
    """Write a new file with the mode and group of `like` (0644 under the umask without), and sync it.

    Returns the open descriptor. A file that could not be finished is removed again.
    """
    fd = os.open(name, _NEW, 0o644 if like is None else 0o600, dir_fd=folder)
    try:
        _write(fd, data)
        if like is not None:
            if os.fstat(fd).st_gid != like.st_gid:
                os.fchown(fd, -1, like.st_gid)
            os.fchmod(fd, st.S_IMODE(like.st_mode))
        sync(fd)
    except BaseException:
        os.close(fd)
        with suppress(OSError):
            os.unlink(name, dir_fd=folder)
        raise
    return fd


def copy_attributes(source: int, target: int) -> None:
    """Carry extended attributes and access lists over to the file that takes another's place, where it is
    allowed.
    """
    if not hasattr(os, "listxattr"):
        return
    with suppress(OSError):
        for name in os.listxattr(source):
            with suppress(OSError):
                os.setxattr(target, name, os.getxattr(source, name))


def rename(name: str, folder: int, new_name: str, new_folder: int) -> None:
    """Move a file over whatever has the new name, in one step."""
    os.rename(name, new_name, src_dir_fd=folder, dst_dir_fd=new_folder)


def link(name: str, folder: int, new_name: str, new_folder: int) -> None:
    """Give a file a second name; FileExistsError where that name is taken."""
    os.link(name, new_name, src_dir_fd=folder, dst_dir_fd=new_folder, follow_symlinks=False)


def remove(name: str, folder: int) -> None:
    """Unlink a name; one that is gone already is fine."""
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)


def sync(fd: int) -> None:
    """Wait until a file or folder is on the disk itself."""
    if _FULL_SYNC is not None:
        fcntl.fcntl(fd, _FULL_SYNC)
    else:
        os.fsync(fd)


def open_lock(name: str, folder: int, path: str) -> int:
    """Open the permanent lock file, make it if it is missing; the caller closes the descriptor.

    RefusedError where a link or something else stands under its name: what it leads to would be written to.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    try:
        fd = os.open(name, flags, 0o600, dir_fd=folder)
    except OSError as error:
        raise faults.writing(error, path) from error
    try:
        _allow(os.fstat(fd), path)
    except BaseException:
        os.close(fd)
        raise
    return fd


def overwrite(fd: int, data: bytes) -> None:
    """Write over the start of an open file, without making it shorter."""
    os.pwrite(fd, data, 0)


def put_private(name: str, folder: int, data: bytes, *, durable: bool = True) -> None:
    """Replace a small private file (0600) in one step; without `durable` a power cut may bring the old one
    back.
    """
    temporary = f".{name}.{os.getpid()}"
    remove(temporary, folder)
    fd = os.open(temporary, _NEW, 0o600, dir_fd=folder)
    try:
        try:
            _write(fd, data)
            if durable:
                sync(fd)
        finally:
            os.close(fd)
        rename(temporary, folder, name, folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise
    if durable:
        sync(folder)


def scratch_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a new private file (0600) under a path that the caller chose; FileExistsError if it is taken."""
    fd = os.open(path, _NEW, 0o600)
    try:
        _write(fd, data)
    finally:
        os.close(fd)


def _write(fd: int, data: bytes) -> None:
    """Write all of it; a disk that fills up raises rather than leaving a part."""
    written = os.write(fd, data) if data else 0
    if written < len(data):
        rest = memoryview(data)
        while written < len(data):
            written += os.write(fd, rest[written:])
