"""The result of one check, and its text in monitors.md."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from memory.base.safe_text import clip, visible

State = Literal["healthy", "failing", "error", "blocked", "skipped"]
"""`failing`: the threshold is breached or nothing answers. `error`: it could not be judged, because the monitor is
invalid or printed nothing that its threshold can judge. `blocked`: needs a person's approval. `skipped`: did not run.
"""
_WIDEST = 80


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of one check.

    `summary` is one short safe line such as `72% used` or `status 503`. `values` has the measured values: times in
    seconds, sizes in bytes. `seconds` is how long the check took, `detail` more for people (the output of a command,
    the reason of a failure), made safe for a screen.
    """

    monitor: str
    state: State
    summary: str
    values: dict[str, int | float | str] = field(default_factory=dict)
    seconds: float = 0.0
    detail: str = ""

    @property
    def ran(self) -> bool:
        """Whether something was measured: blocked and skipped checks say nothing about the target."""
        return self.state not in ("blocked", "skipped")


def last_status(result: Result) -> str:
    """Return the value of `lastStatus`: the state with the summary as its remark, `healthy (72% used)`."""
    return f"{result.state} ({result.summary})" if result.summary else result.state


def one_line(text: str) -> str:
    """Return a summary: safe for a screen and for a remark in parentheses, which must be balanced."""
    line = clip(visible(" ".join(text.split())), _WIDEST)
    depth = 0
    for char in line:
        depth += (char == "(") - (char == ")")
        if depth < 0:
            break
    return line if depth == 0 else re.sub(r"[()]", "", line)


def safe_detail(text: str) -> str:
    """Return a detail: lines stay, terminal control codes are made visible, at most 4,000 characters from its end."""
    text = text.strip()
    if len(text) > 4000:
        text = "…" + text[-4000:]
    return visible(text, newlines=True)
