"""The operations on curated memory as routes: their paths stand in the registry, with `{names}` for some inputs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from memory.curated.operations.registry import OPERATIONS, Operation
from memory.errors import NotFoundError, UsageError

Json = dict[str, Any]
WORKSPACE = ("workspace_id", "workspace")
"""Names that a workspace may have in a path or among the inputs: here it can only be the server's own."""
_NAME = re.compile(r"\{(\w+)\}")


class CuratedRoute(NamedTuple):
    """One operation at its place; `keys` maps each name in the path to an input."""

    operation: Operation
    method: str
    path: str
    keys: Mapping[str, str]

    @property
    def inputs(self) -> Mapping[str, Json]:
        """The inputs that do not stand in the path."""
        found: Mapping[str, Json] = self.operation.input["properties"]
        return {name: schema for name, schema in found.items() if name not in self.keys.values()}

    def values(self, path: Mapping[str, str], given: Mapping[str, Any]) -> Json:
        """Return the inputs of a request; texts of a path or a query become what the schema asks for."""
        found: Json = {}
        for name, value in given.items():
            if name in self.keys.values() and name not in WORKSPACE:
                raise UsageError("memory.validation", f"{name} stands in the path", field=name)
            found[name] = _flat(value) if name in ("from", "to") else value
        for name, text in path.items():
            found[self.keys.get(name, name)] = text
        properties = self.operation.input["properties"]
        return {name: _typed(value, properties.get(name, {})) for name, value in found.items()}


def curated_routes() -> tuple[CuratedRoute, ...]:
    """Return all operations; those whose path names a thing come behind those whose path has a word in its place."""
    found = [_route(operation) for operation in OPERATIONS if operation.route]
    return tuple(sorted(found, key=lambda one: [part.startswith("{") for part in one.path.split("/")]))


def take_workspace(values: Json, known: Sequence[str], inputs: Mapping[str, Json]) -> Json:
    """Return the inputs without the workspace, which has to be the one that is served; NotFoundError."""
    for name in WORKSPACE:
        if name in values and name not in inputs:
            asked = values.pop(name)
            if asked is not None and asked not in known:
                words = f"{str(asked)[:80]!r} is not the workspace that is served here"
                raise NotFoundError("workspace.not_found", words, "leave it out")
    return values


def _route(operation: Operation) -> CuratedRoute:
    method, _, path = operation.route.partition(" ")
    properties = operation.input["properties"]
    left = list(operation.first)
    keys: dict[str, str] = {}
    for name in _NAME.findall(path):
        last = name.rpartition("_")[2]
        if name in properties or name in WORKSPACE:
            keys[name] = name
        elif last in properties:
            keys[name] = last
        else:
            keys[name] = next(one for one in left if one not in keys.values())
    return CuratedRoute(operation, method, path, keys)


def _typed(value: Any, schema: Mapping[str, Any]) -> Any:
    """Return a text as what the schema asks for, where it is one; what it cannot be is left for the check."""
    kind = schema.get("type")
    if kind == "array" and isinstance(value, str):
        return [value]
    if not isinstance(value, str):
        return value
    if kind == "integer" and re.fullmatch(r"-?[0-9]{1,15}", value):
        return int(value)
    if kind == "boolean" and value.lower() in ("true", "false", "1", "0"):
        return value.lower() in ("true", "1")
    return value


def _flat(value: Any) -> Any:
    """Return a scope that was given as an object as `scope` or `agent:tier`."""
    if not isinstance(value, Mapping):
        return value
    tier = value.get("agent_tier")
    return f"{value.get('scope')}:{tier}" if tier else value.get("scope")
