"""Values as people write them by hand: size limits, remarks, absent values, equal names.

The format writes `*/5 * * * * (every 5 min)` or `null (notify only)`: a value for programs and a remark for
people.
"""

from __future__ import annotations

from unicodedata import normalize

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
