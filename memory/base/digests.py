"""SHA-256 of bytes."""

from __future__ import annotations

from hashlib import sha256 as sha256


def digest(data: bytes) -> str:
    """Return the SHA-256 of some bytes in hex."""
    return sha256(data).hexdigest()
