"""Keys that mean something elsewhere: why they do nothing here, in a few words instead of silence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.tui.commands.conditions import allows
from widgets.chrome.footer import with_keys

from .registry import ACTIONS

if TYPE_CHECKING:
    from app.tui.commands.context import Context
    from app.tui.shell import Shell

    from .registry import Action

WHY: dict[str, str] = {
    "undo": "Nothing to undo.",
    "redo": "Nothing to redo.",
    "task.start": "Only a pending task can be started.",
    "task.open": "This is no open task.",
    "task.progress": "Progress is of a task that was started: {task.start|s} starts it.",
    "task.reopen": "Only a started or finished task can be reopened.",
    "task": "This is no task.",
    "adding": "Nothing is added in this pane.",
    "editing": "There is nothing here to edit in a form.",
    "removing": "There is nothing here to remove.",
    "run": "There is nothing here to run: no monitor, and no open task with an action.",
    "monitor": "This is no monitor.",
    "calendar": "Tasks have a calendar, and the journal a year.",
    "tasks": "The board is of the tasks: {pane.tasks|2} shows them.",
    "fact": "Only lines of Knowledge are moved to another section.",
    "change": "Changes are taken back in Changes: {pane.changes|0} shows them.",
    "archived": "Only archived entries are brought back.",
    "versions": "This has no history of its own.",
    "source": "There is no text here to edit in an editor.",
    "jobs": "No check and no action runs now, so there is none to stop.",
    "arranges": "Only tasks are grouped.",
    "sorts": "This list has one order only.",
    "keeps": "Views are kept where a list has several orders.",
    "fields": "Nothing here has fields to filter by; {list.filter|/} filters by words.",
    "blocks": "Tasks have a board, and the journal a day.",
    "board": "Only cards of the board are moved: {pane.tasks|2} and {view.board|b} show it.",
    "draft": "No form was left without saving it.",
    "mentioned": "The journal can mention tasks, plans and monitors.",
    "facts": "Only facts are put into a prompt.",
    "typed": "Only typed memory is promoted, demoted, locked and pruned.",
    "state": "This is of the state of a project: {pane.state|palette} shows it.",
    "state.any": "Only the state of a project is renewed.",
    "state.point": "Only checkpoints of a state are compared.",
    "curated": "This is of curated memory: {pane.curated|palette} shows it.",
    "curated.decision": "Only decisions that changed a memory are taken back.",
    "review": "Only proposals of agents are accepted: {pane.inbox|palette} shows them.",
    "prompt": "This is of what agents are told: {pane.prompt|palette} shows it.",
    "prompt.entry": "Only entries that agents are told of are pinned and muted: {pane.prompt|palette} shows them.",
    "item": "There is no entry here.",
}
"""Why an action means nothing, by what it needs."""

CALENDAR = "In the calendar the days are the order; {view.calendar|c} goes back to the list, which has others."

PLANS = "Plans are written by agents; {entry.follow|o} opens what is linked."
_OF_PLANS = ("task", "task.start", "task.open", "task.progress", "task.reopen", "adding", "editing", "removing", "run")


def why_dead(app: Shell, context: Context, key: str) -> str:
    """Why a key does nothing in the pane that is open; empty where it does something, or never means anything."""
    found = [action for action in ACTIONS if key in app.keymap.keys(action.id, action.keys)]
    pane = app.pane
    if not found or pane is None or pane.contents is None or any(allows(context, action.needs) for action in found):
        return ""
    return with_keys(_words(found[0], pane.pane_id), app)


def _words(action: Action, pane_id: str) -> str:
    if action.needs in ("sorts", "arranges") and pane_id == "tasks":
        return CALENDAR
    return PLANS if pane_id == "plans" and action.needs in _OF_PLANS else WHY.get(action.needs, "")
