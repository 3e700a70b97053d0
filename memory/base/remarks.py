"""Values that carry a remark in parentheses at their end, and values that mean "nothing here".

The format writes `*/5 * * * * (every 5 min)` or `null (notify only)`: a value for programs and a remark for
people.
"""

from __future__ import annotations

ABSENT = frozenset({"", "-", "null", "none"})
"""What a value says, in lower case, when it means that there is none."""

CHANNEL_FIELDS = frozenset({"channelId", "primaryChannel", "secondaryChannel"})
CONFIG_NUMBERS = frozenset({"archiveCompletedAfterDays", "pruneJournalAfterDays", "maxJournalEntries"})

REMARK_FIELDS = (
    frozenset({"due", "interval", "expression", "lastStatus", "autoRemediate"}) | CHANNEL_FIELDS | CONFIG_NUMBERS
)
"""The keys whose values may end in a remark; in every other field parentheses belong to the value."""


def split_remark(value: str) -> tuple[str, str | None]:
    """Split a value into itself and the remark in parentheses at its very end (None: there is none).

    A space stands before the remark, its parentheses are balanced, it is not empty and stays on one line. A
    value that is nothing but a remark is an empty value with a remark. The value comes back without space
    around it.
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
    """Split the value of a field as its key allows: only `REMARK_FIELDS` carry remarks.

    `autoRemediate` is a command unless it says that there is none, so it carries one only after an absent
    value.
    """
    if key not in REMARK_FIELDS:
        return value.strip(" \t"), None
    plain, remark = split_remark(value)
    if key == "autoRemediate" and not is_absent(plain):
        return value.strip(" \t"), None
    return plain, remark


def is_absent(value: str) -> bool:
    """Say whether a value means "none": `null`, `none`, `-` or empty, in any case, with space around it."""
    return value.strip().lower() in ABSENT
