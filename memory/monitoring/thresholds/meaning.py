"""What a threshold means, in the words of a sentence: for people who write one."""

from __future__ import annotations

from .names import DEFAULTS
from .rules import Compare, Flag, Joined, Not, Rule
from .threshold import Threshold

_SIGNS = {
    "==": "is",
    "!=": "is not",
    "<": "is below",
    "<=": "is at most",
    ">": "is above",
    ">=": "is at least",
    "contains": "contains",
}
_OPPOSITES = {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def meaning(threshold: Threshold, kind: str) -> str:
    """Say when a monitor of a type (`http`, `command` …) alerts: `alerts when status is not 200`."""
    words = f"alerts when {_say(threshold.rule, True)}"
    return words if threshold.text or kind not in DEFAULTS else f"without one it {words}"


def _say(rule: Rule, positive: bool, inner: bool = False) -> str:
    match rule:
        case Not(part):
            return _say(part, not positive, inner)
        case Joined(every, parts):
            # What is denied as a whole is denied in each part, and the other word joins them.
            joined = (" and " if every is positive else " or ").join(_say(part, positive, True) for part in parts)
            return f"({joined})" if inner else joined
        case Flag("exists"):
            return "it exists" if positive else "it does not exist"
        case Flag(name):
            return f"it is {name}" if positive else f"it is not {name}"
        case Compare(name, sign, literal, shown):
            if sign == "contains":
                verb = "contains" if positive else "does not contain"
                return f'{name} {verb} "{shown}"'
            sign = sign if positive else _OPPOSITES[sign]
            text = f'"{shown}"' if isinstance(literal, str) else shown
            return f"{name} {_SIGNS[sign]} {text}"
