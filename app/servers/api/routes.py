"""Routes: the verbs of the command line, whose declarations say which are served, and the operations on curated memory.

The paths of operations are in their registry, with `{names}` for some inputs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from app.cli.lazy_groups import COMMON, FOLDER_ONLY, Verb, VerbGroup
from app.cli.root import root
from app.cli.session import Session
from memory.curated.operations.registry import OPERATIONS, Operation
from memory.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from app.cli.declared import Serves

Json = dict[str, Any]
OF_LOOKS: dict[str, Json] = {
    "actor": {"type": "string", "description": "Only what was done in this name, in lists of changes."},
    "rows": {"type": "integer", "description": "So many rows of a list at most, with a cursor for the next."},
    "cursor": {"type": "string", "description": "Where the next rows begin."},
}
"""The arguments of every verb that only reads, beside its own."""
WORKSPACE = ("workspace_id", "workspace")
"""Names for a workspace in a path or among the inputs: here it can only be the server's own."""
_NAME = re.compile(r"\{(\w+)\}")


class Argument(NamedTuple):
    """One argument of a verb; `option` is its name on the command line, empty if it is positional."""

    name: str
    option: str
    schema: Json
    required: bool

    def words(self, value: Any) -> list[str]:
        """Return the value as texts, one for each time that the argument is given; UsageError `api.argument`."""
        kind = self.schema["type"]
        if kind == "array":
            if isinstance(value, Mapping) and self.schema.get("x-pairs"):
                return [f"{key}={_text(self.name, one)}" for key, one in value.items()]
            return [_text(self.name, one) for one in (value if isinstance(value, list) else [value])]
        return [_text(self.name, value)]


class VerbRoute(NamedTuple):
    """One verb: its words are its path."""

    words: tuple[str, ...]
    verb: Verb
    serves: Serves | None
    arguments: tuple[Argument, ...]

    @property
    def path(self) -> str:
        """The path of the route."""
        return "/api/v1/" + "/".join(self.words)

    @property
    def looks(self) -> bool:
        """Whether it only reads."""
        return self.serves == "look"

    @property
    def served(self) -> bool:
        """Whether programs may call it."""
        return self.serves in ("look", "change")

    @property
    def method(self) -> str:
        """The HTTP method."""
        return "GET" if self.looks else "POST"

    @property
    def does(self) -> str:
        """Its description, in a sentence."""
        return self.verb.get_short_help_str(200)

    def command_line(self, values: Mapping[str, Any]) -> list[str]:
        """Return the words of an equivalent command line; UsageError `api.argument`.

        No value can become an option: values of options follow `=`, the others follow `--`.
        """
        known = {argument.name: argument for argument in self.arguments}
        for name in values:
            if name not in known:
                names = ", ".join(known) or "none"
                raise UsageError("api.argument", f"there is no argument {name[:60]!r}", f"it takes {names}")
        options: list[str] = []
        places: list[str] = []
        missing = ""
        for argument in self.arguments:
            value = values.get(argument.name)
            if argument.option:
                if argument.schema["type"] == "boolean":
                    options += [argument.option] if _truth(argument.name, value) else []
                elif value is not None:
                    options += [f"{argument.option}={word}" for word in argument.words(value)]
            elif value is None:
                missing = missing or argument.name
            elif missing:
                raise UsageError("api.argument", f"{argument.name} needs {missing} before it", f"give {missing}")
            else:
                places += argument.words(value)
        return [*self.words, *options, "--", *places]


def routes() -> tuple[VerbRoute, ...]:
    """Return all verbs, including those that are not served."""
    return tuple(_walk(root, (), None, click.Context(root, obj=Session())))


def _walk(
    command: click.Command, words: tuple[str, ...], serves: Serves | None, context: click.Context
) -> Iterator[VerbRoute]:
    if isinstance(command, VerbGroup):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None:
                yield from _walk(inner, (*words, name), command.serves or serves, context)
    elif isinstance(command, Verb):
        kept = (*COMMON, FOLDER_ONLY)
        own = [one for one in command.params if one not in kept and one.name not in command.here_only]
        yield VerbRoute(words, command, command.serves or serves, tuple(_argument(one) for one in own))


