"""SHA-256 of bytes, without the import of `hashlib` where there are few of them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache

from memory.lazy import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any


def digest(data: bytes) -> str:
    """Return the SHA-256 of some bytes in hex."""
    digits: str = sha256(data).hexdigest()
    return digits


_LITTLE = 1 << 18


def sha256(data: bytes) -> Any:
    """Return the hash object of some bytes.

    `hashlib` is quicker, but importing it takes as long as hashing a little data with the interpreter's own function.
    """
    return _light()(data) if len(data) <= _LITTLE and "hashlib" not in sys.modules else _fast(data)


def _fast(data: bytes) -> Any:
    from hashlib import sha256

    return sha256(data)


@cache
def _light() -> Callable[[bytes], Any]:
    """Return the interpreter's own function; it moved to another module with Python 3.12."""
    try:
        from _sha256 import sha256  # type: ignore[import-not-found]
    except ImportError:
        return _fast
    made: Callable[[bytes], Any] = sha256
    return made
