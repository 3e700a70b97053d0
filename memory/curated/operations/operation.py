"""One operation on curated memory in the table of operations, with its names for servers and tools."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from memory.base.values import MOST
from memory.curated.control.carry_out import WORDS
from memory.curated.curated import Curated
from memory.curated.model import SCOPES, TIERS, TYPES, Json, OperationCall
from memory.curated.sides import find_root
from memory.errors import MemdeckError, UsageError
from memory.operations import Choice, Context, Group, Kind, Operation, Parameter, Result, Whole, argument, option, shows
from memory.storage.own_folders import agh_home, config_home, home, state_home
from memory.systems import trust_of
from memory.workspace import Workspace

from .memories import Run

if TYPE_CHECKING:
    from memory.curated.system import CuratedMemory

_LARGEST = 1_000_000

curated = Group(
    "curated",
    """Curated memory: one Markdown file per memory, in the scopes global, workspace and agent.

    A controller decides on every write; each decision is recorded and can be reverted. Global memories are in
    $AGH_HOME (default: ~/.agh), those of a workspace in its folder .agh.
    """,
)
_GROUPS = {
    "decisions": "Decisions of the controller, with reasons.",
    "recall": "What agents were given to read.",
    "dream": "Gather what was recalled most into one memory.",
    "extractor": "Candidates for memories, taken from sessions.",
    "session": "Events and ledgers of sessions.",
    "daily": "Operations on memory, day by day.",
    "provider": "Memory providers of other packages.",
}


class CuratedOperation(Operation):
    """An operation on curated memory. `words` are those after `memdeck curated`, `example` what follows them.

    `tool` is its name as a tool (default: made of the words), `route` its method and path at a server. `rows` is the
    list of the result that jsonl prints, `writes` says that it may change a memory.
    """

    def __init__(
        self,
        words: str,
        work: Run,
        takes: Sequence[Parameter],
        route: str,
        *,
        lines: Callable[[Json], Iterable[str]],
        tool: str = "",
        rows: str = "",
        writes: bool = False,
        example: str = "",
    ) -> None:
        """Add the operation to its group. `work` does it, the first paragraph of its docstring is the help, and `lines`
        are its result for people.
        """

        def run(context: Context, **values: Any) -> Result:
            return self._result(context, values)

        run.__dict__["parameters"] = list(takes)
        noun, _, name = words.rpartition(" ")
        group = curated.operations.get(noun) or Group(noun, _GROUPS[noun], parent=curated) if noun else curated
        assert isinstance(group, Group)
        super().__init__(
            name,
            run,
            noun=group.name,
            does=f"curated {words}",
            help=(work.__doc__ or "").partition("\n\n")[0],
            examples=(f"memdeck curated {words} {example}".rstrip(),),
            serves="look" if route.startswith("GET") else "change",
            looks=None if writes else shows,
        )
        group.operations[name] = self
        self.words, self.work, self.route, self.rows, self.writes = words, work, route, rows, writes
        self.tool = tool or f"agh__memory_{words.replace(' ', '_').replace('-', '_')}"
        self.lines = lines

    def call(self, found: Curated, values: Mapping[str, Any], call: OperationCall) -> Json:
        """Check the values of a program, run, and return the result; UsageError and MemdeckError."""
        return self._done(found, self.taken(values), call)

    def taken(self, values: Mapping[str, Any]) -> Json:
        """Return the values of a program, by the names of the parameters; UsageError `memory.validation`."""
        known = {one.name: one for one in self.parameters}
        try:
            for name in values:
                if name not in known:
                    raise UsageError("memory.validation", f"there is no argument {name[:40]!r}", field=name)
            found = {name: known[name].read(value) for name, value in values.items() if value is not None}
            for name, one in known.items():
                if one.required and name not in found:
                    raise UsageError("memory.validation", f"{name} is missing", field=name)
        except UsageError as error:
            code = error.code if error.code.startswith("memory.") else "memory.validation"
            raise UsageError(code, error.message, error.hint, **error.details) from None
        return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}

    def _done(self, found: Curated, arguments: Json, call: OperationCall) -> Json:
        """Finish what a crash interrupted, then run."""
        if not arguments.get("dry_run"):
            found.finish_interrupted(call.now)
        return self.work(found, arguments, call)

    def _result(self, context: Context, values: Mapping[str, Any]) -> Result:
        # Without the options that were not given; not `in (…)`, for which 0 is False.
        given: Json = {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in values.items()
            if value is not None and value != () and value is not False
        }
        done = self._done(opened(context), given, OperationCall(context.now, context.actor, context.origin))
        if done.get("applied"):
            context.made = f"{WORDS[done['decision']['op']]} {done['decision']['target_filename']}"
        rows = (lambda: done[self.rows]) if self.rows else None
        return Result(lambda: done, lambda paint: map(paint.line, self.lines(done)), rows)


def opened(context: Context) -> Curated:
    """Return the curated memory that a call's folder sees; that of the folder itself if no workspace is around it."""
    start = context.folder or "."
    if not os.path.isdir(start):
        raise UsageError("workspace.no_folder", f"{start!r} is not a folder", "name a folder")
    own = home(os.environ)
    root = find_root(start, agh_home(os.environ, own)) or context.root or Path(os.path.realpath(start))
    workspace = context.opened(Workspace(root, state_home=state_home(os.environ), home=own))
    system = cast("CuratedMemory", workspace.system("curated"))
    found = context.opened(system.curated)
    if not context.safe and found.settings.names_commands:
        system.entrust(trust_of(workspace, config_home(os.environ)), os.environ)
    return found


