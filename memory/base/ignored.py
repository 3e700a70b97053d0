"""What a `.gitignore` leaves out; patterns that take too long to match are passed over."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore import GitIgnorePatternError

_MOST_PATTERNS = 500


def ignored_by(text: str, also: Sequence[str] = ()) -> GitIgnoreSpec:
    """Return what the text of a `.gitignore` and the patterns `also` leave out; what is no pattern does not count."""
    # Each run of stars multiplies the ways to match a name.
    lines = [
        line for line in text.split("\n") if len(line) < 300 and len(re.findall(r"\*+", line)) < 4 and "[[" not in line
    ]
    try:
        return GitIgnoreSpec.from_lines([*lines[:_MOST_PATTERNS], *also])
    except GitIgnorePatternError:
        return GitIgnoreSpec.from_lines(also)
