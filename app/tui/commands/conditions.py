"""When an action means something: what must be open, under the cursor, or selected for it, and why it means nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from widgets.pane.base import Pane

if TYPE_CHECKING:
    from memory.files.monitors import Monitor
    from memory.files.tasks.model import Task
    from memory.history.taken_back import Undone

    from .context import Context


class Situation:
    """The open pane and what is selected in it, at one look at the keys: whatever several conditions ask is found once.

    `pane` is None where no pane shows anything yet; `pane_id` is that of the open one all the same.
    """

    def __init__(self, context: Context) -> None:
        """Nothing was asked yet."""
        pane = context.pane
        self.context = context
        self.pane_id = "" if pane is None else pane.pane_id
        self.pane = pane if pane is not None and pane.contents is not None else None
        self._held: dict[Condition, bool] = {}

    @cached_property
    def item(self) -> Any | None:
        """The item under the cursor."""
        return None if self.pane is None else self.pane.current()

    @cached_property
    def items(self) -> tuple[Any, ...]:
        """The selected items, else the one under the cursor."""
        return () if self.pane is None else self.pane.selected()

    @cached_property
    def selected(self) -> int:
        """How many entries are selected, one after the other or as a range."""
        return 0 if self.pane is None else len(self.pane.line_list.selected)

    @cached_property
    def tasks(self) -> list[Task]:
        """The tasks that a task's key applies to."""
        return [] if self.pane is None else tasks_of(self.pane, self.items)

    @cached_property
    def sections(self) -> frozenset[str]:
        """The sections that hold those tasks."""
        return frozenset([task.section for task in self.tasks])

    @cached_property
    def monitors(self) -> list[Monitor]:
        """The monitors that a monitor's key applies to."""
        return [] if self.pane is None else monitors_of(self.pane, self.items)

    def holding(self, conditions: Collection[Condition]) -> list[Condition]:
        """Return those conditions that hold; each is asked once."""
        held, reads = self._held, self.pane is not None
        for condition in conditions:
            if condition not in held:
                held[condition] = (condition.everywhere or reads) and bool(condition.holds(self))
        return [condition for condition in conditions if held[condition]]

    def allows(self, condition: Condition) -> bool:
        """Whether a condition holds; it is asked once."""
        return bool(self.holding((condition,)))


@dataclass(frozen=True, eq=False, slots=True)
class Condition:
    """What must be there for an action; `why` says what is not, with `{action|key}` for keys.

    `everywhere`: it is asked also where no pane shows anything yet; `special`: it holds in some panes only;
    `about_entries`: while entries are selected, the footer names only actions that are done to all of them;
    `named`: whether the footer names an action whatever the action itself says, given whether it is one that is done to
    all selected entries; None: as the action says.
    """

    holds: Callable[[Situation], object]
    why: str = ""
    everywhere: bool = False
    special: bool = False
    about_entries: bool = True
    named: Callable[[Situation, bool], bool | None] | None = None


def tasks_of(pane: Pane, items: Sequence[Any] | None = None) -> list[Task]:
    """The tasks that a task's key applies to: selected ones, else the one under the cursor; none in other panes.

    The brief's rows lead to tasks and stand for them. `items`: what is selected, where that is known.
    """
    items = pane.selected() if items is None else items
    if pane.pane_id == "tasks":
        return list(items)
    if pane.pane_id == "brief":
        # Imported here: the brief is open, so that this is there already, and no start waits for it.
        from widgets.panes.brief.words import TASK_GROUPS

        return list({item.target: item.thing for item in items if item.group in TASK_GROUPS}.values())
    return []


MONITOR_GROUPS = ("alert", "waiting", "muted")
"""The groups of the brief whose rows are monitors; what waits may be something else."""


def monitors_of(pane: Pane, items: Sequence[Any] | None = None) -> list[Monitor]:
    """The monitors that a monitor's key applies to, as `tasks_of`."""
    items = pane.selected() if items is None else items
    if pane.pane_id == "monitors":
        return list(items)
    if pane.pane_id == "brief":
        rows = [item for item in items if item.group in MONITOR_GROUPS and item.monitor is not None]
        return list({item.target: item.monitor for item in rows}.values())
    return []


