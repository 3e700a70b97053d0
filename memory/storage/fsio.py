"""The only module that makes file-changing system calls; a test greps that nothing else does.

Everything here works on names in an open folder (`dir_fd`), so that no link in a path can redirect a write, and raises
plain OSError unless said otherwise: the callers know the path to show to the user.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import stat as st
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

from memory.errors import RefusedError, made_anew, not_regular, read_failed, write_failed, writing

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_FULL_SYNC: int | None = getattr(fcntl, "F_FULLFSYNC", None)


_UNSUPPORTED = frozenset({errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.ENOTSUP})  # It has no such call.
_NO_LINKS = frozenset({*_UNSUPPORTED, errno.EPERM, errno.EMLINK})  # The file system has no hard links.
_TEMPORARY = ".tmp"
_NO_REPLACE, _EXCHANGE = 1, 2  # The flags of renameat2.
_NO_FILE = frozenset({errno.ENXIO, errno.EOPNOTSUPP, errno.EISDIR})  # It is a socket or a folder.
_NO_LINK = frozenset({errno.ELOOP, errno.EMLINK})  # A link that is not followed.
_MAKING = Lock()


@contextmanager
def closing(fd: int) -> Iterator[int]:
    """Yield a descriptor for a block, and close it afterwards."""
    try:
        yield fd
    finally:
        os.close(fd)


@contextmanager
def closed_on_error(fd: int) -> Iterator[None]:
    """Close a descriptor if the block fails."""
    try:
        yield
    except BaseException:
        os.close(fd)
        raise


# Folders


def open_folder(parts: list[str], beneath: str | os.PathLike[str], made: list[str] | None = None) -> int:
    """Open a folder inside the workspace without following any link; the caller closes the descriptor.

    With `made`, missing folders are made (and synced into their parent) and their paths added to it. RefusedError
    `file.link`, `file.not_folder`, `file.read_only`; FileNotFoundError where one is missing.
    """
    path = "/".join(parts)
    try:
        fd = os.open(beneath, _FOLDER & ~os.O_NOFOLLOW)
        for depth, name in enumerate(parts, 1):
            with closing(fd) as parent:
                fd = _enter(name, parent, "/".join(parts[:depth]), made)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise write_failed(error, path or os.fspath(beneath)) from error
    return fd


def _enter(name: str, parent: int, path: str = "", made: list[str] | None = None) -> int:
    """Open one folder in another; with `made`, make it if it is missing."""
    try:
        return os.open(name, _FOLDER, dir_fd=parent)
    except FileNotFoundError:
        if made is None:
            raise
        # Another process may make it first; in either case it is opened in the same careful way.
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
    """Open a folder that only its owner may enter (0700), make it if it is missing; the caller closes it.

    RefusedError `file.link`, `file.not_folder`, `file.foreign_owner`, `file.read_only`.
    """
    with writing(path):
        with suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=parent)
            sync(parent)
        try:
            fd = _enter(name, parent)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR):
                raise made_anew(write_failed(error, path)) from error
            raise
        with closed_on_error(fd):
            found = os.fstat(fd)
            if found.st_uid != os.geteuid():
                raise foreign(path)
            if st.S_IMODE(found.st_mode) != 0o700:
                os.fchmod(fd, 0o700)
    return fd


def remove_folders(paths: Iterable[str | os.PathLike[str]], beneath: str | os.PathLike[str] = "/") -> None:
    """Remove those of some folders that are empty, the innermost first, and sync their parents; the others stay."""
    parents = []
    for path in sorted([os.path.join(beneath, one) for one in paths], key=len, reverse=True):
        with suppress(OSError):
            os.rmdir(path)
            parents.append(os.path.dirname(path))
    for parent in dict.fromkeys(parents):
        # A parent may have been removed too, and an empty folder that reappears would do no harm.
        with suppress(OSError), closing(os.open(parent, _FOLDER)) as fd:
            sync(fd)


def make_folder(path: str | os.PathLike[str]) -> None:
    """Make a folder that the user named, and its parents; nothing happens where it exists already."""
    shown = os.fspath(path)
    with writing(path):
        try:
            os.makedirs(path, exist_ok=True)
        except FileExistsError as error:
            words = f"{shown} is not a folder"
            raise RefusedError("file.not_folder", words, "move the file away", file=shown) from error


def own_folder(home: Path) -> int:
    """Open memdeck's own folder in a state home, make both if they are missing; the caller closes the descriptor."""
    make_folder(home)
    with closing(os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)) as top:
        return private_folder("memdeck", top, str(home / "memdeck"))


