"""From what the operating system says to an error that a person can act on."""

from __future__ import annotations

import errno
import os
import stat as st

from memory.errors import MemdeckError, RefusedError

_REFUSALS = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_LINKS = frozenset({errno.ELOOP, errno.EMLINK})


def reading(error: OSError, path: str) -> MemdeckError:
    """Return the error for a failed read of `path` (relative to the workspace)."""
    if error.errno in _REFUSALS:
        return RefusedError(
            "file.unreadable", f"{path} cannot be read ({_name(error)})", "check its permissions", file=path
        )
    if error.errno == errno.ENOTDIR:
        return RefusedError("file.not_folder", f"a part of {path} is a file, not a folder", file=path)
    if error.errno in _LINKS:
        return RefusedError(
            "file.link_loop",
            f"{path} is a link to itself, or one of too many links ({_name(error)})",
            "replace it with the file",
            file=path,
        )
    return _io(error, path, "read")


def writing(error: OSError, path: str) -> MemdeckError:
    """Return the error for a failed change of `path` (relative to the workspace)."""
    if error.errno in _REFUSALS:
        return RefusedError(
            "file.read_only",
            f"{path} cannot be written ({_name(error)})",
            "check the permissions of the file and its folder",
            file=path,
            errno=_name(error),
        )
    if error.errno in _LINKS:
        return RefusedError("file.link", f"{path} is or lies behind a symbolic link", "edit its target", file=path)
    if error.errno == errno.ENOTDIR:
        return RefusedError("file.not_folder", f"a part of {path} is not a folder", file=path)
    if error.errno == errno.EXDEV:
        return RefusedError(
            "file.other_device",
            f"{path} lies on another file system than memdeck's own folder ({_name(error)})",
            "mount the system's folder as a whole: files are replaced in one step, which two file systems cannot do",
            file=path,
            errno=_name(error),
        )
    return _io(error, path, "write")


def outside(path: str) -> RefusedError:
    """Return the error for a link that leads out of the workspace."""
    return RefusedError(
        "file.link_outside",
        f"{path} is a link that leads out of the workspace",
        "replace it with a copy, or open the workspace it leads to",
        file=path,
    )


def not_regular(path: str, mode: int) -> RefusedError:
    """Return the error for what is no regular file, naming what it is instead."""
    kind = kind_of(mode)
    return RefusedError("file.not_regular", f"{path} is {kind}, not a regular file", file=path, kind=kind)


def too_large(path: str, size: int, most: int) -> RefusedError:
    """Return the error for a file that would fill the memory."""
    return RefusedError(
        "file.too_large",
        f"{path} has {size:,} bytes, {most:,} at most are read",
        "move what is old into files of archive/, or empty it",
        file=path,
        size=size,
    )


def made_anew(error: MemdeckError) -> MemdeckError:
    """Return a refusal of one of memdeck's own files or folders with what helps there: nothing is lost with it."""
    return type(error)(error.code, error.message, "remove what stands there: memdeck makes it anew", **error.details)


def kind_of(mode: int) -> str:
    """Name what a stat mode stands for, with its article."""
    names = {
        st.S_IFDIR: "a folder",
        st.S_IFIFO: "a FIFO",
        st.S_IFSOCK: "a socket",
        st.S_IFLNK: "a symbolic link",
        st.S_IFCHR: "a device",
        st.S_IFBLK: "a device",
        st.S_IFREG: "a regular file",
    }
    return names.get(st.S_IFMT(mode), "something else")


def no_room(error: MemdeckError) -> bool:
    """Tell whether an error says that a disk is full, or only to be read: what is written elsewhere may still be."""
    return error.details.get("errno") in ("ENOSPC", "EDQUOT", "EROFS")


def in_words(error: BaseException) -> str:
    """Return any error as one sentence for people."""
    text = str(error)
    return text if isinstance(error, MemdeckError) else type(error).__name__ + (f": {text}" if text else "")


def _name(error: OSError) -> str:
    return errno.errorcode.get(error.errno or 0, "unknown error")


def _io(error: OSError, path: str, verb: str) -> MemdeckError:
    text = os.strerror(error.errno) if error.errno else str(error)
    return MemdeckError("file.io", f"cannot {verb} {path}: {text} ({_name(error)})", file=path, errno=_name(error))