def draft_of(pane: Pane) -> str:
    """The id of the draft that the row under the cursor stands for; empty: it stands for none."""
    item = pane.current() if pane.pane_id == "brief" else None
    return item.target if item is not None and item.group == "draft" else ""


def action_of_pane(pane: Pane, tasks: Sequence[Task] | None = None) -> Task | None:
    """The open task with an action under the cursor; one at a time. `tasks`: those selected, where they are known."""
    tasks = tasks_of(pane) if tasks is None else tasks
    if len(tasks) != 1 or tasks[0].section not in ("pending", "in-progress") or tasks[0].action is None:
        return None
    return tasks[0]


def mentioned(pane: Pane) -> Any | None:
    """The task, plan or monitor under the cursor, which journal entries may mention; None: it is something else."""
    if pane.pane_id == "plans":
        item = pane.current()
        plan = getattr(item, "plan", item)
        return plan if hasattr(plan, "plan_id") else None
    found = [*tasks_of(pane), *monitors_of(pane)]
    return found[0] if len(found) == 1 else None


class Versioned(NamedTuple):
    """An entry whose history can be shown: by its ref, or (no ref) by the words of its line in a file."""

    title: str
    ref: str | None
    file: str = ""
    words: str = ""


def versioned(pane: Pane) -> Versioned | None:
    """The entry under the cursor if it has a history; None: it has none.

    A row of the brief stands for the entry that it leads to, a change for the first entry that it touched.
    """
    item = pane.current()
    if item is None:
        return None
    if pane.pane_id == "changes":
        return next((Versioned(one.title, one.ref) for one in item.entries if one.ref), None)
    ref = pane.copied_ref(item)
    kind, mark, _ = ref.partition("#")
    plan = getattr(item, "plan", None)
    whole = plan if plan is not None else item
    title = str(getattr(whole, "title", "") or getattr(whole, "name", ""))
    if mark and kind in VERSIONED:
        return Versioned(title, ref)
    found = [str(getattr(item, name, "") or "") for name in LINES.get(pane.pane_id, ())]
    words = next((text for text in found if text), "")
    return Versioned(words.split("\n")[0], None, pane.files[0], words) if words and hasattr(item, "line") else None


VERSIONED = ("tasks", "journal", "orchestration", "monitors")
"""The kinds of entries that keep a name of their own through the log."""

LINES = {"config": ("key",), "knowledge": ("text",), "contacts": ("name", "channel")}
"""What the line of an item is known by in panes whose items are single lines."""


def undone_of(context: Context) -> Undone | None:
    """What another program took back and a key would bring back: that of the row under the cursor, else the newest.

    None in the archive, where the key means its entry.
    """
    pane, waiting = context.pane, context.undone
    if pane is None or pane.pane_id == "archive":
        return None
    item = pane.current() if waiting and pane.contents is not None else None
    if pane.pane_id == "changes" and item is not None:
        return next((one for one in waiting if one.id == item.ref), None)
    if pane.pane_id == "brief" and item is not None and item.group == "lost":
        found: Undone = item.thing
        return found
    return next(iter(waiting), None)


def lost_of(pane: Pane) -> Undone | None:
    """What another program took back that the row under the cursor is about; None: it is about something else."""
    item = pane.current() if pane.pane_id == "brief" else None
    return item.thing if item is not None and item.group == "lost" else None


# What several conditions are made of


def _offers(pane: Pane, name: str) -> bool:
    """Whether a pane has a method of its own for something."""
    return getattr(type(pane), name) is not getattr(Pane, name)


def _in_sections(*sections: str) -> Callable[[Situation], bool]:
    """Whether a task is in one of these sections."""
    return lambda now: not now.sections.isdisjoint(sections)


def _sorts(now: Situation) -> bool:
    """Whether another order would be seen; a calendar has that of the days."""
    return len(now.pane.sorts) > 1 and getattr(now.pane, "calendar", None) is None  # type: ignore[union-attr]


def _in_tasks_or_journal(now: Situation) -> bool:
    return now.pane_id in ("tasks", "journal")


# What is asked of the application


def _holds_workspace(now: Situation) -> bool:
    """Whether a workspace is shown, and may be changed."""
    return now.context.workspace is not None and not now.context.shows_one_pane


# What is asked of the open pane


def _leave(now: Situation) -> bool:
    pane = now.pane
    assert pane is not None
    return pane.is_open or pane.detail_view.has_focus or pane.filter_bar.is_open or not pane.line_list.has_focus


