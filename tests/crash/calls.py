"""Between storage and the operating system: counts the calls that change files, and lets something happen before one.

While a `Calls` is in force, the modules of `memory.storage` see its proxies in the place of `os` and `fcntl`, and
`renameat2` goes through it too. Nothing in the storage knows of it.
"""

from __future__ import annotations

import errno
import importlib
import os
import pkgutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import Any

import memory.storage
from memory.storage import fsio

CHANGING = frozenset(
    {
        "mkdir",
        "makedirs",
        "rmdir",
        "unlink",
        "rename",
        "link",
        "write",
        "pwrite",
        "fchmod",
        "fchown",
        "setxattr",
        "utime",
        "fsync",
    }
)
LOOKING = frozenset({"open", "read", "pread", "lstat", "stat", "fstat", "listdir", "readlink", "scandir"})
_WRITING = os.O_CREAT | os.O_WRONLY | os.O_RDWR | os.O_TRUNC

Before = Callable[[int, str, tuple[Any, ...], dict[str, Any]], "tuple[Any, ...] | None"]
After = Callable[[str, tuple[Any, ...], dict[str, Any], Any], None]


class Calls:
    """Calls `before(number, name, arguments, keywords)` ahead of every call that changes a file, counting from 0.

    It may raise, or return other arguments for the call. With `looking`, calls that only look count as well. `after`
    gets the result of each.
    """

    def __init__(
        self,
        before: Before | None = None,
        *,
        after: After | None = None,
        looking: bool = False,
    ) -> None:
        """Keep what is to happen."""
        self.before = before
        self.after = after
        self.looking = looking
        self.count = 0
        self.names: list[str] = []
        self._quiet = False

    def made(self, name: str, call: Callable[..., Any], *args: Any, **words: Any) -> Any:
        """Make one call, with what is to happen before and after it."""
        if self._quiet:
            return call(*args, **words)
        number, self.count = self.count, self.count + 1
        self.names.append(name)
        self._quiet = True  # What happens in between is not the storage's.
        try:
            if self.before is not None:
                args = self.before(number, name, args, words) or args
        finally:
            self._quiet = False
        result = call(*args, **words)
        if self.after is not None:
            self._quiet = True
            try:
                self.after(name, args, words, result)
            finally:
                self._quiet = False
        return result

    def wanted(self, name: str, args: tuple[Any, ...]) -> bool:
        """Whether a call counts."""
        if name == "open":
            return self.looking or bool(args[1] & _WRITING)
        return name in CHANGING or (self.looking and name in LOOKING)


class _Os:
    """Stands in for the module `os`."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in CHANGING and name not in LOOKING:
            return real
        calls = self._calls

        def call(*args: Any, **words: Any) -> Any:
            return calls.made(name, real, *args, **words) if calls.wanted(name, args) else real(*args, **words)

        return call


@contextmanager
def without_exchange() -> Iterator[None]:
    """Be on a file system that can neither exchange two files nor move one without covering another."""
    real = fsio._renameat2

    def none(*_: Any) -> None:
        raise OSError(errno.EINVAL, "no such call")

    fsio._renameat2 = none
    try:
        yield
    finally:
        fsio._renameat2 = real


@cache
def _storage() -> list[ModuleType]:
    """Return all modules of the storage; looked for once, as a part puts its proxies into them for each point."""
    found = pkgutil.walk_packages(memory.storage.__path__, "memory.storage.")
    return [importlib.import_module(module.name) for module in found]


@contextmanager
def in_force(calls: Calls) -> Iterator[Calls]:
    """Let the storage's calls go through `calls`."""
    real = fsio._renameat2

    def renameat2(*args: Any) -> None:
        calls.made("renameat2", real, *args)

    proxies = {"os": (os, _Os(calls))}
    touched = [
        (module, name)
        for module in _storage()
        for name, (stands, _) in proxies.items()
        if getattr(module, name, None) is stands
    ]
    for module, name in touched:
        setattr(module, name, proxies[name][1])
    fsio._renameat2 = renameat2
    try:
        yield calls
    finally:
        fsio._renameat2 = real
        for module, name in touched:
            setattr(module, name, proxies[name][0])
