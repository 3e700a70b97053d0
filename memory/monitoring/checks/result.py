"""How one check came out, and how that is said in monitors.md."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from memory.base.safe_text import clip, visible

State = Literal["healthy", "failing", "error", "blocked", "skipped"]
"""`failing`: the threshold is breached or nothing answers; `error`: it could not be told, because the monitor is
wrong or printed nothing that its threshold can judge; `blocked`: needs a person's approval; `skipped`: did not run."""
_WIDEST = 80


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of one check.

    `summary` is one short safe line such as `72% used` or `status 503`. `values` holds what was measured: times in
    seconds, sizes in bytes. `seconds` is how long the check took, `detail` more for people (what a command printed,
    why something failed), made safe for a screen.
    """

    monitor: str
    state: State
    summary: str
    values: dict[str, int | float | str] = field(default_factory=dict)
    seconds: float = 0.0
    detail: str = ""

    @property
    def ran(self) -> bool:
        """Whether something was measured: blocked and skipped checks say nothing about the thing itself."""
        return self.state not in ("blocked", "skipped")

    @property
    def good(self) -> bool:
        """Whether all is well; an error is not."""
        return self.state == "healthy"


def last_status(result: Result) -> str:
    """Return what `lastStatus` holds: the state with the summary as its remark, `healthy (72% used)`."""
    return f"{result.state} ({result.summary})" if result.summary else result.state


def one_line(text: str) -> str:
    """Make a summary: safe for a screen and for a remark in parentheses, which must be balanced."""
    line = clip(visible(" ".join(text.split())), _WIDEST)
    depth = 0
    for char in line:
        depth += (char == "(") - (char == ")")
        if depth < 0:
            break
    return line if depth == 0 else re.sub(r"[()]", "", line)


def safe_detail(text: str) -> str:
    """Make a detail: lines stay, nothing in it steers a terminal, at most 4,000 characters from its end."""
    text = text.strip()
    if len(text) > 4000:
        text = "…" + text[-4000:]
    return visible(text, newlines=True)
