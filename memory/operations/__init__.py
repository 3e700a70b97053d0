"""The table of operations: what each takes, who may call it, and what it returns. Every surface is made from it.

`operation` declares one, `parameters` are the kinds of values, `permission` is the rule of who may do what.
"""

from __future__ import annotations

from .operation import Group, Operation, Serves, shows, under, verb
from .parameters import Choice, Kind, Lines, Pairs, Parameter, Ref, Suggested, Values, Whole, argument, option
from .permission import Caller, allow

__all__ = [
    "Caller", "Choice", "Group", "Kind", "Lines", "Operation", "Pairs", "Parameter", "Ref", "Serves", "Suggested",
    "Values", "Whole", "allow", "argument", "option", "shows", "under", "verb",
]  # fmt: skip
