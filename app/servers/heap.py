"""The memory of a process that stays: garbage is collected, and what is free goes back to the system."""

from __future__ import annotations

import gc
from contextlib import suppress


def collect_garbage() -> None:
    """Collect garbage from here on, which verbs that live for a moment do without; what was loaded so far stays."""
    gc.collect()
    gc.freeze()
    gc.enable()


def give_back() -> None:
    """Return to the system what nothing holds any more; the C library alone would keep most of it."""
    gc.collect()
    import ctypes

    with suppress(OSError, AttributeError, TypeError):  # only glibc can
        ctypes.CDLL(None).malloc_trim(0)
