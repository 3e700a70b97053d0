"""Every command of the application, once: its stable id, its keys, what does it, and its word in the footer.

Key bindings, the hints of the footer, the help, the palette and `docs/keys.md` derive from this table. `does` names a
function of a module in `app.tui.commands`, which gets the application, or a method of one of its parts. The first line
of its docstring is the command's sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from widgets.chrome.keys import with_keys
from widgets.panes import GROUPS as SHARED
from widgets.panes import all_panes, digits

from . import conditions as on
from .conditions import Condition, Situation

if TYPE_CHECKING:
    from textual.app import App


class Command(NamedTuple):
    """One command; `words` is its name in the footer.

    `keys` are names as Textual writes them; without keys only the palette reaches it. `needs` also says why the command
    is not available. `shown` adds it to the footer while it is available, and only in `panes` if there are any: the key
    works in the others, too. `bulk`: it is done to all selected entries; while some are selected, the footer shows such
    commands only. `said` has the command's name and sentence by pane or part of one, where they differ. `sentence`
    replaces the docstring's.
    """

    id: str
    keys: tuple[str, ...]
    does: str
    words: str
    needs: Condition
    group: str
    arguments: tuple[str | int, ...] = ()
    shown: bool = False
    panes: tuple[str, ...] = ()
    bulk: bool = False
    said: Mapping[str, tuple[str, str]] = {}
    sentence: str = ""

    @property
    def description(self) -> str:
        """What it does, in one sentence for help and palette."""
        return self.sentence or (function_of(self.does).__doc__ or "").partition("\n")[0].rstrip(".")

    def run(self, app: Any) -> None:
        """Do it: call a function with the application, or a method of one of its parts."""
        owner = self.does.partition(".")[0]
        function_of(self.does)(app.part(owner) if owner in PARTS else app, *self.arguments)

    def words_in(self, *places: str) -> str:
        """Return its name in a pane, or in a part of it."""
        return next((self.said[name][0] for name in places if name in self.said), self.words)

    def sentence_in(self, pane: str) -> str:
        """Return its sentence in a pane."""
        return self.said[pane][1] if pane in self.said else self.description


PARTS = {
    "fleet": "app.tui.live.fleet:AllWorkspaces",
    "form_drafts": "app.tui.forms.drafts:FormDrafts",
    "form_session": "app.tui.forms.form_session:FormSession",
    "jobs": "app.tui.live.background:Jobs",
    "navigation": "app.tui.navigation:Navigation",
    "outside_changes": "app.tui.live.outside_changes:OutsideChanges",
    "overview": "app.tui.live.overview:OverviewPart",
    "pane_state": "app.tui.pane_state:PaneState",
    "prompts": "app.tui.live.prompts:PromptSource",
    "proposals": "app.tui.live.proposals:AgentProposals",
    "refresher": "app.tui.live.refresh:Refresher",
    "schedule": "app.tui.live.background:Schedule",
    "search_queries": "app.tui.search.queries:SearchQueries",
    "type_ahead": "app.tui.keys.type_ahead:TypeAhead",
}
"""The parts of the application, each with its class; some of their methods do commands."""

GROUPS = {
    "task": "Tasks",
    "list": "List",
    "view": "List",
    "review": "History",
    "change": "History",
    "run": "Running",
    "trust": "Consent",
    "upkeep": "Maintenance",
    "app": "Application",
    "memory": "Agent memory",
    "prompt": "What agents are told",
    "pane": "Panes",
    "focus": "Panes",
    "fleet": "Panes",
    "app.search": "List",
    "entry.restore": "History",
    "entry.history": "History",
    "view.leave": "Entries",
    "view.jump": "Panes",
    "view.widget_help": "Application",
}
"""The groups of the help, by a command's id or its first word; other ids are in the group of entries."""


SAID: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "app.search": {"fleet": ("search all", "Search all workspaces")},
    "entry.source": {"waiting": ("edit", "Edit the proposed text in $EDITOR")},
    "memory.next": {"curated": ("check", "Check what sessions suggest, and add it")},
    "review.accept": {"waiting.approvals": ("approve", ""), "waiting.removals": ("restore", "")},
    "review.reject": {
        "waiting.approvals": ("deny", ""), "waiting.removals": ("dismiss", ""), "waiting.decided": ("revert", ""),
    },
    "view.calendar": {
        "journal": ("year", "Show the year as a map"), "tasks": ("calendar", "Show the tasks as a calendar"),
    },
}  # fmt: skip
"""What commands are called in a pane, or in a part of one, where that differs: the name and the sentence."""


@cache
def function_of(does: str) -> Callable[..., Any]:
    """Return the function or method that does a command; its module is imported when it is first used."""
    target, _, name = does.partition(".")
    owner = found_at(PARTS[target]) if target in PARTS else import_module(f"app.tui.commands.{target}")
    function: Callable[..., Any] = getattr(owner, name)
    return function


