"""One operation on curated memory: its names, its function, its schemas, and the check of values against these."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memory.base.counts import MOST, whole
from memory.curated.curated import Curated
from memory.curated.model import SCOPES, TIERS, TYPES, Json
from memory.errors import UsageError

_KINDS: Mapping[str, tuple[type, ...]] = {
    "string": (str,), "boolean": (bool,), "integer": (int,), "array": (list,), "object": (dict,)
}  # fmt: skip
Run = Callable[[Curated, Json, "OperationCall"], Json]


@dataclass(frozen=True, slots=True)
class OperationCall:
    """The context of a call: the actor, the time, and the interface."""

    now: datetime
    actor: str = "cli"
    origin: str = "cli"


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation. `name` is its verb, `tool` and `route` its names for a tool and a server; empty for neither.

    `first` are the positional inputs on the command line; `writes` says that it may change a memory.
    """

    name: str
    does: str
    run: Run
    input: Json
    output: Json
    tool: str
    route: str
    first: tuple[str, ...] = ()
    writes: bool = False
    example: str = ""

    def call(self, curated: Curated, values: Mapping[str, Any], call: OperationCall) -> Json:
        """Check the values, finish what a crash interrupted, run, return the result; UsageError and MemdeckError."""
        arguments = check(self.input, values)
        if not arguments.get("dry_run"):
            curated.finish_interrupted(call.now)
        return self.run(curated, arguments, call)


# -- schemas --------------------------------------------------------------------------------------------------------


def text(does: str, **more: object) -> Json:
    """Return the schema of a text."""
    return {"type": "string", "description": does, **more}


def choice(does: str, values: Sequence[str]) -> Json:
    """Return the schema of one of some texts."""
    return {"type": "string", "description": does, "enum": list(values)}


def flag(does: str) -> Json:
    """Return the schema of a truth value, false by default."""
    return {"type": "boolean", "description": does, "default": False}


def number(does: str, least: int = 0, most: int = MOST) -> Json:
    """Return the schema of a whole number, both ends included."""
    return {"type": "integer", "description": does, "minimum": least, "maximum": most}


def texts(does: str) -> Json:
    """Return the schema of a list of texts."""
    return {"type": "array", "items": {"type": "string"}, "description": does}


def taking(*required: str, **properties: Json) -> Json:
    """Return the schema of an input; `required` are the mandatory properties."""
    return {
        "type": "object", "properties": properties, "required": list(required), "additionalProperties": False
    }  # fmt: skip


def giving(*keys: str, rows: str | None = None) -> Json:
    """Return the schema of an output that has these keys; `rows` is the key of the list that jsonl prints."""
    schema: Json = {"type": "object", "required": list(keys), "properties": {key: {} for key in keys}}
    if rows is not None:
        schema["properties"][rows] = {"type": "array"}
        schema["x-rows"] = rows
    return schema


SELECTOR: dict[str, Json] = {
    "scope": choice("The scope: global, workspace or agent.", SCOPES),
    "agent_name": text("The agent whose memories are meant too, or alone with the scope agent."),
    "agent_tier": choice("The tier of the agent: workspace (the default) or global.", TIERS),
}
TYPE = choice("The type of the memory.", TYPES)
FILENAME = text("The file of the memory, with or without .md.")
DRY_RUN = flag("Decide, and write nothing.")
SYSTEM = flag("Include the files of _system.")


def check(schema: Json, values: Mapping[str, object]) -> Json:
    """Return the values of an input without those that are not given; UsageError `memory.validation`."""
    properties: Mapping[str, Json] = schema["properties"]
    found: Json = {}
    for key, value in values.items():
        known = properties.get(key)
        if known is None:
            raise UsageError("memory.validation", f"there is no argument {key[:60]!r}", field=key)
        if value is None:
            continue
        kind = known["type"]
        if kind == "integer":
            found[key] = whole(value, known["minimum"], known["maximum"], name=key, code="memory.validation")
            continue
        if not isinstance(value, _KINDS[kind]):
            raise UsageError("memory.validation", f"{key} is no {kind}", field=key)
        if isinstance(value, list) and not all(isinstance(one, str) for one in value):
            raise UsageError("memory.validation", f"{key} is no list of texts", field=key)
        if "enum" in known and value not in known["enum"]:
            code = {"scope": "memory.scope.invalid", "agent_tier": "memory.scope.agent_tier_invalid"}.get(key)
            words = f"{key} is {str(value)[:40]!r}, not one of {', '.join(known['enum'])}"
            raise UsageError(code or "memory.validation", words, field=key)
        found[key] = value
    for key in schema["required"]:
        if key not in found:
            raise UsageError("memory.validation", f"{key} is missing", field=key)
    return found
