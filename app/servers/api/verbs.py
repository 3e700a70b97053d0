"""The verbs of the command line as routes: what is served follows from the verbs themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import click

from app.cli.lazy_groups import COMMON, FOLDER_ONLY, Serves, Verb, VerbGroup
from app.cli.root import root
from app.cli.session import Session
from memory.errors import UsageError

Json = dict[str, Any]
OF_LOOKS: dict[str, Json] = {
    "actor": {"type": "string", "description": "Only what was done in this name, in lists of changes."},
    "rows": {"type": "integer", "description": "So many rows of a list at most, with a cursor for the next."},
    "cursor": {"type": "string", "description": "Where the next rows begin."},
}
"""What every look takes beside the verb's own arguments."""


class Argument(NamedTuple):
    """One argument of a verb; `option` is how the command line writes it, empty where its place says what it is."""

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
        """Where it is found."""
        return "/api/v1/" + "/".join(self.words)

    @property
    def looks(self) -> bool:
        """Whether it changes nothing."""
        return self.serves == "look"

    @property
    def served(self) -> bool:
        """Whether programs may call it."""
        return self.serves in ("look", "change")

    @property
    def method(self) -> str:
        """How it is called."""
        return "GET" if self.looks else "POST"

    @property
    def does(self) -> str:
        """What it does, in a sentence."""
        return self.verb.get_short_help_str(200)

    def command_line(self, values: Mapping[str, Any]) -> list[str]:
        """Return the words of a command line that says the same; UsageError `api.argument`.

        No value can become an option: those of options stand behind `=`, the others behind `--`.
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
    """Return all verbs, those that are not served too."""
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
        own = [one for one in command.params if one not in kept and one.name not in command.by_person]
        yield VerbRoute(words, command, command.serves or serves, tuple(_argument(one) for one in own))


def _argument(parameter: click.Parameter) -> Argument:
    """Return an argument under the name that people know: that of the option."""
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
        schema = {"type": "integer"}
        schema |= {} if kind.min is None else {"minimum": kind.min}
        schema |= {} if kind.max is None else {"maximum": kind.max}
    elif kind is click.INT:
        schema = {"type": "integer"}
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
    if "\0" in text or (not text.isascii() and _is_broken(text)):
        raise UsageError("api.text", f"{name} has characters that no text has", "send UTF-8", argument=name)
    return text


def _is_broken(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _truth(name: str, value: Any) -> bool:
    if value is None or isinstance(value, bool):
        return bool(value)
    if isinstance(value, str) and value.lower() in ("true", "1", ""):
        return True
    if isinstance(value, str) and value.lower() in ("false", "0"):
        return False
    raise UsageError("api.argument", f"{name} is neither true nor false", "send true or false", argument=name)
