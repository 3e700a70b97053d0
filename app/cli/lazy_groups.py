"""Verbs and groups of verbs: click commands that take the common options and load their modules when used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any, Literal

import click

from memory.errors import UsageError

from .session import OUTPUTS, Session

Serves = Literal["look", "change", "person", "machine"]
"""What a verb is to programs that reach memdeck through a server: it looks, or changes the memory of the workspace; or
it is not served, because a person decides it, or because it concerns this machine more than the workspace."""


def _keep(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    """Put what an option says into the session; the option nearest to the verb counts."""
    if value is not None and value is not False:
        session = context.ensure_object(Session)
        setattr(session, _ATTRIBUTES[str(parameter.name)], value)
        if not context.resilient_parsing:
            session.check()


_ATTRIBUTES = {
    "workspace": "folder",
    "output": "output",
    "actor": "actor_option",
    "now": "now_option",
    "no_color": "no_color",
    "safe": "safe",
}

COMMON: tuple[click.Option, ...] = (
    click.Option(
        ["-w", "--workspace"],
        metavar="DIR",
        help="Folder in the workspace to work on (default: the current one).",
        callback=_keep,
        expose_value=False,
    ),
    click.Option(
        ["-o", "--output"],
        type=click.Choice(OUTPUTS),
        metavar="FORM",
        help="Form of the answer: human (the default), json or jsonl.",
        callback=_keep,
        expose_value=False,
    ),
    click.Option(
        ["--actor"],
        metavar="NAME",
        help="Who makes the change, such as agent:builder (default: MEMDECK_ACTOR, or cli).",
        callback=_keep,
        expose_value=False,
    ),
    click.Option(
        ["--now"],
        metavar="ISO",
        help="Run as if it were this time, for reproducible runs.",
        callback=_keep,
        expose_value=False,
    ),
    click.Option(
        ["--no-color"], is_flag=True, help="No colour, whatever the terminal can.", callback=_keep, expose_value=False
    ),
    click.Option(
        ["--safe"],
        is_flag=True,
        help="Run nothing that stands in memory files, and send nothing, whatever was approved.",
        callback=_keep,
        expose_value=False,
    ),
)
FOLDER_ONLY = click.Option(
    ["workspace", "-w"],
    metavar="DIR",
    help="Folder in the workspace to work on (default: the current one).",
    callback=_keep,
    expose_value=False,
)
"""The first of them for verbs to which `--workspace` says something else."""
_HELP_NAMES = {"help_option_names": ["-h", "--help"]}


def _show_help(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    """Print the help as every answer is printed: what stdout does not take is an error of the output."""
    if value and not context.resilient_parsing:
        context.ensure_object(Session).writer.text(context.get_help() + "\n")
        context.exit()


class _Common(click.Command):
    """A command that takes the common options after its own."""

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

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the verb's own options first, then those that every verb takes."""
        own: list[tuple[str, str]] = []
        common: list[tuple[str, str]] = []
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                shared = parameter in (*COMMON, FOLDER_ONLY) or "--help" in parameter.opts
                (common if shared else own).append(record)
        if own:
            with formatter.section("Options"):
                formatter.write_dl(own)
        if isinstance(self, click.Group):
            self.format_commands(ctx, formatter)
        with formatter.section("Options of every verb"):
            formatter.write_dl(common)

    def format_epilog(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples as they would be typed."""
        if self.examples:
            with formatter.section("Examples"):
                for example in self.examples:
                    formatter.write(f"{'':>{formatter.current_indent}}{example}\n")


class Verb(_Common):
    """One verb; `fields` returns what can be set with `--set`, for who tries it as an option.

    A verb that does not say what it serves is not served. `by_person` names the options of a served verb that are not.
    """

    def __init__(
        self,
        *args: Any,
        fields: Callable[[], Iterable[str]] | None = None,
        serves: Serves | None = None,
        by_person: Sequence[str] = (),
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.fields = fields
        self.serves = serves
        self.by_person = by_person

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; an option that is none and has the name of a field is told how it is set."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            field = self._field(error.option_name)
            if field is None:
                raise
            raise UsageError(
                "usage.option",
                f"no such option {error.option_name!r}",
                f"write --set {field}=…, or see {ctx.command_path} --help",
            ) from None

    def _field(self, option: str) -> str | None:
        """Return the field that an option is called like: in any case, with hyphens, and the beginning is enough."""
        word = option.replace("-", "").casefold()
        names = self.fields() if self.fields is not None and len(word) > 1 else ()
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
"""What verbs are called elsewhere, with the names that they may have here."""


class VerbGroup(_Common, click.Group):
    """Verbs on one kind of thing, such as `tasks`; alone it says which there are."""

    command_class = Verb
    serves: Serves | None = None

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Return the verbs in the order in which they are defined."""
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the verb that the first word names; for words of other tools, say what it is called here."""
        if not ctx.resilient_parsing and args[0] not in self.commands:
            meant = next((name for name in _OTHER_WORDS.get(args[0], ()) if name in self.commands), None)
            if meant is not None:
                message = f"no such command {args[0]!r}. Did you mean {meant!r}?"
                raise UsageError("usage.verb", message, f"see {ctx.command_path} --help")
        return super().resolve_command(ctx, args)

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each verb with its whole first sentence."""
        with formatter.section("Verbs"):
            formatter.write_dl([(name, verb.get_short_help_str(200)) for name, verb in self.commands.items()])


class LazyGroup(VerbGroup):
    """Verbs by name, with the module and the help line of each; a module is imported when its verb is used."""

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
        """Return the headings with their names; verbs under no heading come last."""
        listed = {name for names in self.parts.values() for name in names}
        others = [name for name in self.verbs if name not in listed]
        return {**self.parts, "Other systems": others} if others else self.parts

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a verb, None where there is none of that name."""
        if cmd_name not in self.verbs:
            return None
        module, _, attribute = self.verbs[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the verbs under the headings of what they do."""
        for heading, names in self._parts().items():
            with formatter.section(heading):
                formatter.write_dl([(name, self.verbs[name][1]) for name in names])


def verb(name: str, *, examples: Sequence[str] = (), **settings: Any) -> Callable[[Callable[..., Any]], Verb]:
    """Return a decorator that makes a function (session, **options) a verb outside of a group."""

    def decorate(function: Callable[..., Any]) -> Verb:
        return click.command(name, cls=Verb, examples=examples, **settings)(click.pass_obj(function))

    return decorate


def group(name: str, text: str, *, serves: Serves | None = None) -> VerbGroup:
    """Return an empty group of verbs with its help; `serves` is that of its verbs that do not say it themselves."""
    made = VerbGroup(name, help=text, subcommand_metavar="VERB ...", invoke_without_command=True, callback=_need_verb)
    made.serves = serves
    return made


@click.pass_context
def _need_verb(context: click.Context) -> None:
    """Say which verbs a group has where none is given."""
    if context.invoked_subcommand is None and isinstance(context.command, click.Group):
        verbs = ", ".join(context.command.list_commands(context))
        path = context.command_path
        raise UsageError("usage.verb", f"{path} needs a verb: {verbs}", f"see {path} --help")


def under(
    parent: VerbGroup, name: str, *, examples: Sequence[str] = (), **settings: Any
) -> Callable[[Callable[..., Any]], click.Command]:
    """Return a decorator that makes a function (session, **options) a verb of a group."""

    def decorate(function: Callable[..., Any]) -> click.Command:
        command: click.Command = parent.command(name, examples=examples, **settings)(click.pass_obj(function))
        return command

    return decorate