def _editing(now: Situation) -> bool:
    assert now.pane is not None
    return now.item is not None and _offers(now.pane, "editing")


def _removing(now: Situation) -> bool:
    if now.item is None or now.pane is None:
        return False
    return now.pane_id == "inbox" or _offers(now.pane, "removing") or _stands_for_other(now)


def _stands_for_other(now: Situation) -> bool:
    """Whether the row of the brief under the cursor stands for a draft, or for what another program took back."""
    return now.pane is not None and (bool(draft_of(now.pane)) or lost_of(now.pane) is not None)


def _source(now: Situation) -> bool:
    assert now.pane is not None
    return now.item is not None and (now.pane_id == "inbox" or _offers(now.pane, "from_source"))


def _versions(now: Situation) -> bool:
    # Each task has a ref, and working one out takes a look at all others.
    assert now.pane is not None
    return now.item is not None if now.pane_id == "tasks" else versioned(now.pane) is not None


def _run(now: Situation) -> bool:
    assert now.pane is not None
    return bool(now.monitors) or action_of_pane(now.pane, now.tasks) is not None or _runs_commands(now.pane)


def _runs_commands(pane: Pane) -> bool:
    """Whether it is a state whose validation commands can be run."""
    look = getattr(pane, "state", lambda: None)() if pane.pane_id == "state" else None
    return look is not None and look.bundle is not None and bool(look.bundle["validationCommands"])


def _archived(now: Situation) -> bool:
    if undone_of(now.context) is not None:
        return True
    return now.pane_id == "archive" and now.item is not None and hasattr(now.item, "at")


# When the footer names an action otherwise than the action says


def _drafts_here(now: Situation, _: bool) -> bool | None:
    # In other panes it would push their keys out of the footer, day after day.
    places = {"brief", *(draft.pane for draft in now.context.left_drafts[:1])}
    return None if now.pane_id in places else False


def _removal_here(now: Situation, bulk: bool) -> bool | None:
    return True if _stands_for_other(now) else _source_here(now, bulk)


def _source_here(now: Situation, bulk: bool) -> bool | None:
    return bulk or not now.selected if now.pane_id == "inbox" else None


def _approval_here(now: Situation, _: bool) -> bool | None:
    """Only what waits for an approval is named."""
    if now.pane_id == "brief":
        return None if any(item.group == "waiting" for item in now.items) else False
    return None if any(getattr(now.pane, "is_blocked", bool)(item) for item in now.items) else False


# The conditions

