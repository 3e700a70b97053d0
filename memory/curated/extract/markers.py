"""Explicit markers in a turn, which need no model: `remember: …`, `remember(project): …` at the start of a line."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory.base.patterns import late
from memory.curated.model import TYPES, Json

_MARK = late(rf"^[ \t]*(?:[-*>][ \t]+)?remember(?:\(({'|'.join(TYPES)})\))?[ \t]*[:：][ \t]*(\S.*)$", re.I | re.M)
_TITLE = late(r"^([^.:;|]{1,60})[ \t]+\|[ \t]+(\S.*)$")


def marked(turns: Sequence[Json], default: str) -> list[Json]:
    """Return the candidates that turns mark as such; `default` is the type of one that names none.

    The text may begin with a name: `remember(project): Deploy window | deploys happen on tuesdays`.
    """
    found = []
    for turn in turns:
        for kind, text in _MARK.findall(turn["content"]):
            titled = _TITLE.match(text.strip())
            row: Json = {"type": (kind or default).lower(), "content": (titled[2] if titled else text).strip()}
            if titled:
                row["name"] = titled[1].strip()
            if row not in found:
                found.append(row)
    return found