def _argument(parameter: click.Parameter) -> Argument:
    """Return an argument under the name that users know: that of the option."""
    if isinstance(parameter, click.Option):
        option = max(parameter.opts, key=len)
        return Argument(
            option.lstrip("-").replace("-", "_"), option, _schema(parameter, parameter.help or ""), parameter.required
        )
    return Argument(str(parameter.name), "", _schema(parameter, ""), parameter.required)


def _schema(parameter: click.Parameter, words: str) -> Json:
    kind = parameter.type
    schema: Json = {"type": "string"}
    if isinstance(kind, click.Choice):
        schema["enum"] = list(kind.choices)
    elif isinstance(kind, click.IntRange):
        schema = {"type": "integer", "minimum": kind.min, "maximum": kind.max}
    if isinstance(parameter, click.Option) and parameter.is_flag:
        schema = {"type": "boolean"}
    if parameter.multiple or parameter.nargs == -1:
        schema = {"type": "array", "items": schema}
        if parameter.metavar == "KEY=VALUE":
            schema["x-pairs"] = True
    if words:
        schema["description"] = words
    return schema


def _text(name: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise UsageError("api.argument", f"{name} is no text and no number", "send a text", argument=name)
    text = str(value)
    if "\0" in text or text.encode(errors="ignore").decode() != text:
        raise UsageError("api.text", f"{name} has characters that no text has", "send UTF-8", argument=name)
    return text


def _truth(name: str, value: Any) -> bool:
    if value is None or isinstance(value, bool):
        return bool(value)
    if isinstance(value, str) and value.lower() in ("true", "1", ""):
        return True
    if isinstance(value, str) and value.lower() in ("false", "0"):
        return False
    raise UsageError("api.argument", f"{name} is neither true nor false", "send true or false", argument=name)


class CuratedRoute(NamedTuple):
    """One operation with its path; `keys` maps each name in the path to an input."""

    operation: Operation
    method: str
    path: str
    keys: Mapping[str, str]

    @property
    def inputs(self) -> Mapping[str, Json]:
        """The inputs that are not in the path."""
        found: Mapping[str, Json] = self.operation.input["properties"]
        return {name: schema for name, schema in found.items() if name not in self.keys.values()}

    def values(self, path: Mapping[str, str], given: Mapping[str, Any]) -> Json:
        """Return the inputs of a request; texts of a path or a query are converted to the types of the schema."""
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
    """Return all operations; paths with a variable come after paths with a fixed word in its place."""
    found = [_route(operation) for operation in OPERATIONS if operation.route]
    return tuple(sorted(found, key=lambda one: [part.startswith("{") for part in one.path.split("/")]))


def take_workspace(values: Json, known: Sequence[str], inputs: Mapping[str, Json]) -> None:
    """Remove the workspace, which must be the one that is served, from the inputs; NotFoundError."""
    for name in WORKSPACE:
        if name in values and name not in inputs:
            asked = values.pop(name)
            if asked is not None and asked not in known:
                words = f"{str(asked)[:80]!r} is not the workspace that is served here"
                raise NotFoundError("workspace.not_found", words, "leave it out")


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
    """Convert a text to the type of the schema; on failure it is returned unchanged for the check to report."""
    kind = schema.get("type")
    if kind == "array" and isinstance(value, str):
        return [value]
    if not isinstance(value, str):
        return value
    if kind == "boolean" and value.lower() in ("true", "false", "1", "0"):
        return value.lower() in ("true", "1")
    return value


def _flat(value: Any) -> Any:
    """Return a scope that was given as an object as `scope` or `agent:tier`."""
    if not isinstance(value, Mapping):
        return value
    tier = value.get("agent_tier")
    return f"{value.get('scope')}:{tier}" if tier else value.get("scope")
