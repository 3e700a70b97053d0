"""Values as people and programs write them: size limits, remarks, absent values, equal names, counts, JSON objects.

The format writes `*/5 * * * * (every 5 min)` or `null (notify only)`: a value for programs and a remark for
people.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from unicodedata import normalize

from memory.errors import UsageError

if TYPE_CHECKING:
    from typing import Any

MOST = 1_000_000_000
"""The largest count where an operation names no other: SQLite and Python take it everywhere."""
MAX_BYTES = 64 * 1024

MAX_DEPTH = 8
"""How deep lists and mappings may be nested below the top one."""

ABSENT = frozenset({"", "-", "null", "none"})
"""The values, in lower case, that mean "none"."""

CHANNEL_FIELDS = frozenset({"channelId", "primaryChannel", "secondaryChannel"})
CONFIG_NUMBERS = frozenset({"archiveCompletedAfterDays", "pruneJournalAfterDays", "maxJournalEntries"})

REMARK_FIELDS = (
    frozenset({"due", "interval", "expression", "lastStatus", "autoRemediate"}) | CHANNEL_FIELDS | CONFIG_NUMBERS
)
"""The keys whose values may end in a remark; in every other field parentheses belong to the value."""


def split_remark(value: str) -> tuple[str, str | None]:
    """Return the value and the remark in parentheses at its end (None: there is none).

    The remark has a space before it and balanced parentheses, is not empty and is on one line. A value that is only a
    remark is an empty value with a remark. The value is returned without surrounding space.
    """
    text = value.strip(" \t")
    if not text.endswith(")"):
        return text, None
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        char = text[at]
        if char == ")":
            depth += 1
        elif char == "(":
            depth -= 1
            if depth == 0:
                break
        elif char in "\r\n":
            return text, None
    else:
        return text, None
    remark = text[at + 1 : -1].strip(" \t")
    if not remark or (at > 0 and text[at - 1] not in " \t"):
        return text, None
    return text[:at].rstrip(" \t"), remark


def join_remark(value: str, remark: str | None) -> str:
    """Return the value with its remark after it; None or an empty remark adds nothing."""
    if not remark:
        return value
    return f"{value} ({remark})" if value else f"({remark})"


def split_field(key: str, value: str) -> tuple[str, str | None]:
    """Return the value of a field and its remark: only `REMARK_FIELDS` have remarks.

    `autoRemediate` is a command unless its value is absent, so only an absent value has a remark.
    """
    if key not in REMARK_FIELDS:
        return value.strip(" \t"), None
    plain, remark = split_remark(value)
    if key == "autoRemediate" and not is_absent(plain):
        return value.strip(" \t"), None
    return plain, remark


def is_absent(value: str) -> bool:
    """Return whether a value means "none": `null`, `none`, `-` or empty, ignoring case and surrounding space."""
    return value.strip().lower() in ABSENT


def folded(text: str) -> str:
    """Return a text in the one form in which texts are compared: composed (NFC), without case."""
    return text.casefold() if text.isascii() else normalize("NFC", normalize("NFC", text).casefold())


def alike(name: str) -> str:
    """Return the normal form of a name: equal for names that a person would take for the same."""
    return " ".join(normalize("NFKC", name).casefold().split())


def whole(value: object, least: int = 0, most: int = MOST, *, name: str, code: str = "usage.value") -> int:
    """Return a number or its decimal digits as a whole number from `least` to `most`, both included.

    UsageError `code` names the bounds for anything else: a float, a truth value, other digits, more digits.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        number: int | None = value
    else:
        digits = value.removeprefix("-") if isinstance(value, str) else ""
        plain = digits.isascii() and digits.isdecimal() and len(digits) < 19
        number = int(str(value)) if plain else None
    if number is None or not least <= number <= most:
        said = str(value) if not isinstance(value, int) or abs(value) <= 10**40 else "so many digits"
        raise UsageError(code, f"{name} takes a whole number from {least} to {most}, not {said[:40]!r}", argument=name)
    return number


def say_size(size: float) -> str:
    """Return a size in bytes for people, in decimal units: `512 B`, `2 KB`, `1.5 MB`."""
    units = ["B", "KB", "MB", "GB", "TB", "PB"]
    while len(units) > 1 and abs(size) >= 999.95:
        size /= 1000
        del units[0]
    return f"{size:.1f} {units[0]}".replace(".0 ", " ")


def no_constant(text: str) -> Any:
    """Refuse `NaN` and `Infinity`, which Python reads, but are not JSON; for `parse_constant`."""
    raise ValueError(f"{text} is not JSON")


def read_object(text: str | bytes | None) -> dict[str, Any]:
    """Return the JSON object in a text; {} where there is no text, no valid JSON, or another JSON value."""
    try:
        values = json.loads(text or b"{}")
    except (ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}
