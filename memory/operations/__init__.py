"""The table of operations: what each takes, who may call it, and what it returns. Every surface is made from it.

`operation` declares one, `parameters` are the kinds of values, `context` is what it works with, `result` what it
returns, `permission` is the rule of who may do what.
"""

from __future__ import annotations

from .context import Context
from .operation import Group, Operation, Serves, shows, under, verb
from .parameters import (
    Choice,
    Content,
    Input,
    Kind,
    Lines,
    Pairs,
    Parameter,
    Ref,
    SentFile,
    Suggested,
    Whole,
    argument,
    option,
)
from .permission import Caller, allow

__all__ = [
    "Caller", "Choice", "Content", "Context", "Group", "Input", "Kind", "Lines", "Operation", "Pairs", "Parameter",
    "Ref", "SentFile", "Serves", "Suggested", "Whole", "allow", "argument", "option", "shows", "under", "verb",
]  # fmt: skip
