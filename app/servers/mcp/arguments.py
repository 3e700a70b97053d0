"""Checking a tool's arguments against its schema; each problem is said in one sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memory.errors import UsageError

from .definitions import Tool

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "object": (dict,),
    "array": (list,),
}
_WORDS = {"string": "a text", "integer": "a whole number", "object": "an object", "array": "a list of texts"}


def checked(tool: Tool, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the arguments without absent ones; UsageError `mcp.arguments` for what the schema does not allow."""
    values = {key: value for key, value in (given or {}).items() if value is not None}
    for key, value in values.items():
        schema = tool.arguments.get(key)
        if schema is None:
            raise _wrong(tool, f"has no argument {key[:40]!r}")
        name = schema["type"]
        if not isinstance(value, _TYPES[name]) or isinstance(value, bool):
            raise _wrong(tool, f"takes {_WORDS[name]} as {key}")
        if isinstance(value, list) and not all(isinstance(one, str) for one in value):
            raise _wrong(tool, f"takes a list of texts as {key}")
        if name == "integer" and not schema["minimum"] <= value <= schema["maximum"]:
            raise _wrong(tool, f"takes {schema['minimum']:,} to {schema['maximum']:,} as {key}")
    for key in tool.required:
        if key not in values:
            raise _wrong(tool, f"needs {key}")
    return values


def _wrong(tool: Tool, what: str) -> UsageError:
    return UsageError("mcp.arguments", f"{tool.name} {what}", f"it takes {', '.join(tool.arguments)}")
