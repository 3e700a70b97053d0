"""Bytes of an answer as text, in time that grows with their number whatever the server says they are."""

from __future__ import annotations

import re

_LONGEST = 1000
"""Characters of a `Content-Type` that are looked at."""
_CHARSET = re.compile(r";[ \t]*charset[ \t]*=[ \t]*[\"']?([A-Za-z0-9_.:-]{1,40})", re.IGNORECASE)
_CODECS = {
    **dict.fromkeys(("utf-8", "utf8"), "utf-8"),
    **dict.fromkeys(("utf-16", "utf16"), "utf-16"),
    "utf-16le": "utf-16-le",
    "utf-16be": "utf-16-be",
    **dict.fromkeys(("ascii", "us-ascii"), "ascii"),
    **{f"{name}125{number}": f"cp125{number}" for name in ("windows-", "cp") for number in range(9)},
}


def charset_of(content_type: str) -> str:
    """Return the character set that a `Content-Type` names, in small letters; `utf-8` where it names none."""
    found = _CHARSET.search(content_type[:_LONGEST])
    return found[1].lower() if found else "utf-8"


def decoded(body: bytes, charset: str) -> str:
    """Return bytes as text; what cannot be read is replaced.

    Python knows character sets that cost the square of the length (punycode), or unpack (zip). So only UTF-8, UTF-16,
    ASCII and those of Windows are decoded, and the bytes of every other one are taken as Latin-1, one for one.
    """
    return body.decode(_CODECS.get(charset, "latin-1"), "replace")