# Files


def open_target(name: str, folder: int, path: str) -> tuple[int, os.stat_result] | None:
    """Open a file that is about to be replaced; None where there is none. The caller closes the descriptor.

    RefusedError with the reason why it must not be written: `file.link`, `file.not_regular`,
    `file.hard_link`, `file.foreign_owner`, `file.read_only`, `file.unreadable`.
    """
    try:
        found = os.lstat(name, dir_fd=folder)
    except FileNotFoundError:
        return None
    allow(found, path)
    try:
        fd = os.open(name, _FILE, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise (write_failed if error.errno in _NO_LINK else read_failed)(error, path) from error
    with closed_on_error(fd):
        opened = os.fstat(fd)
        # Without a name, it was replaced between the two calls, which the comparison of versions will detect.
        if opened.st_nlink:
            allow(opened, path)
    return fd, opened


def allow(found: os.stat_result, path: str) -> None:
    """Raise RefusedError with the reason unless a file is one that memdeck may replace."""
    if st.S_ISLNK(found.st_mode):
        raise RefusedError("file.link", f"{path} is a symbolic link", "edit the file it leads to", file=path)
    if not st.S_ISREG(found.st_mode):
        raise not_regular(path, found.st_mode)
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


def write_new(
    name: str,
    folder: int | None,
    data: bytes,
    *,
    like: os.stat_result | None = None,
    mode: int | None = None,
    durable: bool = True,
) -> int:
    """Write a new file with the mode and group of `like` (without it: `mode`, or 0644 under the umask), and sync it.

    Returns the open descriptor. `folder` is open; None: `name` is a path. FileExistsError where the name is taken. A
    file that could not be finished is removed again; without `durable` a power cut may empty it.
    """
    fd = os.open(name, _NEW, 0o644 if like is None and mode is None else 0o600, dir_fd=folder)
    try:
        with closed_on_error(fd):
            _write(fd, data)
            if like is not None:
                mode = st.S_IMODE(like.st_mode)
                if os.fstat(fd).st_gid != like.st_gid:
                    os.fchown(fd, -1, like.st_gid)
            if mode is not None:
                os.fchmod(fd, mode)
            if durable:
                sync(fd)
    except BaseException:
        with suppress(OSError):
            os.unlink(name, dir_fd=folder)
        raise
    return fd


def copy_attributes(source: int, target: int) -> None:
    """Copy extended attributes and access lists to the file that replaces another, where that is allowed."""
    if not hasattr(os, "listxattr"):
        return
    with suppress(OSError):
        for name in os.listxattr(source):
            with suppress(OSError):
                os.setxattr(target, name, os.getxattr(source, name))


def keep_time(source: os.stat_result, target: int) -> None:
    """Give an open file the modification time of another, durably: the file was moved, not changed."""
    os.utime(target, ns=(source.st_atime_ns, source.st_mtime_ns))
    sync(target)


def set_time(path: str | os.PathLike[str], when: datetime) -> None:
    """Set the modification time of a sample file; a link is not followed."""
    moment = int(when.timestamp() * 1e9)
    os.utime(path, ns=(moment, moment), follow_symlinks=False)


def rename(name: str, folder: int, new_name: str, new_folder: int) -> None:
    """Move a file in one step, replacing any file with the new name."""
    os.rename(name, new_name, src_dir_fd=folder, dst_dir_fd=new_folder)


def exchanged(name: str, folder: int, other: str, other_folder: int) -> bool:
    """Swap two files in one step, so that neither name is ever missing; False where the file system cannot."""
    return _in_one_step(name, folder, other, other_folder, _EXCHANGE)


def move(name: str, folder: int, new_name: str, new_folder: int) -> None:
    """Move a file to a free name; FileExistsError where it is taken and the file system can tell."""
    if not _in_one_step(name, folder, new_name, new_folder, _NO_REPLACE):
        rename(name, folder, new_name, new_folder)


def add_name(name: str, folder: int, new_name: str, new_folder: int) -> None:
    """Give a file a second name, or move it where files have only one; FileExistsError where the name is taken.

    Until the folders are synced, a power cut may remove one of the names.
    """
    try:
        os.link(name, new_name, src_dir_fd=folder, dst_dir_fd=new_folder, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        move(name, folder, new_name, new_folder)


def _in_one_step(name: str, folder: int, other: str, other_folder: int, flags: int) -> bool:
    try:
        _renameat2(folder, name, other_folder, other, flags)
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
        return False
    return True


def _renameat2(folder: int, name: str, other_folder: int, other: str, flags: int) -> None:
    """Call renameat2, which Python does not offer; OSError as for any other system call."""
    call = _system_call()
    if call is None:
        raise OSError(errno.ENOSYS, "this system has no renameat2")
    if call(folder, os.fsencode(name), other_folder, os.fsencode(other), flags):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), name, None, other)


