"""The description of the API for programs, as OpenAPI."""

from __future__ import annotations

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
_ANSWER: Json = {
    "description": "What the command line prints with -o json.",
    "content": {"application/json": {"schema": {"type": "object"}}},
}


def route_of(route: Route) -> Json:
    """Return the description of a route."""
    inputs = {name: one for name, one in route.inputs.items() if name not in route.keys.values()}
    schemas = {name: one.schema() for name, one in inputs.items()} | (OF_LOOKS if looks(route.operation) else {})
    needed = sorted(name for name, one in inputs.items() if one.required)
    found: Json = {
        "summary": route.operation.sentence,
        "tags": ["memory" if route.path.startswith("/api/memory") else route.operation.does.split()[0]],
        "responses": {"200": _ANSWER, "default": _ERRORS},
        "parameters": [
            _parameter(name, "path", route.inputs[key].schema() if key in route.inputs else {"type": "string"}, True)
            for name, key in route.keys.items()
        ],
    }
    if route.in_query:
        found["parameters"] += [_parameter(name, "query", one, name in needed) for name, one in schemas.items()]
        return found
    schema: Json = {"type": "object", "properties": schemas, "additionalProperties": False}
    if needed:
        schema["required"] = needed
    about = {"type": "string", "description": "Who makes the change: agent:NAME."}
    found["parameters"].append(_parameter(ACTOR_HEADER, "header", about, False))
    found["requestBody"] = {"required": bool(needed), "content": {"application/json": {"schema": schema}}}
    return found


def _parameter(name: str, where: str, schema: Json, required: bool) -> Json:
    about = schema.get("description", "")
    return {"name": name, "in": where, "required": required, "description": about, "schema": schema}


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
