"""Routes: the operations that programs may call, and those on curated memory.

The path of an operation is its words; those on curated memory have paths of their own, with `{names}` for some inputs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from app.cli.verbs import VERBS
from memory.curated.operations.registry import OPERATIONS, CuratedOperation
from memory.errors import NotFoundError, UsageError
from memory.operations import Group, Operation, Parameter

Json = dict[str, Any]
OF_LOOKS: dict[str, Json] = {
    "actor": {"type": "string", "description": "Only what was done in this name, in lists of changes."},
    "rows": {"type": "integer", "description": "So many rows of a list at most, with a cursor for the next."},
    "cursor": {"type": "string", "description": "Where the next rows begin."},
}
"""The arguments of every operation that only reads, beside its own."""
WORKSPACE = ("workspace_id", "workspace")
"""Names for a workspace in a path or among the inputs: here it can only be the server's own."""
_COMMAND = re.compile(r"`?\bmemdeck ([a-z][a-z-]*(?: [a-z][a-z-]*){0,2})(?: --help)?`?")
_NAME = re.compile(r"\{(\w+)\}")


def operations() -> Iterator[Operation]:
    """Yield all operations, including those that are not served."""
    for place, _ in VERBS.values():
        module, _, attribute = place.partition(":")
        found = getattr(import_module(module), attribute)
        yield from found.walk() if isinstance(found, Group) else (found,)


def path_of(operation: Operation) -> str:
    """Return the path of an operation."""
    return "/api/v1/" + operation.does.replace(" ", "/")


def over_http(hint: str) -> str:
    """Return a hint with the paths of operations in place of their commands."""
    ways = _ways()

    def way(found: re.Match[str]) -> str:
        words = found[1].split()
        for count in range(len(words), 0, -1):
            if path := ways.get(" ".join(words[:count])):
                return " ".join([path, *words[count:]])
        return found[0]

    return _COMMAND.sub(way, hint)


@cache
def _ways() -> dict[str, str]:
    return {one.does: f"{method_of(one)} {path_of(one)}" for one in operations() if one.offered}


def looks(operation: Operation) -> bool:
    """Return whether an operation only reads."""
    return operation.serves == "look"


def method_of(operation: Operation) -> str:
    """Return the HTTP method of an operation."""
    return "GET" if looks(operation) else "POST"


class CuratedRoute(NamedTuple):
    """One operation with its path; `keys` maps each name in the path to an input."""

    operation: CuratedOperation
    method: str
    path: str
    keys: Mapping[str, str]

    @property
    def inputs(self) -> tuple[Parameter, ...]:
        """The parameters that are not in the path."""
        return tuple(one for one in self.operation.parameters if one.name not in self.keys.values())

    def values(self, path: Mapping[str, str], given: Mapping[str, Any]) -> Json:
        """Return the inputs of a request."""
        found: Json = {}
        for name, value in given.items():
            if name in self.keys.values() and name not in WORKSPACE:
                raise UsageError("memory.validation", f"{name} belongs in the path", field=name)
            found[name] = _flat(value) if name in ("from", "to") else value
        for name, text in path.items():
            found[self.keys.get(name, name)] = text
        return found


def curated_routes() -> tuple[CuratedRoute, ...]:
    """Return all operations; paths with a variable come after paths with a fixed word in its place."""
    found = [_route(operation) for operation in OPERATIONS if operation.route]
    return tuple(sorted(found, key=lambda one: [part.startswith("{") for part in one.path.split("/")]))


def take_workspace(values: Json, known: Sequence[str], operation: CuratedOperation) -> None:
    """Remove the workspace, which must be the one that is served, from the inputs; NotFoundError."""
    inputs = {one.name for one in operation.parameters}
    for name in WORKSPACE:
        if name in values and name not in inputs:
            asked = values.pop(name)
            if asked is not None and asked not in known:
                words = f"{str(asked)[:80]!r} is not the workspace that is served here"
                raise NotFoundError("workspace.not_found", words, "leave it out")


def _route(operation: CuratedOperation) -> CuratedRoute:
    method, _, path = operation.route.partition(" ")
    names = {one.name for one in operation.parameters}
    left = [one.name for one in operation.parameters if not one.words]
    keys: dict[str, str] = {}
    for name in _NAME.findall(path):
        last = name.rpartition("_")[2]
        if name in names or name in WORKSPACE:
            keys[name] = name
        elif last in names:
            keys[name] = last
        else:
            keys[name] = next(one for one in left if one not in keys.values())
    return CuratedRoute(operation, method, path, keys)


def _flat(value: Any) -> Any:
    """Return a scope that was given as an object as `scope` or `agent:tier`."""
    if not isinstance(value, Mapping):
        return value
    tier = value.get("agent_tier")
    return f"{value.get('scope')}:{tier}" if tier else value.get("scope")