@cache
def _system_call() -> Any:
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is not None:
        call.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    return call


def remove(name: str, folder: int) -> None:
    """Unlink a name; one that is gone already is fine."""
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)


def sync(fd: int) -> None:
    """Flush a file or folder to the disk itself."""
    if _FULL_SYNC is not None:
        fcntl.fcntl(fd, _FULL_SYNC)
    else:
        os.fsync(fd)


def open_lock(name: str, folder: int, path: str) -> int:
    """Open the permanent lock file, make it if it is missing; the caller closes the descriptor.

    RefusedError where its name is a link or no regular file: the link's target would be written to.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    try:
        fd = os.open(name, flags, 0o600, dir_fd=folder)
    except OSError as error:
        if error.errno in _NO_FILE:
            refusal = not_regular(path, os.lstat(name, dir_fd=folder).st_mode)
            raise made_anew(refusal) from error
        refused = write_failed(error, path)
        raise (refused if error.errno not in _NO_LINK else made_anew(refused)) from error
    with closed_on_error(fd):
        try:
            allow(os.fstat(fd), path)
        except RefusedError as error:
            raise made_anew(error) from error
    return fd


def make_database(name: str, folder: int, path: str) -> None:
    """Make an empty file (0600) for a database where there is none; RefusedError where the name is something else.

    An existing one is never opened: closing it would drop every lock that this process has on it. Connections of the
    same process would go on without their locks, and another process could destroy their commits.
    """
    with _MAKING:  # Another thread must not find and lock a file that this thread has just made and is about to close.
        try:
            found = os.lstat(name, dir_fd=folder)
        except OSError:
            found = None
        if found is None or not st.S_ISREG(found.st_mode):
            os.close(open_lock(name, folder, path))
            return
    try:
        allow(found, path)
    except RefusedError as error:
        raise made_anew(error) from error


def overwrite(fd: int, data: bytes) -> None:
    """Overwrite the start of an open file without truncating it."""
    os.pwrite(fd, data, 0)


def open_append(name: str, folder: int) -> int:
    """Open an existing file to add to its end; the caller has checked it, and closes the descriptor."""
    return os.open(name, os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, dir_fd=folder)


def append(fd: int, data: bytes) -> None:
    """Add bytes to the end of a file in one write, and sync it; a part written before an error is cut off.

    Nothing is cut off where another program has added bytes after it.
    """
    start = os.fstat(fd).st_size
    done = 0
    try:
        while done < len(data):
            done += os.write(fd, memoryview(data)[done:])
        sync(fd)
    except BaseException:
        with suppress(OSError):
            if done and os.fstat(fd).st_size == start + done:
                os.ftruncate(fd, start)
        raise


def put(
    name: str,
    folder: int,
    data: bytes,
    *,
    like: os.stat_result | None = None,
    mode: int = 0o600,
    durable: bool = True,
    owner: str = "",
) -> None:
    """Replace a small file in one step, under a lock; it gets the mode and group of `like`, without it `mode`.

    Without `durable` a power cut may bring the old one back. Where other locks clear the folder, `owner` makes the
    temporary name that of this lock.
    """
    temporary = temporary_name(name, owner)
    remove(temporary, folder)  # What a killed process left.
    os.close(write_new(temporary, folder, data, like=like, mode=mode, durable=durable))
    try:
        rename(temporary, folder, name, folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise
    if durable:
        sync(folder)


def temporary_name(name: str, owner: str = "") -> str:
    """Return the temporary name under which `put` writes a file."""
    return f".{name}{'.' + owner if owner else ''}{_TEMPORARY}"


def _write(fd: int, data: bytes) -> None:
    """Write all bytes; a full disk raises instead of leaving a part."""
    written = 0
    while written < len(data):
        written += os.write(fd, memoryview(data)[written:])
