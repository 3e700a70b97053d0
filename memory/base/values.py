"""Values as people write them by hand: size limits, remarks, absent values, equal names.

The format writes `*/5 * * * * (every 5 min)` or `null (notify only)`: a value for programs and a remark for
people.
"""

from __future__ import annotations

from bisect import bisect_right

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


# ASCII, and letters, dashes, quotation marks, arrows and pictures that NFKC leaves unchanged in any combination and
# that case folding does not turn into ASCII: the first and the last of each range. They are not all such characters,
# but nearly all that occur in titles.
_SETTLED = (
    *(
        "\0\x7f",
        "\u00c0\u00d6",
        "\u00d8\u00de",
        "\u00e0\u00f6",
        "\u00f8\u012f",
        "\u0131\u0131",
        "\u0141\u0148",
        "\u014a\u017e",
    ),
    *(
        "\u0391\u03a1",
        "\u03a3\u03c9",
        "\u0410\u044f",
        "\u05d0\u05ea",
        "\u0621\u063a",
        "\u0641\u064a",
        "\u200d\u200d",
        "\u2013\u2014",
    ),
    *(
        "\u2018\u201f",
        "\u2022\u2022",
        "\u2190\u21ff",
        "\u2500\u27bf",
        "\u3001\u3011",
        "\u3041\u3096",
        "\u30a1\u30fe",
        "\u4e00\u9fff",
    ),
    *("\uac00\ud7a3", "\ufe0f\ufe0f", "\U0001f300\U0001f64f", "\U0001f680\U0001f6ff", "\U0001f900\U0001f9ff"),
)
_BOUNDS = [bound for row in _SETTLED for bound in (row[0], chr(ord(row[1]) + 1))]
_NARROW = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
"""The ASCII character for each full-width form; Chinese text uses full-width colons and brackets."""


def alike(name: str) -> str:
    """Return the normal form of a name: equal for names that a person would take for the same."""
    if name.isascii():
        return " ".join(name.lower().split())
    folded = name.casefold()
    if unsettled(folded):
        folded = name.translate(_NARROW).casefold()
        if unsettled(folded):
            # Its tables take longer to load than most commands spend on all their names.
            import unicodedata

            folded = unicodedata.normalize("NFKC", name).casefold()
    return " ".join(folded.split())


def unsettled(text: str) -> set[str]:
    """Return the letters of a text that NFKC may change or case folding may turn into ASCII.

    A regular expression of so many ranges would take longer to compile than a file's titles take to check.
    """
    return {letter for letter in set(text) if not bisect_right(_BOUNDS, letter) % 2}
