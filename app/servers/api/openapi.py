"""The description of the API for programs, as OpenAPI."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from .requests import ACTOR_HEADER
from .routes import OF_LOOKS, Route, looks

if TYPE_CHECKING:
    from fastapi import FastAPI


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


def route_of(route: Route) -> Json:
    """Return the description of a route."""
    inputs = {name: one for name, one in route.inputs.items() if name not in route.keys.values()}
    schemas = {name: one.schema() for name, one in inputs.items()} | (OF_LOOKS if looks(route.operation) else {})
    required = [name for name, one in inputs.items() if one.required]
    tag = "memory" if route.path.startswith("/api/memory") else route.operation.does.split()[0]
    found = _described(route.operation.sentence, tag, schemas, required, in_query=route.in_query)
    found["parameters"][:0] = [
        {"name": name, "in": "path", "required": True,
         "schema": route.inputs[key].schema() if key in route.inputs else {"type": "string"}}
        for name, key in route.keys.items()
    ]  # fmt: skip
    return found


def described(application: FastAPI) -> Json:
    """Return the complete description."""
    from fastapi.openapi.utils import get_openapi

    found = get_openapi(
        title="memdeck",
        version=application.version,
        description="The memory of a workspace: the verbs of the command line, and curated memory.",
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
