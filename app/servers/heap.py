"""The memory of a process that stays: garbage is collected, and what is free goes back to the system."""

from __future__ import annotations

import gc
from contextlib import suppress


def collect_garbage() -> None:
    """Collect garbage from here on, which verbs that live for a moment do without; what was loaded so far stays."""
    gc.collect()
    gc.freeze()
    gc.enable()


def share_heap() -> None:
    """Let all threads that begin from here on take memory from one place, where each fills what another one left.

    Only one of them runs at a time in Python anyway, and of many places each would keep gaps of its own for good.
    """
    _tell_library("mallopt", _ARENA_MAX, 1)


def give_back() -> None:
    """Return to the system what nothing holds any more; the C library alone would keep most of it."""
    gc.collect()
    _tell_library("malloc_trim", 0)


_ARENA_MAX = -8
"""`M_ARENA_MAX` of glibc's malloc.h."""


def _tell_library(function: str, *numbers: int) -> None:
    import ctypes

    with suppress(OSError, AttributeError, TypeError):  # only glibc can
        ctypes.CDLL(None)[function](*numbers)
