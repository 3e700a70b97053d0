"""The table of operations: what each takes, who may call it, and what it returns. Every surface is made from it.

`operation` declares one, `parameters` are the kinds of values, `context` is what it works with, `result` what it
returns, `permission` is the rule of who may do what.
"""

from __future__ import annotations

from .context import Context
from .operation import Group, Operation, Serves, load, shows, under, verb
from .parameters import (
    DUE,
    RECURRING,
    Bound,
    Choice,
    Content,
    Day,
    Input,
    Kind,
    Lines,
    Pairs,
    Parameter,
    Ref,
    SentFile,
    Suggested,
    Tag,
    Used,
    Values,
    When,
    Whole,
    argument,
    option,
)
from .permission import Caller, allow
from .result import Result, listing, said

__all__ = [
    "DUE", "RECURRING", "Bound", "Caller", "Choice", "Content", "Context", "Day", "Group", "Input", "Kind", "Lines",
    "Operation", "Pairs", "Parameter", "Ref", "Result", "SentFile", "Serves", "Suggested", "Tag", "Used", "Values",
    "When", "Whole", "allow", "argument", "listing", "load", "option", "said", "shows", "under", "verb",
]  # fmt: skip
