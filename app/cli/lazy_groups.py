"""Verbs and groups of verbs: click commands that accept the common options and load their modules when used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, update_wrapper
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import click

from memory.base.counts import whole
from memory.errors import UsageError

from . import declared
from .completion import choices_of, refs_of
from .declared import ATTRIBUTES, DeclaredGroup, DeclaredVerb, OneOf, Parameter, Whole, group, under, verb
from .session import Session

if TYPE_CHECKING:
    from .declared import Serves

__all__ = ["COMMON", "FOLDER_ONLY", "LazyGroup", "Verb", "VerbGroup", "group", "under", "verb"]


def _keep(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    """Store the value of an option in the session; the option nearest to the verb counts."""
    if value is not None and value is not False:
        session = context.ensure_object(Session)
        setattr(session, ATTRIBUTES[str(parameter.name)], value)
        if not context.resilient_parsing:
            session.check()


class _Number(click.IntRange):
    """A whole number that may be followed by a sign."""

    def __init__(self, kind: Whole) -> None:
        super().__init__(kind.least, kind.most)
        self._kind = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the number; UsageError `usage.value`."""
        del ctx
        least, most, sign = self._kind
        name = "it" if param is None else param.get_error_hint(None).replace("'", "")
        return whole(value.removesuffix(sign) if isinstance(value, str) else value, least, most, name=name)


def _click(one: Any, **more: Any) -> click.Parameter:
    """Return a declared parameter as a click parameter; click's own parameters are returned unchanged."""
    if not isinstance(one, Parameter):
        return cast(click.Parameter, one)
    settings = {**one.settings, **more}
    match settings.get("type"):
        case OneOf(words, case_sensitive):
            settings["type"] = click.Choice(words, case_sensitive=case_sensitive)
        case Whole() as kind:
            settings["type"] = _Number(kind)
    if "refs" in settings:
        settings["shell_complete"] = refs_of(*settings.pop("refs"))
    if "suggests" in settings:
        settings["shell_complete"] = choices_of(*settings.pop("suggests"))
    return click.Option(one.words, **settings) if one.is_option else click.Argument(one.words, **settings)


COMMON: tuple[click.Option, ...] = tuple(
    cast(click.Option, _click(one, callback=_keep, expose_value=False)) for one in declared.COMMON
)
FOLDER_ONLY = click.Option(
    ["workspace", "-w"],
    metavar="DIR",
    help="Folder in the workspace to work on (default: the current one).",
    callback=_keep,
    expose_value=False,
)
"""The first common option for verbs that use `--workspace` differently."""
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

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the verb's own options first, then the common options."""
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
    """A verb; for its own settings see `app.cli.declared.verb`."""

    def __init__(
        self,
        *args: Any,
        serves: Serves | None = None,
        by_person: Sequence[str] = (),
        changed_by: Sequence[str] = (),
        fields: Callable[[], Iterable[str]] | None = None,
        unknown: Callable[[list[str]], UsageError | None] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.serves = serves
        self.here_only = (*by_person, *changed_by)
        self.fields = fields
        self.unknown = unknown

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; if an unknown option has the name of a field, the error says how to set it."""
        words = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if self.unknown is not None and (more := self.unknown(words)) is not None:
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
"""Verb names of other tools, with the names that they may have here."""


class VerbGroup(_Common, click.Group):
    """Verbs on one kind of thing, such as `tasks`; without a verb it lists them."""

    command_class = Verb
    serves: Serves | None = None

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
        from difflib import get_close_matches

        other = [name for name in _OTHER_WORDS.get(word, ()) if name in names]
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
        module, _, attribute = self.verbs[cmd_name][0].partition(":")
        found = getattr(import_module(module), attribute)
        command: click.Command = command_of(found) if isinstance(found, (DeclaredVerb, DeclaredGroup)) else found
        return command

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the verbs under their headings."""
        for heading, names in self._parts().items():
            with formatter.section(heading):
                formatter.write_dl([(name, self.verbs[name][1]) for name in names])


# -- click commands made of declarations -----------------------------------------------------------------------


@cache
def command_of(declared: DeclaredVerb | DeclaredGroup) -> click.Command:
    """Return a declared verb, or a group with its verbs, as a click command."""
    if isinstance(declared, DeclaredVerb):
        called = declared

        def run(session: Session, /, **values: Any) -> Any:
            return called.call(session, values)

        function = click.pass_obj(update_wrapper(run, declared.function))
        function.__click_params__ = [_click(one) for one in reversed(declared.parameters)]  # type: ignore[attr-defined]
        return click.command(declared.name, cls=Verb, **declared.settings)(function)
    made = VerbGroup(
        declared.name,
        help=declared.text,
        subcommand_metavar="VERB ...",
        invoke_without_command=True,
        callback=_need_verb,
    )
    made.serves = declared.serves
    for name, one in declared.verbs.items():
        made.add_command(command_of(one), name)
    return made


@click.pass_context
def _need_verb(context: click.Context) -> None:
    """Raise a usage error that lists the verbs of a group if none is given."""
    if context.invoked_subcommand is None and isinstance(context.command, click.Group):
        verbs = ", ".join(context.command.list_commands(context))
        path = context.command_path
        raise UsageError("usage.verb", f"{path} needs a verb: {verbs}", f"see {path} --help")
