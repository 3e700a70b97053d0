"""What the tasks pane does by key; on all selected tasks at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from app.tui.part import Part
from memory.errors import ConflictError
from widgets.panes.edit_chain import chain

from .conditions import tasks_of

if TYPE_CHECKING:
    from memory.errors import MemdeckError
    from memory.files.edit import Edit
    from memory.files.snapshot import Snapshot
    from memory.files.tasks.model import Task
    from widgets.pane.offers import Build, FileBuild

Otherwise = Callable[["MemdeckError"], bool]
"""What deals with an error; False: somebody else has to."""

One = Callable[["Snapshot", str, datetime], "Edit"]
"""An edit of one task, given its ref and the time."""

_LOW = 18
"""On a screen of fewer lines the parts of a task in one line share lines."""


class TaskVerbs(Part):
    """Each verb is one change, whatever the number of tasks, so that one undo takes it back."""

    def _chosen(self, *sections: str) -> list[Task]:
        pane = self.app.navigation.pane
        assert pane is not None
        return [task for task in tasks_of(pane) if not sections or task.section in sections]

    def _apply(
        self,
        verb: str,
        tasks: list[Task],
        one: One,
        *,
        stay: bool = False,
        follow: bool = False,
        otherwise: Otherwise | None = None,
    ) -> None:
        """One edit per task, all in one change. `stay` leaves the tasks, `follow` goes with the last one."""
        pane = self.app.navigation.pane
        if pane is None or not tasks:
            return
        now = self.app.clock()

        def bound(ref: str) -> FileBuild:
            return lambda snapshot: one(snapshot, ref, now)

        build = chain([bound(task.ref) for task in tasks], f"{verb} {len(tasks)} tasks")
        self._write(verb, build, stay=stay, follow=follow, otherwise=otherwise)

    def _write(
        self,
        verb: str,
        build: Build,
        *,
        stay: bool = False,
        follow: bool = False,
        otherwise: Otherwise | None = None,
    ) -> None:
        pane = self.app.navigation.pane
        assert pane is not None
        if stay:
            pane.step_off()
        pane.line_list.select(())

        then = self.app.entries.go_to if follow else None
        self.app.changing.change(f"tasks.{verb}", build, then=then, otherwise=otherwise)

    def start(self) -> None:
        """Pending tasks are begun."""
        from memory.files.tasks.edits import start_task

        self._apply("start", self._chosen("pending"), lambda snapshot, ref, now: start_task(snapshot, ref, now=now))

    def done(self) -> None:
        """Finish tasks; the outcome may stay empty. The cursor goes along, so that the next key can take it back."""
        self._finish(self._chosen("pending", "in-progress"))

    def _finish(self, tasks: list[Task]) -> None:
        from widgets.dialogs.dialogs import Prompt

        def answered(outcome: str | None) -> None:
            if outcome is None:
                return
            from memory.files.tasks.edits import done_task

            words = outcome.strip() or None
            self._apply(
                "done",
                tasks,
                lambda snapshot, ref, now: done_task(snapshot, ref, outcome=words, now=now),
                follow=True,
            )

        self.app.push_screen(Prompt(_about("Done", tasks), placeholder="outcome, may stay empty"), answered)

    def reopen(self) -> None:
        """Started or finished tasks go back to Pending."""
        from memory.files.tasks.edits import reopen_task

        tasks = self._chosen("in-progress", "completed")
        self._apply("reopen", tasks, lambda snapshot, ref, now: reopen_task(snapshot, ref, now=now))

    def progress(self) -> None:
        """A percentage, and words after it as the last update."""
        from widgets.dialogs.dialogs import Prompt

        tasks = self._chosen("in-progress")
        value = "" if len(tasks) != 1 or tasks[0].progress is None else str(tasks[0].progress)

        def validate(text: str) -> str | None:
            return None if _percent(text) is not None else "a number from 0 to 100, then words if you like"

        def hint(text: str) -> str:
            found = _percent(text)
            return "percent, then what was done" if found is None or not found[1] else f"last update: {found[1]}"

        def answered(text: str | None) -> None:
            found = None if text is None else _percent(text)
            if found is None:
                return
            from memory.files.tasks.edits import progress_task

            percent, note = found
            bases = {task.ref: task.entry for task in tasks}
            self._apply(
                "progress",
                tasks,
                lambda snapshot, ref, now: progress_task(
                    snapshot, ref, percent, note=note or None, base=bases.get(ref), now=now
                ),
                otherwise=self._asking("progress", tasks),
            )

        question = _about("How far", tasks)
        self.app.push_screen(
            Prompt(question, value, placeholder="60 and a note", validate=validate, hint=hint), answered
        )

    def shift(self, step: int) -> None:
        """Raise (1) or lower (-1) the priority."""
        from memory.files.tasks.bulk import shift_priorities

        refs, now = self._refs(self._chosen()), self.app.clock()
        self._write("priority", lambda snapshot: shift_priorities(snapshot, refs, step, now=now))

    def due(self) -> None:
        """When tasks are due, typed as people say it; empty means no date."""
        from widgets.dialogs.dialogs import Prompt
        from widgets.input.date_fields import as_written, date_field

        tasks = self._chosen()
        now, zone = self.app.clock(), self.app.zone
        value = (tasks[0].due or "") if len(tasks) == 1 else ""
        field = date_field("due", "due", value, now, zone)

        def answered(text: str | None) -> None:
            if text is None or text == value:
                return
            written = as_written(text, value, self.app.clock(), zone)
            self._set("due", tasks, {"due": written} if written else {}, () if written else ("due",))

        self.app.push_screen(
            Prompt(
                _about("Due", tasks),
                value,
                placeholder="tomorrow 14:00, fri, 2 Dec, +2d, eom; empty: no date",
                validate=field.validate,
                hint=field.hint,
            ),
            answered,
        )

    def quick(self) -> None:
        """A new task in one line, from any pane; below it stands what each part of it means."""
        from memory.files.tasks.quick import EXAMPLE
        from widgets.dialogs.dialogs import Prompt
        from widgets.panes.tasks.quick import quick_error, quick_words

        now, zone = self.app.clock(), self.app.zone

        def answered(text: str | None) -> None:
            if text is None:
                return
            from memory.files.tasks.edits import add_task
            from memory.files.tasks.quick import checked_quick

            moment = self.app.clock()

            def build(snapshot: Snapshot) -> Edit:
                said = checked_quick(text, moment, snapshot.zone)
                return add_task(
                    snapshot,
                    said.title,
                    priority=said.priority,
                    due=said.due,
                    recurring=said.recurring,
                    assigned=said.assigned,
                    tags=said.tags,
                    now=moment,
                )

            self.app.changing.change("tasks.add", build)

        self.app.push_screen(
            Prompt(
                "New task, in one line",
                placeholder=EXAMPLE,
                validate=lambda text: quick_error(text, now, zone),
                hint=lambda text: quick_words(text, now, zone, short=self.app.size.height < _LOW),
            ),
            answered,
        )

    def tags(self) -> None:
        """The tags of tasks, comma-separated; of several, `+tag` gives one and `-tag` takes one away."""
        from widgets.dialogs.dialogs import Prompt

        tasks = self._chosen()
        value = ", ".join(tasks[0].tags) if len(tasks) == 1 else ""
        several = len(tasks) > 1

        def hint(text: str) -> str:
            found = _tag_changes(text)
            if not several or not text.strip():
                return ""
            if found is None:
                return "replaces the tags of all of them"
            parts = [f"give {', '.join(found[0])}"] if found[0] else []
            return "; ".join([*parts, *([f"take {', '.join(found[1])}"] if found[1] else [])])

        def answered(text: str | None) -> None:
            if text is None or text == value:
                return
            changes = _tag_changes(text)
            if changes is not None:
                from memory.files.tasks.bulk import retag_tasks

                refs, now = self._refs(tasks), self.app.clock()
                self._write(
                    "tags", lambda snapshot: retag_tasks(snapshot, refs, add=changes[0], remove=changes[1], now=now)
                )
                return
            tags = ", ".join(part.strip() for part in text.split(",") if part.strip())
            self._set("tags", tasks, {"tags": tags} if tags else {}, () if tags else ("tags",))

        words = "+add, -remove, or what all of them get" if several else "comma, separated; +add and -remove as well"
        self.app.push_screen(Prompt(_about("Tags", tasks), value, placeholder=words, hint=hint), answered)

    def assign(self) -> None:
        """Who does the tasks; empty means nobody."""
        from widgets.dialogs.dialogs import Prompt

        tasks = self._chosen()
        value = (tasks[0].assigned or "") if len(tasks) == 1 else ""

        def answered(text: str | None) -> None:
            if text is None or text == value:
                return
            who = text.strip()
            self._set("assign", tasks, {"assigned": who} if who else {}, () if who else ("assigned",))

        words = "an agent or a person; empty: nobody"
        self.app.push_screen(Prompt(_about("Assigned to", tasks), value, placeholder=words), answered)

    def _set(self, verb: str, tasks: list[Task], values: Mapping[str, str], unset: tuple[str, ...]) -> None:
        from memory.files.tasks.bulk import edit_tasks

        now = self.app.clock()
        if len(tasks) == 1:
            from memory.files.tasks.edits import edit_task

            # Compared with what was seen: where somebody else set the same field meanwhile, a person is asked.
            ref, base = tasks[0].ref, tasks[0].entry
            self._write(
                verb,
                lambda snapshot: edit_task(snapshot, ref, set=values, unset=unset, base=base, now=now),
                otherwise=self._asking(verb, tasks),
            )
            return
        refs = self._refs(tasks)
        self._write(verb, lambda snapshot: edit_tasks(snapshot, refs, set=values, unset=unset, now=now))

    def _asking(self, verb: str, tasks: list[Task]) -> Otherwise:
        """Ask where somebody else set the same field of the one task meanwhile."""

        def write(chosen: Mapping[str, str]) -> None:
            from memory.files.tasks.edits import edit_task

            values = {name: text for name, text in chosen.items() if text.strip()}
            unset = tuple(name for name in chosen if name not in values)
            self._apply(
                verb,
                tasks,
                lambda snapshot, ref, now: edit_task(snapshot, ref, set=values, unset=unset, now=now),
            )

        def otherwise(error: MemdeckError) -> bool:
            if not isinstance(error, ConflictError) or len(tasks) != 1:
                return False
            return self.app.conflicts.verb(error, tasks[0].title, write, {})

        return otherwise

    @staticmethod
    def _refs(tasks: list[Task]) -> list[str]:
        return [task.ref for task in tasks]

    def duplicate(self) -> None:
        """A copy of the task under the cursor."""
        from memory.files.tasks.bulk import duplicate_task

        self._apply(
            "copy", self._chosen()[:1], lambda snapshot, ref, now: duplicate_task(snapshot, ref, now=now), follow=True
        )

    def split(self) -> None:
        """Make several tasks of one, a line each."""
        from widgets.input.fields import FieldSpec
        from widgets.pane.offers import FormPlan, Values

        task = self._chosen()[0]
        ref = task.ref

        def build(changed: Values, values: Values, now: datetime) -> Build:  # noqa: ARG001
            from memory.files.tasks.bulk import split_task

            return lambda snapshot: split_task(snapshot, ref, values["parts"].split("\n"), now=now)

        field = FieldSpec("parts", "one a line", "multiline", required=True)
        pane = self.app.navigation.pane
        assert pane is not None
        plan = FormPlan("Split task", (field,), build, "tasks.split")
        self.app.filling.begin(pane, plan, task, note=task.title[:200])

    def plan(self) -> None:
        """Say which plan the tasks belong to."""
        from widgets.dialogs.pick import Option, Pick

        pane = self.app.navigation.pane
        assert pane is not None
        assert pane.snapshot is not None
        tasks = self._chosen()
        now = tasks[0].orchestration_id if len(tasks) == 1 else None
        plans = [plan for plan in pane.snapshot.plans.plans if plan.section == "active" and plan.plan_id]
        if not plans:
            self.app.say("There is no active plan that tasks could belong to.")
            return
        options = [
            Option(f"plan:{plan.plan_id}", plan.title, plan.plan_id or "", marked=plan.plan_id == now) for plan in plans
        ]
        options.append(Option("none:", "no plan", marked=now is None and len(tasks) == 1))

        def answered(answer: tuple[str, str] | None) -> None:
            if answer is None:
                return
            name = answer[1].partition(":")[2]
            self._set("plan", tasks, {"orchestrationId": name} if name else {}, () if name else ("orchestrationId",))

        self.app.push_screen(Pick(_about("Belongs to", tasks), options), answered)

    def note(self) -> None:
        """Write a line about the task into the journal; the entry is linked to it by its title."""
        task = self._chosen()[0]
        self.app.diary.capture(about=task.title)

    # The board

    def move(self, step: int) -> None:
        """Move cards to the column beside: start, finish or reopen."""
        pane = self.app.navigation.pane
        board = getattr(pane, "board", None)
        lane = None if board is None else board.beside(step)
        if lane is not None:
            self._move(self._chosen(), lane)

    def drop(self, task: Task, lane: str) -> None:
        """A card was dragged; selected ones go along."""
        chosen = self._chosen()
        self._move(chosen if any(one is task for one in chosen) else [task], lane)

    def _move(self, tasks: list[Task], lane: str) -> None:
        from memory.files.tasks.edits import edit_task, reopen_task

        if lane == "completed":
            self._finish(tasks)
        elif lane == "pending":
            self._apply("reopen", tasks, lambda snapshot, ref, now: reopen_task(snapshot, ref, now=now), follow=True)
        else:

            def start(snapshot: Snapshot, ref: str, now: datetime) -> Edit:
                return edit_task(snapshot, ref, set={"section": "in-progress"}, now=now)

            done = [task for task in tasks if task.section == "completed"]
            if done:
                self.app.say("What is completed is reopened first: move it to Pending.", severity="warning")
            else:
                self._apply("start", tasks, start, follow=True)

    # Why

    def why(self) -> None:
        """How urgent the task under the cursor is, term by term."""
        from memory.files.tasks.urgency import urgency_of
        from widgets.dialogs.dialogs import Preview
        from widgets.panes.tasks.detail import urgency_lines

        task = self._chosen()[0]
        found = urgency_of(task, self.app.clock(), self.app.zone)
        self.app.push_screen(
            Preview(
                f"Urgency {found.points:.1f}: {task.title[:200]}" if found.terms else task.title[:200],
                urgency_lines(found, self.app.glyphs),
                summary="S sorts by it; the sum of these terms." if found.terms else "",
                applicable=False,
            )
        )


def _tag_changes(text: str) -> tuple[list[str], list[str]] | None:
    """Tags to give and to take, from `+new -old`; None where the words are tags themselves."""
    words = [part.strip() for part in text.replace(",", " ").split()]
    if not words or any(len(word) < 2 or word[0] not in "+-" for word in words):
        return None
    return [word[1:] for word in words if word[0] == "+"], [word[1:] for word in words if word[0] == "-"]


def _about(verb: str, tasks: list[Task]) -> str:
    """The question: about one task by its title, about several by their number."""
    return f"{verb}: {tasks[0].title[:200]}" if len(tasks) == 1 else f"{verb}: {len(tasks)} tasks"


def _percent(text: str) -> tuple[int, str] | None:
    """A percentage and the words after it; None where there is none."""
    number, _, note = text.strip().partition(" ")
    number = number.removesuffix("%").removesuffix(",")
    if not number.isascii() or not number.isdigit() or int(number) > 100:
        return None
    return int(number), note.strip().removeprefix("%").strip()
