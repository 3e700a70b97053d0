"""The description of the API for programs, as OpenAPI."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from memory.operations import Operation

from .requests import ACTOR_HEADER
from .routes import OF_LOOKS, CuratedRoute, looks

if TYPE_CHECKING:
    from fastapi import FastAPI

    from app.servers.mcp.definitions import Tool

Json = dict[str, Any]
_ERROR: Json = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message", "details"],
            "properties": {"code": {"type": "string"}, "message": {"type": "string"}, "details": {"type": "object"}},
        }
    },
}
_ERRORS: Json = {
    "description": "What could not be done; the codes are those of the command line.",
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
}
_ACTOR: Json = {
    "name": ACTOR_HEADER,
    "in": "header",
    "required": False,
    "description": "Who makes the change: agent:NAME.",
    "schema": {"type": "string"},
}


def verb_of(operation: Operation) -> Json:
    """Return the description of an operation."""
    inputs = {one.sent_as: one.schema() for one in operation.sent}
    required = [one.sent_as for one in operation.sent if one.required]
    if looks(operation):
        inputs |= OF_LOOKS
    return _described(operation.sentence, operation.does.split()[0], inputs, required, in_query=looks(operation))


def operation_of(route: CuratedRoute) -> Json:
    """Return the description of an operation on curated memory."""
    inputs = {one.name: one.schema() for one in route.inputs}
    required = [one.name for one in route.inputs if one.required]
    in_query = route.method in ("GET", "DELETE")
    found = _described(route.operation.sentence, "memory", inputs, required, in_query=in_query)
    schemas = {one.name: one.schema() for one in route.operation.parameters}
    found["parameters"] = [
        {"name": name, "in": "path", "required": True, "schema": schemas.get(key, {"type": "string"})}
        for name, key in route.keys.items()
    ] + found.get("parameters", [])
    return found


def tool_of(tool: Tool) -> Json:
    """Return the description of a tool."""
    return _described(
        tool.description, "tools", tool.schema["properties"], tool.schema.get("required", ()), in_query=False
    )


def described(application: FastAPI) -> Json:
    """Return the complete description."""
    from fastapi.openapi.utils import get_openapi

    found = get_openapi(
        title="memdeck",
        version=application.version,
        description="The memory of a workspace: the verbs of the command line, curated memory, and agents' tools.",
        routes=application.routes,
    )
    parts = found.setdefault("components", {})
    parts.setdefault("schemas", {})["Error"] = _ERROR
    parts["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    found["security"] = [{"token": []}]
    return found


def _described(does: str, tag: str, inputs: Mapping[str, Json], required: Iterable[str], *, in_query: bool) -> Json:
    needed = set(required)
    found: Json = {
        "summary": does,
        "tags": [tag],
        "responses": {
            "200": {
                "description": "What the command line prints with -o json.",
                "content": {"application/json": {"schema": {"type": "object"}}},
            },
            "default": _ERRORS,
        },
    }
    if in_query:
        found["parameters"] = [
            {
                "name": name, "in": "query", "required": name in needed, "description": schema.get("description", ""),
                "schema": schema,
            }
            for name, schema in inputs.items()
        ]  # fmt: skip
        return found
    schema: Json = {"type": "object", "properties": dict(inputs), "additionalProperties": False}
    if needed:
        schema["required"] = sorted(needed)
    found["parameters"] = [_ACTOR]
    found["requestBody"] = {"required": bool(needed), "content": {"application/json": {"schema": schema}}}
    return found