# -- parameters -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OneOf(Choice):
    """One of some words; another one is an error with a code of its own."""

    code: str = "memory.validation"

    def read(self, value: Any, name: str) -> str:
        """Return the word."""
        try:
            return super().read(value, name)
        except UsageError as error:
            raise UsageError(self.code, error.message, field=name) from None


class ContentText(Kind):
    """A text; at a prompt `@FILE` reads a file, and `-` standard input."""

    def meant(self, value: str, context: Context) -> str:
        """Return the text; UsageError `memory.content_path_required`, MemdeckError `memory.content_read_failed`."""
        if context.served:
            return value
        if value == "-":
            return sys.stdin.read(_LARGEST)
        if not value.startswith("@"):
            return value
        if not value[1:]:
            raise UsageError("memory.content_path_required", "@ needs the path of a file", "write @FILE")
        try:
            return Path(value[1:]).read_text("utf-8")[:_LARGEST]
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or "it is not UTF-8"
            words = f"{value[1:]} cannot be read: {why}"
            raise MemdeckError("memory.content_read_failed", words, "name a text file") from error


_OPTIONS = {"agent_name": "agent", "session_id": "session", "turn_seq": "turn", "parent_session_id": "parent",
            "failure_id": "failure"}  # fmt: skip
"""The options that are shorter than the names that programs send."""


def place(name: str, does: str, kind: Kind | None = None, *, required: bool = True) -> Parameter:
    """Return a parameter that the command line takes without an option."""
    label = name.upper().removesuffix("_TEXT").removesuffix("_ID")
    metavar = label if required else f"[{label}]"
    return argument(name, help=does, metavar=metavar, required=required, type=kind or Kind())


def text(name: str, does: str, *, required: bool = False, kind: Kind | None = None) -> Parameter:
    """Return an option that takes a text."""
    flag = f"--{_OPTIONS.get(name, name).replace('_', '-')}"
    metavar = None if isinstance(kind, (Choice, Whole)) else "TEXT"
    return option(name, flag, help=does, metavar=metavar, required=required, type=kind or Kind())


def number(name: str, does: str, least: int = 0, most: int = MOST, *, required: bool = False) -> Parameter:
    """Return an option that takes a whole number, both ends included."""
    return text(name, does, required=required, kind=Whole(least, most))


def flag(name: str, does: str) -> Parameter:
    """Return an option without a value."""
    return option(name, f"--{name.replace('_', '-')}", help=does, is_flag=True)


def texts(name: str, does: str) -> Parameter:
    """Return an option that can be given several times."""
    return option(name, f"--{name.replace('_', '-')}", help=does, metavar="TEXT", multiple=True)


SCOPE = text("scope", "The scope.", kind=OneOf(SCOPES, code="memory.scope.invalid"))
AGENT = text("agent_name", "An agent; its memories count, too.")
SELECTOR = (
    SCOPE,
    AGENT,
    text(
        "agent_tier", "The agent's tier (default: workspace).",
        kind=OneOf(TIERS, code="memory.scope.agent_tier_invalid"),
    ),
)  # fmt: skip
ONE_SCOPE = text("scope", "The scope (default: all).", kind=OneOf(("global", "workspace"), code="memory.scope.invalid"))
TYPE = OneOf(TYPES)
FILENAME = place("filename", "The file of the memory, with or without .md.")
SESSION, IN_SESSION = place("session_id", "The session."), text("session_id", "The session.")
DRY_RUN = flag("dry_run", "Show the decision, and write nothing.")
SYSTEM = flag("include_system", "Include the files of _system.")
KEY = text("idempotency_key", "Of all calls with the same key, only the first is carried out.")


def content(does: str, *, required: bool = True) -> Parameter:
    """Return the option for the text of something."""
    return text("content", f"{does}; @FILE reads a file, - standard input.", required=required, kind=ContentText())
