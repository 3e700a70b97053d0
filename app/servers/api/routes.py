"""Routes: the operations that programs may call, and those on curated memory.

The path of an operation is its words; those on curated memory have paths of their own, with `{names}` for some inputs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from app.cli.verbs import VERBS
from memory.curated.operations.registry import OPERATIONS, CuratedOperation
from memory.errors import UsageError
from memory.operations import Operation, Parameter, load

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
        yield from load(place).walk()


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


class Route(NamedTuple):
    """One operation with its method and path.

    `inputs` are the parameters by the names that a request gives them, `keys` maps each name in the path to an input,
    and `read` returns the values of the operation for those of a request.
    """

    operation: Operation
    method: str
    path: str
    inputs: Mapping[str, Parameter]
    keys: Mapping[str, str]
    read: Callable[[Json], Json]

    @property
    def in_query(self) -> bool:
        """Whether the inputs are part of the query rather than of the body."""
        return self.method in ("GET", "DELETE")

    def values(self, path: Mapping[str, str], given: Mapping[str, Any]) -> Json:
        """Return the inputs of a request, by their names."""
        found: Json = {}
        for name, value in given.items():
            if name in self.keys.values() and name not in WORKSPACE:
                raise UsageError("memory.validation", f"{name} belongs in the path", field=name)
            found[name] = _flat(value) if name in ("from", "to") else value
        return found | {self.keys.get(name, name): text for name, text in path.items()}


def routes() -> tuple[Route, ...]:
    """Return all operations that are served: at the path of their words, and those on curated memory at their own.

    Paths with a variable come after paths with a fixed word in its place.
    """
    found = [
        Route(one, method_of(one), path_of(one), {part.sent_as: part for part in one.sent}, {}, one.read)
        for one in operations()
        if one.offered
    ]
    found += map(_curated_route, OPERATIONS)
    return tuple(sorted(found, key=lambda one: [part.startswith("{") for part in one.path.split("/")]))


def _curated_route(operation: CuratedOperation) -> Route:
    method, _, path = operation.route.partition(" ")
    inputs = {one.name: one for one in operation.parameters}
    left = [one.name for one in operation.parameters if not one.words]
    keys: dict[str, str] = {}
    for name in _NAME.findall(path):
        last = name.rpartition("_")[2]
        named = name if name in inputs or name in WORKSPACE else last if last in inputs else None
        keys[name] = named or next(one for one in left if one not in keys.values())
    return Route(operation, method, path, inputs, keys, operation.taken)


def _flat(value: Any) -> Any:
    """Return a scope that was given as an object as `scope` or `agent:tier`."""
    if not isinstance(value, Mapping):
        return value
    tier = value.get("agent_tier")
    return f"{value.get('scope')}:{tier}" if tier else value.get("scope")
