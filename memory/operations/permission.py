"""The one rule of who may do what, for every surface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from memory.errors import BlockedError, RefusedError, UsageError
from memory.storage.changes import PERSONS, is_agent

from .operation import Operation

_PERSON_ONLY = {"trust": "trust.person", "changes": "review.person_only", "still-true": "proof.person_only"}
"""The code for an agent that tries what a person does, by the noun, where it is not `NOUN.person_only`."""


class Caller(NamedTuple):
    """Who calls, and how: `client` is the client whose agent started this process, `terminal` says that a person can
    be asked, `sets_time` that the call names its own time, `surface` is `api` or `mcp` for what programs call.
    """

    actor: str
    client: str = ""
    terminal: bool = False
    sets_time: bool = False
    surface: str = ""
    read_only: bool = False


def allow(operation: Operation, caller: Caller, values: Mapping[str, Any]) -> None:
    """Raise an error unless the caller may run an operation with these values; looks are free.

    RefusedError `api.person` or `api.machine` for what programs never call, `….read_only` for a change through a server
    that only reads, `….person_only` for an agent that does what a person does; BlockedError `….terminal` for a decision
    without a terminal; UsageError `usage.now` for an agent that sets the time of a change. What kind of change an agent
    may make at once is decided by the policy of reviews, when the change is made.
    """
    if caller.surface:
        if not operation.offered:
            kind, words = (
                ("machine", "this concerns the machine, not this workspace: run it at the command line")
                if operation.serves in ("machine", None)
                else ("person", "a person decides this: run it at the command line or in the application")
            )
            raise RefusedError(f"{caller.surface}.{kind}", f"{operation.does} is not served", words)
        if caller.read_only and operation.belongs(values) != "look":
            raise RefusedError(f"{caller.surface}.read_only", "this server only reads", "ask the person who started it")
    serves = operation.belongs(values)
    if serves == "look":
        return
    noun = operation.noun
    if serves in ("person", "decision") and (caller.client or caller.actor not in PERSONS):
        code = _PERSON_ONLY.get(noun, f"{noun}.person_only")
        refused = BlockedError if noun == "trust" else RefusedError
        raise refused(
            code, f"`memdeck {operation.does}` belongs to the person, not to {caller.actor}", "ask the person"
        )
    if serves == "decision" and not caller.terminal:
        words = f"`memdeck {operation.does}` needs a person at a terminal"
        raise BlockedError(f"{noun}.terminal", words, "run it in a terminal, without pipes")
    if caller.sets_time and (caller.client or is_agent(caller.actor)):
        raise UsageError("usage.now", "an agent may not set the time of a change", "leave --now out")
