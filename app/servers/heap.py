"""Memory of a long-running process: garbage is collected, and free memory is returned to the system."""

from __future__ import annotations

import gc
from contextlib import suppress


def collect_garbage() -> None:
    """Collect garbage, and exclude what is left from later collections."""
    gc.collect()
    gc.freeze()


def give_back() -> None:
    """Return free memory to the system; the C library alone would keep most of it."""
    gc.collect()
    _tell_library("malloc_trim", 0)


def _tell_library(function: str, *numbers: int) -> None:
    import ctypes

    with suppress(OSError, AttributeError, TypeError):  # only glibc can
        ctypes.CDLL(None)[function](*numbers)
