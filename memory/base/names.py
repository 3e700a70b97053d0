"""Names and words as people see and write them: which two would be taken for one, how far a typo is from a word."""

from __future__ import annotations

from bisect import bisect_right

# ASCII, and letters, dashes, quotation marks, arrows and pictures of which `unicodedata` makes nothing else, whatever
# they stand beside of each other, and folding nothing in ASCII: the first and the last of each row. They are by far not
# all there are, but nearly all that titles have.
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
"""ASCII for each of its forms that are as wide as Chinese, which writes its colons and brackets so."""


def edit_distance(one: str, other: str, most: int) -> int:
    """Return how many letters to put in, take out, change or swap with the next make one word the other; `most` + 1
    for anything above `most`, found early.
    """
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, char in enumerate(one, 1):
        older, before, row = before, row, [at]
        for to, wanted in enumerate(other, 1):
            cost = min(before[to] + 1, row[to - 1] + 1, before[to - 1] + (char != wanted))
            if at > 1 and to > 1 and char == other[to - 2] and one[at - 2] == wanted:
                cost = min(cost, older[to - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return min(row[-1], most + 1)


def alike(name: str) -> str:
    """Return what two names share that a person would take for one."""
    if name.isascii():
        return " ".join(name.lower().split())
    folded = name.casefold()
    if unsettled(folded):
        folded = name.translate(_NARROW).casefold()
        if unsettled(folded):
            # Its tables take longer to load than most commands need for all their names.
            import unicodedata

            folded = unicodedata.normalize("NFKC", name).casefold()
    return " ".join(folded.split())


def unsettled(text: str) -> set[str]:
    """Return the letters of a text of which `alike`, or folding the case, may make others that are in ASCII.

    A pattern of so many rows would take longer to compile than a file's titles to look at.
    """
    return {letter for letter in set(text) if not bisect_right(_BOUNDS, letter) % 2}
