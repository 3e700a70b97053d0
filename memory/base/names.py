"""Names as people see them: which two would be taken for one."""

from __future__ import annotations


def alike(name: str) -> str:
    """Return what two names share that a person would take for one."""
    if name.isascii():
        return " ".join(name.lower().split())
    import unicodedata

    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())
