"""Click commands made from the operations: they accept the common options and load their modules when used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import click
from click.shell_completion import CompletionItem

from memory.base.values import MOST
from memory.errors import MemdeckError, UsageError
from memory.operations import Choice, Group, Operation, Parameter, Whole, load, option
from memory.operations.parameters import Flag

from .session import OUTPUTS, Session


class _Value(click.ParamType[Any]):
    """A value of a parameter, read and completed by its kind."""

    def __init__(self, parameter: Parameter) -> None:
        self.name, self._kind, self._label = parameter.kind.type, parameter.kind, parameter.label

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ARG002
        """Read the value, but not a default; UsageError `usage.value`."""
        return self._kind.read(value, self._label) if isinstance(value, str) else value

    def shell_complete(
        self,
        ctx: click.Context,
        param: click.Parameter,  # noqa: ARG002
        incomplete: str,
    ) -> list[CompletionItem]:
        """Complete the value; nothing if the workspace cannot be read, because completion must not print errors."""
        session = ctx.find_root().obj
        if not isinstance(session, Session):
            session = Session()
        try:
            found = list(self._kind.completions(lambda: session.snapshot, incomplete))
        except (MemdeckError, OSError):
            return []
        return [CompletionItem(value, help=words or None) for value, words in found]


def _click(one: Parameter, **more: Any) -> click.Parameter:
    """Return a parameter as a click parameter."""
    kind, flag = one.kind, isinstance(one.kind, Flag)
    settings: dict[str, Any] = {"required": one.required, "metavar": one.metavar, **more}
    if one.default is not None and not (one.many and not one.words):
        settings["default"] = one.default
    settings |= {"is_flag": True} if flag else {"type": _Value(one)}
    if not one.words:
        settings["metavar"] = one.label
        if one.many:
            settings["nargs"] = -1
        return click.Argument([one.name], **settings)
    settings["metavar"] = one.metavar or kind.metavar or None
    bounds = f" From {kind.least:,} to {kind.most:,}." if isinstance(kind, Whole) and kind.most < MOST else ""
    return click.Option(
        [*one.words, one.name],
        help=one.help + bounds,
        multiple=one.many,
        show_default=one.show_default,
        **settings,
    )


ATTRIBUTES = {
    "workspace": "folder",
    "output": "form",
    "actor": "actor_option",
    "now": "now_option",
    "no_color": "no_color",
    "safe": "safe",
}
"""The attributes of a session that the common options set."""


def _keep(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    """Store the value of an option in the session; the option nearest to the verb counts."""
    if value is not None and value is not False:
        session = context.ensure_object(Session)
        setattr(session, ATTRIBUTES[str(parameter.name)], value)
        if not context.resilient_parsing:
            session.check()


FOLDER = option(
    "-w", "--workspace", metavar="DIR", help="The workspace, or a folder in it (default: the current folder)."
)
FOLDER_ONLY = _click(option("-w", "workspace", metavar="DIR", help=FOLDER.help), callback=_keep, expose_value=False)
"""The first common option for verbs that use `--workspace` differently."""
COMMON: tuple[click.Parameter, ...] = tuple(
    _click(one, callback=_keep, expose_value=False)
    for one in (
        FOLDER,
        option(
            "-o",
            "--output",
            type=Choice(OUTPUTS),
            metavar="FORM",
            help="Form of the answer: human (the default), json or jsonl.",
        ),
        option(
            "--actor",
            metavar="NAME",
            help="Who makes the change, such as agent:builder (default: MEMDECK_ACTOR, the agent that runs it, or "
            "cli).",
        ),
        option("--now", metavar="ISO", help="Run as if it were this time, for reproducible runs."),
        option("--no-color", is_flag=True, help="No colour, in any terminal."),
        option(
            "--safe",
            is_flag=True,
            help="Run no command from memory files and send nothing, not even if approved.",
        ),
    )
)
"""The options that every verb accepts."""
_HELP_NAMES = {"help_option_names": ["-h", "--help"]}


def _show_help(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    """Print the help like any answer: if stdout rejects it, that is an output error."""
    if value and not context.resilient_parsing:
        context.ensure_object(Session).writer.text(context.get_help() + "\n")
        context.exit()


class _Common(click.Command):
    """A command that lists the common options after its own."""

    examples: Sequence[str] = ()

    def __init__(self, *args: Any, examples: Sequence[str] = (), **kwargs: Any) -> None:
        own = list(kwargs.get("params") or ())
        taken = any("--workspace" in parameter.opts for parameter in own)
        kwargs["params"] = [*own, *((FOLDER_ONLY, *COMMON[1:]) if taken else COMMON)]
        kwargs.setdefault("context_settings", _HELP_NAMES)
        super().__init__(*args, **kwargs)
        self.examples = tuple(examples)

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """Return the option `--help`."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.callback = _show_help
        return option

    def format_epilog(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples as they would be typed."""
        if self.examples:
            with formatter.section("Examples"):
                for example in self.examples:
                    formatter.write(f"{'':>{formatter.current_indent}}{example}\n")


class Verb(_Common):
    """A command that runs an operation."""

    def __init__(self, operation: Operation, name: str = "") -> None:
        super().__init__(
            name or operation.name,
            params=[_click(one) for one in operation.parameters],
            help=operation.help,
            examples=operation.examples,
            options_metavar=operation.options_metavar or "[OPTIONS]",
        )
        self.operation = operation

    def invoke(self, ctx: click.Context) -> Any:
        """Run the operation, if the caller may; errors as `Session.permit`."""
        return ctx.ensure_object(Session).run(self.operation, ctx.params)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; if an unknown option has the name of a field, the error says how to set it."""
        words = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if self.operation.unknown is not None and (more := self.operation.unknown(words)) is not None:
                raise more from None
            field = self._field(error.option_name)
            if field is None:
                raise
            raise UsageError(
                "usage.option",
                f"no such option {error.option_name!r}",
                f"write --set {field}=…, or see {ctx.command_path} --help",
            ) from None

    def _field(self, option: str) -> str | None:
        """Return the field that an option is named like: case and hyphens do not matter, a prefix is enough."""
        word = option.replace("-", "").casefold()
        fields = self.operation.fields
        names = fields() if fields is not None and len(word) > 1 else ()
        return next((name for name in names if name.casefold().startswith(word)), None)


_OTHER_WORDS = {
    "run": ("check",),
    "ls": ("list",),
    "show": ("list",),
    "view": ("show", "list"),
    "new": ("add",),
    "create": ("add",),
    "update": ("edit",),
    "change": ("edit",),
    "rm": ("remove",),
    "delete": ("remove",),
    "finish": ("done",),
    "complete": ("done",),
    "close": ("done",),
}
"""Verb names of other tools, with the names that they may have here."""


class VerbGroup(_Common, click.Group):
    """Verbs on one kind of thing, such as `tasks`; without a verb it lists them."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Return the verbs in the order in which they are defined."""
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the verb that the first word names; UsageError `usage.verb`, with the one that is probably meant."""
        word, names = args[0], self.list_commands(ctx)
        if ctx.resilient_parsing or word in names or word.startswith("-"):
            return super().resolve_command(ctx, args)
        other = [name for name in _OTHER_WORDS.get(word, ()) if name in names]
        from difflib import get_close_matches

        near = other or get_close_matches(word, names, 1)
        meant = f". Did you mean {near[0]!r}?" if near else ""
        raise UsageError("usage.verb", f"no such command {word!r}{meant}", f"see {ctx.command_path} --help")

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each verb with its whole first sentence."""
        with formatter.section("Verbs"):
            formatter.write_dl([(name, verb.get_short_help_str(200)) for name, verb in self.commands.items()])


class LazyGroup(VerbGroup):
    """Verbs by name, each with its module and help line; a module is imported when its verb is used."""

    def __init__(
        self, *args: Any, verbs: Mapping[str, tuple[str, str]], parts: Mapping[str, Sequence[str]], **kwargs: Any
    ):
        """`verbs` maps a name to (module:attribute, help line), `parts` headings to names."""
        super().__init__(*args, **kwargs)
        self.verbs = verbs
        self.parts = parts

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Return the names in the order of the help."""
        return [name for names in self._parts().values() for name in names]

    def _parts(self) -> Mapping[str, Sequence[str]]:
        """Return the headings with their names; verbs without a heading come last."""
        listed = {name for names in self.parts.values() for name in names}
        others = [name for name in self.verbs if name not in listed]
        return {**self.parts, "Other systems": others} if others else self.parts

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a verb, None if there is none with that name."""
        if cmd_name not in self.verbs:
            return None
        return command_of(load(self.verbs[cmd_name][0]))

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the verbs under their headings."""
        for heading, names in self._parts().items():
            with formatter.section(heading):
                formatter.write_dl([(name, self.verbs[name][1]) for name in names])


@cache
def command_of(made: Operation | Group) -> click.Command:
    """Return an operation, or a group with its operations, as a click command."""
    if isinstance(made, Operation):
        return Verb(made)
    found = VerbGroup(
        made.name, help=made.help, subcommand_metavar="VERB ...", invoke_without_command=True, callback=_need_verb
    )
    for name, one in made.operations.items():
        found.add_command(command_of(one), name)
    return found


@click.pass_context
def _need_verb(context: click.Context) -> None:
    """Raise a usage error that lists the verbs of a group if none is given."""
    if context.invoked_subcommand is None and isinstance(context.command, click.Group):
        verbs = ", ".join(context.command.list_commands(context))
        path = context.command_path
        raise UsageError("usage.verb", f"{path} needs a verb: {verbs}", f"see {path} --help")
