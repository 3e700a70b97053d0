"""Which HTTP status an error has."""

from __future__ import annotations

from memory.errors import (
    AmbiguousError,
    BlockedError,
    BusyError,
    ConflictError,
    MemdeckError,
    NotFoundError,
    RefusedError,
    UsageError,
)

_BY_CODE = {
    "internal": 500,
    "workspace.not_found": 404,
    "http.not_found": 404,
    "http.method": 405,
    "http.large": 413,
    "api.large": 413,
    "http.type": 415,
    "http.slow": 408,
    "http.rate": 429,
    "http.busy": 503,
}
_BY_CLASS: tuple[tuple[type[MemdeckError], int], ...] = (
    (BusyError, 503),
    (ConflictError, 409),
    (BlockedError, 403),
    (RefusedError, 403),
    (NotFoundError, 404),
    (AmbiguousError, 400),
    (UsageError, 400),
)
NOT_DONE = 422
"""The request is understood, and what it asks for cannot be done."""


def status_of(error: MemdeckError) -> int:
    """Return the status: by the code, else by the class."""
    if error.code in _BY_CODE:
        return _BY_CODE[error.code]
    if error.code.endswith(".not_supported"):
        return 501
    return next((status for kind, status in _BY_CLASS if isinstance(error, kind)), NOT_DONE)