@cache
def found_at(place: str) -> Any:
    """Return what `module:name` names; the module is imported when that is first asked."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def _command(
    id: str,  # noqa: A002
    keys: str,
    does: str,
    words: str,
    needs: Condition = on.WORKSPACE,
    **more: Any,
) -> Command:
    group = GROUPS.get(id) or GROUPS.get(id.partition(".")[0], "Entries")
    return Command(id, tuple(keys.split()), does, words, needs, group, said=SAID.get(id, {}), **more)


def _pane_commands() -> Iterator[Command]:
    """Yield a command for each digit, and one without a key for each further tab."""
    opened = set[str]()
    for digit, pane in digits():
        name = "memory" if digit in SHARED else pane.id
        opened.add(name)
        title = SHARED.get(digit, pane.title)
        others = " and ".join(one.title for one in all_panes() if one.key == digit and one is not pane)
        again = "its next tab" if digit in SHARED else others
        yield _command(
            f"pane.{name}",
            digit,
            "navigation.open_digit",
            title,
            arguments=(digit,),
            sentence=f"Open {title}; again: {again}" if again else f"Open {title}",
        )
    for pane in all_panes():
        if pane.id not in opened and pane.key.isdigit():
            does, sentence = "navigation.open_pane", f"Open {pane.title}"
            yield _command(f"pane.{pane.id}", "", does, pane.title, arguments=(pane.id,), sentence=sentence)


COMMANDS: tuple[Command, ...] = (
    _command("view.leave", "escape", "navigation.leave", "back", on.LEAVE, shown=True),
    _command("review.accept", "a", "review.accept", "accept", on.UNDECIDED, shown=True, bulk=True),
    _command("review.reject", "r", "review.reject", "reject", on.REVIEW, shown=True, bulk=True),
    _command("entry.add", "a", "entries.add", "add", on.ADDING, shown=True),
    _command("entry.edit", "e", "entries.edit", "edit", on.EDITING, shown=True),
    _command("change.revert", "X", "undo.revert", "revert", on.CHANGE, shown=True),
    _command("entry.restore", "B", "undo.restore", "restore", on.ARCHIVED, shown=True),
    _command("run.now", "R", "run.run", "run", on.RUN, shown=True, bulk=True),
    _command("memory.next", "R", "operations.next_step", "do next", on.NEXT_STEP, shown=True),
    _command("memory.prune", "P", "operations.prune", "prune", on.PRUNED, shown=True),
    _command("prompt.leave", "escape", "prompt.leave", "back", on.PROMPT_VIEW, shown=True),
    _command("prompt.message", "e", "prompt.message", "message", on.PROMPT, shown=True),
    _command("prompt.pin", "p", "prompt.pin", "pin", on.PROMPT_ENTRY, shown=True, bulk=True),
    _command("prompt.mute", "m", "prompt.mute", "mute", on.PROMPT_ENTRY, shown=True, bulk=True),
    _command("prompt.agent", "i", "prompt.agent", "agent", on.PROMPT, shown=True),
    _command("prompt.balance", "b", "prompt.balance", "balance", on.PROMPT, shown=True),
    _command("run.mute", "m", "run.mute", "mute", on.MONITOR, shown=True, bulk=True),
    _command(
        "trust.review",
        "T",
        "consent.review",
        "approve",
        on.APPROVAL,
        shown=True,
        bulk=True,
        panes=("monitors", "brief", "typed"),
    ),
    _command("task.start", "s", "tasks.start", "start", on.TASK_START, shown=True, bulk=True),
    _command("task.done", "d", "tasks.done", "done", on.TASK_OPEN, shown=True, bulk=True),
    _command("task.progress", "p", "tasks.progress", "progress", on.TASK_PROGRESS, shown=True, bulk=True),
    _command("task.reopen", "r", "tasks.reopen", "reopen", on.TASK_REOPEN, shown=True, bulk=True),
    _command("list.filter", "slash", "views.filter_words", "filter", on.PANE, shown=True),
    _command("app.search", "ctrl+f", "search_queries.open", "search", on.WORKSPACE, shown=True, panes=("fleet",)),
    _command("view.board", "b", "views.board", "board", on.BLOCKS, shown=True),
    _command("view.calendar", "c", "views.calendar", "calendar", on.CALENDAR, shown=True),
    _command("task.left", "shift+left", "tasks.move_back", "left", on.BOARD, shown=True),
    _command("task.right", "shift+right", "tasks.move_on", "right", on.BOARD, shown=True),
    _command("draft.resume", "w", "form_session.resume_left", "open draft", on.DRAFT, shown=True),
    _command("view.arrange", "z", "views.arrange", "group and sort", on.SORTS, shown=True, panes=("tasks",)),
    _command("upkeep.archive", "A", "operations.archive_old", "archive old", shown=True, panes=("tasks",)),
    _command("app.palette", "colon", "screens.palette", "command", on.ALWAYS, shown=True),
    _command("app.help", "question_mark", "screens.help", "help", on.ALWAYS, shown=True),
    _command("change.undo", "u", "undo.undo", "undo", on.UNDO, shown=True),
    _command("change.redo", "U", "undo.redo", "redo", on.REDO, shown=True),
    _command("entry.source", "E", "entries.edit_source", "edit source", on.SOURCE),
    _command("entry.remove", "x", "entries.remove", "remove", on.REMOVING, shown=True, bulk=True),
    _command("entry.follow", "o", "navigation.follow", "follow link", on.ITEM),
    _command("entry.history", "H", "navigation.changes_of_entry", "history", on.HISTORY, shown=True),
    _command("draft.discard", "", "form_drafts.discard", "discard draft", on.DRAFT),
    _command("task.raise", "plus", "tasks.higher", "raise", on.TASK, shown=True, bulk=True),
    _command("task.lower", "minus", "tasks.lower", "lower", on.TASK, shown=True, bulk=True),
    _command("task.due", "D", "tasks.due", "due", on.TASK, shown=True, bulk=True),
    _command("task.assign", "i", "tasks.assign", "assign", on.TASK, shown=True, bulk=True),
    _command("task.tags", "t", "tasks.tags", "tags", on.TASK, shown=True, bulk=True),
    _command("entry.settle", "C", "proof.settle", "settle", on.DOUBT, shown=True),
    _command("entry.copy_ref", "y", "entries.copy_ref", "copy ref", on.ITEM, bulk=True),
    _command("entry.copy", "Y", "entries.copy_entry", "copy entry", on.ITEM, shown=True, bulk=True),
    _command("list.fields", "f", "views.filter_fields", "filter by field", on.FIELDS),
    _command(
        "journal.capture",
        "J",
        "operations.run",
        "new journal entry",
        arguments=("journal add",),
        sentence="Add a journal entry from any pane",
    ),
    _command("task.quick", "Q", "tasks.quick", "quick add", shown=True, panes=("tasks",)),
    _command("list.next", "n", "views.next_match", "next match", on.FILTERED),
    _command("list.previous", "N", "views.previous_match", "previous match", on.FILTERED),
    _command("list.sort", "S", "views.sort", "sort", on.SORTS, shown=True),
    _command("upkeep.prune", "P", "operations.prune_journal", "prune", on.NOT_MEMORY),
    _command("upkeep.maintain", "M", "operations.maintain", "maintain"),
    _command("run.stop", "K", "jobs.stop", "stop", on.JOBS, shown=True),
    _command("trust.all", "", "consent.review_all", "approve all one by one"),
    *_pane_commands(),
    _command("focus.next", "tab", "navigation.next_part", "switch", on.PANE),
    _command("focus.previous", "shift+tab", "navigation.previous_part", "switch back", on.PANE),
    _command("focus.detail", "right l", "navigation.to_entry", "entry", on.PANE),
    _command("pane.back", "left_square_bracket", "navigation.back", "back"),
    _command("pane.forward", "right_square_bracket", "navigation.forward", "forward"),
    _command("fleet.switch", "tilde", "fleet.switch", "workspaces", on.WORKSPACE),
    _command("view.jump", "L", "screens.jump", "jump", on.PANE),
    _command(
        "view.widget_help",
        "f1",
        "screens.help",
        "explain",
        on.ALWAYS,
        sentence="Explain what has the focus; press again to close",
    ),
    _command("app.theme", "", "screens.themes", "theme", on.ALWAYS),
    _command("app.quit", "q", "screens.quit", "quit", on.ALWAYS),
)
"""All commands; those shown are in the order of the footer."""

BY_ID: dict[str, Command] = {command.id: command for command in COMMANDS}
"""Commands by their id."""

PINNED = ("change.undo", "list.filter", "app.palette", "app.help")
"""Hints at the right end of the footer; the first ones give way in a narrow terminal."""


OPEN = "list.open"
"""The id of the key of lists that opens the row under the cursor."""


CONDITIONS = tuple(dict.fromkeys(command.needs for command in COMMANDS))
"""The conditions of all commands, each once."""


def live_actions(now: Situation) -> list[Command]:
    """Return the available actions; each condition is checked once."""
    held = now.held(CONDITIONS)
    return [action for action in COMMANDS if action.needs in held]


def hint_names(now: Situation) -> dict[str, str]:
    """Return what the footer calls each available action, by id; empty if the footer leaves it out now."""
    places, found = (now.pane_id, f"{now.pane_id}.{getattr(now.item, 'part', '')}"), dict[str, str]()
    if now.pane is not None and now.item is not None:
        found[OPEN] = now.pane.enter_words
    for action in live_actions(now):
        needs = action.needs
        named = None if needs.named is None else needs.named(now, action.bulk)
        if named is None:
            named = action.bulk if now.selected and needs.about_entries else action.shown
            named = named and (not action.panes or now.pane_id in action.panes)
        words = action.words_in(*places) if action.said else action.words
        found[action.id] = words if named else ""
    return found


def reason(app: App[Any], action: Command, pane_id: str, *same: Command) -> str:
    """Return why an action cannot run now: the pane that it and those of the `same` key need, or why not here."""
    panes = action.needs.panes
    if not panes or pane_id in panes:
        return with_keys(action.needs.why, app)
    needed = {pane for one in (action, *same) for pane in one.needs.panes}
    *names, last = [f"{one.title} ({{pane.{one.id}|palette}})" for one in all_panes() if one.id in needed]
    return with_keys(f"Only works in {', '.join(names)}{' and ' if names else ''}{last}.", app)