ALWAYS = Condition(lambda _: True, everywhere=True, about_entries=False)
LOOK = Condition(lambda now: now.context.workspace is not None, everywhere=True)
WORKSPACE = Condition(_holds_workspace, everywhere=True)
APPROVAL = Condition(WORKSPACE.holds, everywhere=True, named=_approval_here)
# While a change is being written its key counts already; it is named once the log has the change.
UNDO = Condition(
    lambda now: _holds_workspace(now) and now.context.may_turn("undo"),
    "Nothing to undo.",
    everywhere=True,
    named=lambda now, _: now.context.can_turn("undo"),
)
REDO = Condition(
    lambda now: _holds_workspace(now) and now.context.may_turn("redo"),
    "Nothing to redo.",
    everywhere=True,
    named=lambda now, _: now.context.can_turn("redo"),
)
DRAFT = Condition(
    lambda now: _holds_workspace(now) and bool(now.context.left_drafts),
    "No form was left without saving it.",
    everywhere=True,
    named=_drafts_here,
)
WAY = Condition(
    lambda now: now.context.way,
    "This workspace was not opened from another one; {pane.fleet|palette} shows them all.",
    everywhere=True,
    about_entries=False,
)
JOBS = Condition(
    lambda now: now.context.has_jobs,
    "No check and no action runs now, so there is none to stop.",
    about_entries=False,
)
PANE = Condition(lambda _: True)
LEAVE = Condition(_leave)
ITEM = Condition(lambda now: now.item is not None, "There is no entry here.")
ADDING = Condition(lambda now: _offers(now.pane, "adding"), "Nothing is added in this pane.")  # type: ignore[arg-type]
EDITING = Condition(_editing, "There is nothing here to edit in a form.")
REMOVING = Condition(_removing, "There is nothing here to remove.", named=_removal_here)
SOURCE = Condition(_source, "There is no text here to edit in an editor.", named=_source_here)
FIELDS = Condition(
    lambda now: now.pane is not None and now.pane.filter_fields,
    "Nothing here has fields to filter by; {list.filter|/} filters by words.",
)
SORTS = Condition(_sorts, "This list has one order only.")
KEEPS = Condition(
    lambda now: now.pane is not None and len(now.pane.sorts) > 1, "Views are kept where a list has several orders."
)
ARRANGES = Condition(_sorts, "Only tasks are grouped.", special=True)
BLOCKS = Condition(_in_tasks_or_journal, "Tasks have a board, and the journal a day.", special=True)
CALENDAR = Condition(_in_tasks_or_journal, "Tasks have a calendar, and the journal a year.", special=True)
MENTIONED = Condition(
    lambda now: now.pane is not None and mentioned(now.pane) is not None,
    "The journal can mention tasks, plans and monitors.",
)
VERSIONS = Condition(_versions, "This has no history of its own.")
ARCHIVED = Condition(_archived, "Only archived entries are brought back.", special=True)
CHANGE = Condition(
    lambda now: now.pane_id == "changes" and now.item is not None,
    "Changes are taken back in Changes: {pane.changes|0} shows them.",
    special=True,
)
RUN = Condition(_run, "There is nothing here to run: no monitor, and no open task with an action.", special=True)
MONITOR = Condition(lambda now: now.monitors, "This is no monitor.", special=True)
BOARD = Condition(
    lambda now: getattr(now.pane, "board", None) is not None and now.item is not None,
    "Only cards of the board are moved: {pane.tasks|2} and {view.board|b} show it.",
    special=True,
)
TASK = Condition(lambda now: now.tasks, "This is no task.", special=True)
TASK_START = Condition(_in_sections("pending"), "Only a pending task can be started.", special=True)
TASK_OPEN = Condition(_in_sections("pending", "in-progress"), "This is no open task.", special=True)
TASK_PROGRESS = Condition(
    _in_sections("in-progress"), "Progress is of a task that was started: {task.start|s} starts it.", special=True
)
TASK_REOPEN = Condition(
    _in_sections("in-progress", "completed"),
    "Only a started or finished task can be reopened; {entry.restore|B} brings back what is archived.",
    special=True,
)
FACT = Condition(
    lambda now: now.pane_id == "knowledge" and any(hasattr(item, "text") for item in now.items),
    "Only lines of Knowledge are moved to another section.",
    special=True,
)
FACTS = Condition(lambda now: now.pane_id == "facts", "Only facts are put into a prompt.", special=True)
TYPED = Condition(
    lambda now: now.pane_id == "typed" and hasattr(now.item, "file"),
    "Only typed memory is promoted, demoted, locked and pruned.",
    special=True,
)
STATE = Condition(
    lambda now: now.pane_id == "state" and now.item is not None,
    "This is of the state of a project; {pane.state|palette} shows it.",
    special=True,
)
STATE_ANY = Condition(lambda now: now.pane_id == "state", "Only the state of a project is renewed.", special=True)
STATE_POINT = Condition(
    lambda now: now.pane_id == "state" and any(hasattr(item, "point") for item in now.items),
    "Only checkpoints of a state are compared.",
    special=True,
)
CURATED = Condition(
    lambda now: now.pane_id == "curated",
    "This is of curated memory; {pane.curated|palette} shows it.",
    special=True,
)
CURATED_DECISION = Condition(
    lambda now: now.pane_id == "curated" and bool(getattr(now.item, "changes", False)),
    "Only decisions that changed a memory are taken back.",
    special=True,
)
REVIEW = Condition(
    lambda now: now.pane_id == "inbox" and now.item is not None,
    "Only proposals of agents are accepted; {pane.inbox|palette} shows them.",
    special=True,
)
PROMPT = Condition(
    lambda now: now.pane_id == "prompt",
    "This is of what agents are told; {pane.prompt|palette} shows it.",
    special=True,
)
PROMPT_ENTRY = Condition(
    lambda now: now.pane_id == "prompt" and bool(getattr(now.item, "ref", None)),
    "Only entries that agents are told of are pinned and muted; {pane.prompt|palette} shows them.",
    special=True,
)
