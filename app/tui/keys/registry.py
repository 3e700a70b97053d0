"""Every action of the application, once: its stable id, its keys, who does it, and the words people read.

Key bindings, the hints of the footer, the help, the palette and `docs/keys.md` derive from this table. An action is
done by the function `method` of the module `app.tui.commands.<target>`, which gets the context and `arguments` and
returns a step; where `target` is a part of the application, by that method of it. `needs` names what must be there for
it (see `app.tui.commands.conditions`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from widgets.panes import all_panes

if TYPE_CHECKING:
    from app.tui.steps import Step


class Action(NamedTuple):
    """One action; `words` is what the footer says, `description` one sentence for help and palette.

    `keys` are names as Textual writes them; without any it is reached from the palette only. `shown` puts it into
    the footer while it means something, in these `panes` only if there are any: the key works in the others, too.
    `bulk` says that it is done to all selected entries; while some are selected, the footer shows such actions only.
    `said` has for a pane what the action is called there, and its sentence.
    """

    id: str
    keys: tuple[str, ...]
    target: str
    method: str
    words: str
    description: str
    group: str
    arguments: tuple[str | int, ...] = ()
    needs: str = "workspace"
    shown: bool = False
    panes: tuple[str, ...] = ()
    bulk: bool = False
    said: tuple[tuple[str, str, str], ...] = ()

    def words_in(self, pane: str) -> str:
        """What it is called in a pane."""
        return next((words for name, words, _ in self.said if name == pane), self.words)

    def sentence_in(self, pane: str) -> str:
        """What it does in a pane."""
        return next((sentence for name, _, sentence in self.said if name == pane), self.description)


PARTS = frozenset({"navigation", "consent", "searching", "drafting", "overlays", "changing", "jobs", "looking"})
"""The targets that are parts of the application."""


def _pane_actions() -> Iterator[Action]:
    for pane in all_panes():
        yield Action(
            f"pane.{pane.id}",
            (pane.key,) if pane.key else (),
            "navigation",
            "open_pane",
            pane.title,
            f"Open the pane {pane.title}",
            "Panes",
            (pane.id,),
        )


_ENTRY, _TASK, _LIST, _HISTORY, _CONSENT = "Entries", "Tasks", "List", "History", "Consent"
_UPKEEP, _PANE, _APP, _TYPED = "Maintenance", "Panes", "Application", "Typed memory"
_RUN, _STATE = "Running", "Project state"

ACTIONS: tuple[Action, ...] = (
    Action(
        "view.leave",
        ("escape",),
        "navigation",
        "leave",
        "back",
        "Leave the detail, then the filter; else take a message away",
        _ENTRY,
        needs="leave",
        shown=True,
    ),
    Action(
        "state.recall",
        ("n",),
        "state",
        "recall",
        "recall",
        "Take what events say into the state of the project; shows first what that changes",
        _STATE,
        needs="state",
        shown=True,
    ),
    Action(
        "entry.add", ("a",), "entries", "add", "add", "Add an entry with a form", _ENTRY, needs="adding", shown=True
    ),
    Action(
        "entry.edit", ("e",), "entries", "edit", "edit", "Edit the entry in a form", _ENTRY, needs="editing", shown=True
    ),
    Action(
        "change.revert",
        ("X",),
        "revert",
        "revert",
        "take back",
        "Take back the change under the cursor, whoever made it; shows first what that does",
        _HISTORY,
        needs="change",
        shown=True,
    ),
    Action(
        "entry.restore",
        ("B",),
        "revert",
        "restore",
        "bring back",
        "Bring the archived entry back to where it came from, or a change that another program's save took back",
        _HISTORY,
        needs="archived",
        shown=True,
    ),
    Action(
        "run.now",
        ("R",),
        "run",
        "run",
        "run",
        "Run the monitor now, or the task's action; asks for consent first",
        _RUN,
        needs="run",
        shown=True,
        bulk=True,
        said=(
            ("state", "run commands", "Run the validation commands, and note how they ended; asks for consent first"),
        ),
    ),
    Action(
        "run.mute",
        ("m",),
        "run",
        "mute",
        "mute",
        "Send no messages about the monitor for a while",
        _RUN,
        needs="monitor",
        shown=True,
        bulk=True,
    ),
    Action(
        "trust.review",
        ("T",),
        "consent",
        "review",
        "approve",
        "Look at what the monitor or task wants to run, and approve or deny it; elsewhere at what all monitors want",
        _CONSENT,
        shown=True,
        panes=("monitors", "brief"),
        bulk=True,
    ),
    Action(
        "knowledge.move",
        ("F",),
        "journal",
        "move_line",
        "move",
        "Move the line to another section or topic",
        _ENTRY,
        needs="fact",
        shown=True,
        bulk=True,
    ),
    Action(
        "task.start",
        ("s",),
        "tasks",
        "start",
        "start",
        "Start the task",
        _TASK,
        needs="task.start",
        shown=True,
        bulk=True,
    ),
    Action(
        "task.done",
        ("d",),
        "tasks",
        "done",
        "done",
        "Finish the task; asks for the outcome",
        _TASK,
        needs="task.open",
        shown=True,
        bulk=True,
    ),
    Action(
        "task.progress",
        ("p",),
        "tasks",
        "progress",
        "progress",
        "Say how far the task is, in percent, and a note",
        _TASK,
        needs="task.progress",
        shown=True,
        bulk=True,
    ),
    Action(
        "task.reopen",
        ("r",),
        "tasks",
        "reopen",
        "reopen",
        "Put a started or finished task back to Pending",
        _TASK,
        needs="task.reopen",
        shown=True,
        bulk=True,
    ),
    Action(
        "task.right",
        ("greater_than_sign", "shift+right"),
        "tasks",
        "move",
        "move on",
        "Move the card to the next column: start or finish the task",
        _TASK,
        (1,),
        "board",
        shown=True,
    ),
    Action(
        "task.left",
        ("less_than_sign", "shift+left"),
        "tasks",
        "move",
        "move back",
        "Move the card to the column before: reopen the task",
        _TASK,
        (-1,),
        "board",
        shown=True,
    ),
    Action(
        "list.filter",
        ("slash",),
        "filter_and_sort",
        "filter_words",
        "filter",
        "Filter the list as you type",
        _LIST,
        needs="pane",
        shown=True,
    ),
    Action(
        "app.search",
        ("ctrl+f",),
        "searching",
        "open",
        "search",
        "Search everything: all files and the archive",
        _LIST,
    ),
    Action(
        "view.board",
        ("b",),
        "views",
        "board",
        "board",
        "Show the tasks as a board, the journal's day on its hours",
        _LIST,
        needs="blocks",
        shown=True,
        said=(("tasks", "board", "Show the tasks as a board"), ("journal", "day", "Show the day on its hours")),
    ),
    Action(
        "view.calendar",
        ("c",),
        "views",
        "calendar",
        "calendar",
        "Show the tasks as a calendar, the journal as a year",
        _LIST,
        needs="calendar",
        shown=True,
        said=(("tasks", "calendar", "Show the tasks as a calendar"), ("journal", "year", "Show the year as a map")),
    ),
    Action(
        "draft.resume",
        ("w",),
        "drafting",
        "resume",
        "open draft",
        "Go on with a form that was never saved",
        _ENTRY,
        needs="draft",
        shown=True,
    ),
    Action(
        "view.arrange",
        ("z",),
        "views",
        "arrange",
        "group and sort",
        "Group and sort",
        _LIST,
        needs="arranges",
        shown=True,
        panes=("tasks",),
    ),
    Action(
        "upkeep.archive",
        ("A",),
        "maintenance",
        "archive",
        "archive old",
        "Archive tasks that were completed a while ago; shows its plan first",
        _UPKEEP,
        shown=True,
        panes=("tasks",),
    ),
    Action(
        "app.palette",
        ("colon",),
        "overlays",
        "palette",
        "command",
        "Find any action by its name",
        _APP,
        needs="",
        shown=True,
    ),
    Action(
        "app.help",
        ("question_mark",),
        "overlays",
        "help",
        "help",
        "Show what every key does here",
        _APP,
        needs="",
        shown=True,
    ),
    Action(
        "change.undo",
        ("u",),
        "changing",
        "undo",
        "undo",
        "Take back your last change",
        _ENTRY,
        needs="undo",
        shown=True,
    ),
    Action(
        "change.redo",
        ("U",),
        "changing",
        "redo",
        "redo",
        "Bring back what you undid last",
        _ENTRY,
        needs="redo",
        shown=True,
    ),
    Action(
        "entry.source",
        ("E",),
        "entries",
        "edit_source",
        "edit source",
        "Edit the entry's text in $EDITOR",
        _ENTRY,
        needs="source",
    ),
    Action(
        "entry.remove",
        ("x",),
        "entries",
        "remove",
        "remove",
        "Remove the selected entries; asks first",
        _ENTRY,
        needs="removing",
        bulk=True,
    ),
    Action(
        "entry.follow",
        ("o",),
        "navigation",
        "follow",
        "follow link",
        "Follow the first link of the entry",
        _ENTRY,
        needs="item",
    ),
    Action(
        "journal.mentions",
        ("O",),
        "journal",
        "mentions",
        "mentions",
        "List every journal entry that mentions the task, plan or monitor",
        _ENTRY,
        needs="mentioned",
    ),
    Action(
        "facts.inject",
        ("i",),
        "inject",
        "inject",
        "inject",
        "Show what a message would inject into a prompt",
        "Facts",
        needs="facts",
        shown=True,
    ),
    Action(
        "entry.history",
        ("H",),
        "versions",
        "show",
        "history",
        "Show the versions of the entry, who made them, and bring one back",
        _HISTORY,
        needs="versions",
    ),
    Action(
        "draft.discard",
        (),
        "drafting",
        "discard",
        "discard draft",
        "Throw away a form that was never saved; asks first",
        _ENTRY,
        needs="draft",
    ),
    Action(
        "task.raise", ("plus",), "tasks", "shift", "raise", "Raise the task's priority", _TASK, (1,), "task", bulk=True
    ),
    Action(
        "task.lower",
        ("minus",),
        "tasks",
        "shift",
        "lower",
        "Lower the task's priority",
        _TASK,
        (-1,),
        "task",
        bulk=True,
    ),
    Action("task.due", ("D",), "tasks", "due", "due", "Set when the task is due", _TASK, needs="task", bulk=True),
    Action(
        "task.assign", ("at",), "tasks", "assign", "assign", "Say who does the task", _TASK, needs="task", bulk=True
    ),
    Action("task.why", ("W",), "tasks", "why", "why", "Say how urgent the task is, and why", _TASK, needs="task"),
    Action("task.copy", (), "tasks", "duplicate", "duplicate", "Make a copy of the task", _TASK, needs="task"),
    Action("task.split", (), "tasks", "split", "split", "Make several tasks of one, a line each", _TASK, needs="task"),
    Action("task.plan", (), "tasks", "plan", "plan", "Say which plan the task belongs to", _TASK, needs="task"),
    Action("task.note", (), "tasks", "note", "note", "Write about the task into the journal", _TASK, needs="task"),
    Action("task.tags", ("t",), "tasks", "tags", "tags", "Set the task's tags", _TASK, needs="task", bulk=True),
    Action(
        "entry.copy_ref",
        ("y",),
        "entries",
        "copy_ref",
        "copy ref",
        "Copy the ref of the entry",
        _ENTRY,
        needs="item",
        bulk=True,
    ),
    Action(
        "entry.copy",
        ("Y",),
        "entries",
        "copy_entry",
        "copy entry",
        "Copy the entry's text",
        _ENTRY,
        needs="item",
        bulk=True,
    ),
    Action(
        "list.fields",
        ("f",),
        "filter_and_sort",
        "filter_fields",
        "filter by field",
        "Filter by a field, for example tag:infra priority:high",
        _LIST,
        needs="fields",
    ),
    Action(
        "journal.capture", ("J",), "journal", "capture", "jot", "Write one line into the journal, from any pane", _ENTRY
    ),
    Action("task.quick", ("Q",), "tasks", "quick", "quick", "Add a task in one line, from any pane", _TASK),
    Action("view.saved", ("V",), "views", "saved", "views", "Open or keep a view under a name", _LIST, needs="keeps"),
    Action(
        "list.sort", ("S",), "filter_and_sort", "sort", "sort", "Choose the order, also reversed", _LIST, needs="sorts"
    ),
    Action(
        "upkeep.prune",
        ("P",),
        "maintenance",
        "prune",
        "prune",
        "Move old journal entries to the archive; shows its plan first",
        _UPKEEP,
    ),
    Action(
        "upkeep.maintain",
        ("M",),
        "maintenance",
        "maintain",
        "maintain",
        "All maintenance rules at once, those of facts, agents and the project's state too; shows its plan first",
        _UPKEEP,
    ),
    Action(
        "run.stop",
        ("K",),
        "jobs",
        "stop",
        "stop",
        "Stop the checks and actions that run now",
        _RUN,
        needs="jobs",
        shown=True,
    ),
    Action(
        "trust.all",
        (),
        "consent",
        "review_all",
        "approve all one by one",
        "Look at everything that waits for an approval, one after the other",
        _CONSENT,
    ),
    Action(
        "trust.workspace",
        (),
        "consent",
        "review_workspace",
        "approve outgoing checks",
        "Approve the workspace for checks of public addresses",
        _CONSENT,
    ),
    Action(
        "typed.promote",
        ("greater_than_sign",),
        "typed",
        "promote",
        "promote",
        "Move the file up to core, and list it in the Aidefile; asks where to",
        _TYPED,
        needs="typed",
        shown=True,
    ),
    Action(
        "typed.demote",
        ("less_than_sign",),
        "typed",
        "demote",
        "demote",
        "Move the file down, and take it from the core files of the Aidefile; asks where to",
        _TYPED,
        needs="typed",
        shown=True,
    ),
    Action(
        "typed.lock",
        ("L",),
        "typed",
        "lock",
        "lock",
        "Lock the file for other programs, or unlock what you locked",
        _TYPED,
        needs="typed",
        shown=True,
    ),
    Action(
        "typed.prune",
        ("C",),
        "typed",
        "prune",
        "prune agent",
        "Delete what is too old of the agent's files; shows its plan first",
        _TYPED,
        needs="typed",
        shown=True,
    ),
    Action(
        "state.sync",
        ("I",),
        "state",
        "sync",
        "import",
        "Import new sessions of the source under the cursor, elsewhere of all sources",
        _STATE,
        needs="state",
        shown=True,
    ),
    Action(
        "state.compare",
        ("equals_sign",),
        "state_checks",
        "compare",
        "compare",
        "Compare two selected checkpoints, or the one under the cursor with the latest",
        _STATE,
        needs="state.point",
        shown=True,
        bulk=True,
    ),
    Action(
        "state.update",
        ("N",),
        "state",
        "update",
        "renew",
        "Renew the state from the repository as it is, or make the first one",
        _STATE,
        needs="state.any",
        shown=True,
    ),
    Action(
        "state.validate",
        ("exclamation_mark",),
        "state_checks",
        "validate",
        "check",
        "Look at everything of the state, and list what is wrong by its code",
        _STATE,
        needs="state",
        shown=True,
    ),
    Action(
        "state.ask",
        ("quotation_mark",),
        "state_checks",
        "ask",
        "ask",
        "Ask a question; it is answered from the state and its history, with citations",
        _STATE,
        needs="state",
        shown=True,
    ),
    Action(
        "state.repair",
        ("asterisk",),
        "state_checks",
        "repair",
        "repair",
        "Mend what is damaged of the state; shows its plan first",
        _STATE,
        needs="state",
        shown=True,
    ),
    Action(
        "state.recall_part",
        ("percent_sign",),
        "state",
        "recall_part",
        "recall part",
        "Recall imported sessions, local events or one section alone; shows first what that changes",
        _STATE,
        needs="state",
        shown=True,
    ),
    *_pane_actions(),
    Action(
        "focus.next",
        ("tab",),
        "navigation",
        "next_part",
        "switch",
        "Go from the list to its entry, through the links there, and back to the list",
        _PANE,
        (1,),
        needs="pane",
    ),
    Action(
        "focus.previous",
        ("shift+tab",),
        "navigation",
        "next_part",
        "switch back",
        "Go the same way backwards",
        _PANE,
        (-1,),
        needs="pane",
    ),
    Action("focus.detail", ("right", "l"), "navigation", "to_entry", "entry", "Go to the entry", _PANE, needs="pane"),
    Action("pane.next", (), "navigation", "next_pane", "next pane", "Open the next pane", _PANE, (1,)),
    Action("pane.previous", (), "navigation", "next_pane", "pane before", "Open the pane before", _PANE, (-1,)),
    Action(
        "pane.back",
        ("left_square_bracket",),
        "navigation",
        "back",
        "back",
        "Go back to where you were; at the start of the way, open the pane before",
        _PANE,
    ),
    Action(
        "pane.forward",
        ("right_square_bracket",),
        "navigation",
        "forward",
        "forward",
        "Go forward again; at the end of the way, open the next pane",
        _PANE,
    ),
    Action(
        "view.zoom",
        ("Z",),
        "navigation",
        "zoom",
        "zoom",
        "Give the list the whole width, or list and entry their parts again",
        _PANE,
        needs="pane",
    ),
    Action(
        "view.jump",
        ("semicolon",),
        "overlays",
        "jump",
        "jump",
        "Go to a row, pane or link by the letters beside it",
        _PANE,
        needs="pane",
    ),
    Action(
        "view.widget_help", ("f1",), "overlays", "widget_help", "help here", "Explain the focused part", _APP, needs=""
    ),
    Action(
        "app.theme",
        (),
        "overlays",
        "themes",
        "theme",
        "Choose the colours (theme): dark, light, high contrast and more",
        _APP,
        needs="",
    ),
    Action(
        "app.problem",
        (),
        "navigation",
        "problem",
        "problem",
        "Go to the first problem in the files",
        _PANE,
    ),
    Action("app.reload", (), "looking", "reload", "reload", "Read the files again now", _APP),
    Action("app.quit", ("q",), "overlays", "quit", "quit", "Leave memdeck", _APP, needs=""),
)
"""All actions; those that are shown stand in the order of the footer."""

BY_ID: dict[str, Action] = {action.id: action for action in ACTIONS}
"""Actions by their id."""

PINNED = ("view.leave", "entry.add", "entry.edit", "list.filter", "app.help", "app.palette")
"""Hints that stay in the footer at every width."""


def command_of(action: Action) -> Callable[..., Step]:
    """Return the function of an action; its module is imported with its first use."""
    command: Callable[..., Step] = getattr(import_module(f"app.tui.commands.{action.target}"), action.method)
    return command
