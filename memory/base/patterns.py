"""Regular expressions that are compiled when they are used first: a short command uses few of those it imports."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class _Late:
    """Stands in for a pattern; each of its methods is the compiled pattern's own from the first use on."""

    def __init__(self, text: str | bytes, flags: int) -> None:
        self._text = text
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(self._text, self._flags), name)
        self.__dict__[name] = found
        return found


def late(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a pattern that is compiled with its first use."""
    return cast("re.Pattern[AnyStr]", _Late(text, flags))
