"""Memory of a long-running process: garbage is collected, and free memory is returned to the system."""

from __future__ import annotations

import gc
from contextlib import suppress


def collect_garbage() -> None:
    """Start collecting garbage, which short-lived verbs do without; objects loaded so far are excluded."""
    gc.collect()
    gc.freeze()
    gc.enable()


def share_heap() -> None:
    """Make all threads that start from now on share one arena, so that each fills gaps that another left.

    Only one of them runs at a time in Python anyway; with many arenas, each would keep its own gaps for ever.
    """
    _tell_library("mallopt", _ARENA_MAX, 1)


def give_back() -> None:
    """Return free memory to the system; the C library alone would keep most of it."""
    gc.collect()
    _tell_library("malloc_trim", 0)


_ARENA_MAX = -8
"""`M_ARENA_MAX` of glibc's malloc.h."""


def _tell_library(function: str, *numbers: int) -> None:
    import ctypes

    with suppress(OSError, AttributeError, TypeError):  # only glibc can
        ctypes.CDLL(None)[function](*numbers)
