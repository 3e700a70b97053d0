"""SHA-256 of bytes, without OpenSSL where there is little to hash: loading it takes longer than that."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

_LITTLE = 1 << 18


def sha256(data: bytes) -> Any:
    """Return the hash object of some bytes."""
    return _light()(data) if len(data) <= _LITTLE else _fast(data)


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
