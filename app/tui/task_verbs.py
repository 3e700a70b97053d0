"""What the tasks pane does by key: start, done, reopen, progress, priority, due, tags; on all selected at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from memory.errors import ConflictError
from widgets.panes.chain import chain

from .conditions import tasks_of
from .part import Part

if TYPE_CHECKING:
    from memory.errors import MemdeckError
    from memory.files.edit import Edit
    from memory.files.snapshot import Snapshot
    from memory.files.tasks import Task
    from widgets.pane_plans import Build

Otherwise = Callable[["MemdeckError"], bool]
"""What deals with an error; False: somebody else has to."""

One = Callable[["Snapshot", str, datetime], "Edit"]
"""An edit of one task, given its ref and the time."""


class TaskVerbs(Part):
    """Each verb is one change, whatever the number of tasks, so that one undo takes it back."""

    def _chosen(self, *sections: str) -> list[Task]:
        pane = self.app.navigation.pane
        assert pane is not None
        return [task for task in tasks_of(pane) if not sections or task.section in sections]

    def _apply(
        self, verb: str, tasks: list[Task], one: One, *, stay: bool = False, otherwise: Otherwise | None = None
    ) -> None:
        pane = self.app.navigation.pane
        if pane is None or not tasks:
            return
        now = self.app.clock()

        def bound(ref: str) -> Build:
            return lambda snapshot: one(snapshot, ref, now)

        build = chain([bound(task.ref) for task in tasks], f"{verb} {len(tasks)} tasks")
        if stay:
            pane.step_off()
        pane.line_list.select(())
        self.app.changing.change(f"tasks.{verb}", build, otherwise=otherwise)

    def start(self) -> None:
        """Pending tasks are begun."""
        from memory.files.task_edits import start_task

        self._apply("start", self._chosen("pending"), lambda snapshot, ref, now: start_task(snapshot, ref, now=now))

    def done(self) -> None:
        """Finish tasks; the outcome may stay empty."""
        from widgets.dialogs import Prompt

        tasks = self._chosen("pending", "in-progress")

        def answered(outcome: str | None) -> None:
            if outcome is None:
                return
            from memory.files.task_edits import done_task

            words = outcome.strip() or None
            self._apply(
                "done", tasks, lambda snapshot, ref, now: done_task(snapshot, ref, outcome=words, now=now), stay=True
            )

        self.app.push_screen(Prompt(_about("Done", tasks), placeholder="outcome, may stay empty"), answered)

    def reopen(self) -> None:
        """Started or finished tasks go back to Pending."""
        from memory.files.task_edits import reopen_task

        tasks = self._chosen("in-progress", "completed")
        self._apply("reopen", tasks, lambda snapshot, ref, now: reopen_task(snapshot, ref, now=now))

    def progress(self) -> None:
        """A percentage, and words after it as the last update."""
        from widgets.dialogs import Prompt

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
            from memory.files.task_edits import progress_task

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
        from memory.files.task_edits import shift_priority

        self._apply("priority", self._chosen(), lambda snapshot, ref, now: shift_priority(snapshot, ref, step, now=now))

    def due(self) -> None:
        """When tasks are due, typed as people say it; empty means no date."""
        from widgets.dialogs import Prompt
        from widgets.pane_fields import as_written, date_field

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
                placeholder="tomorrow 14:00, +2d, fri, 2024-01-31; empty: no date",
                validate=field.validate,
                hint=field.hint,
            ),
            answered,
        )

    def tags(self) -> None:
        """The tags of tasks, comma-separated; empty means none."""
        from widgets.dialogs import Prompt

        tasks = self._chosen()
        value = ", ".join(tasks[0].tags) if len(tasks) == 1 else ""

        def answered(text: str | None) -> None:
            if text is None or text == value:
                return
            tags = ", ".join(part.strip() for part in text.split(",") if part.strip())
            self._set("tags", tasks, {"tags": tags} if tags else {}, () if tags else ("tags",))

        self.app.push_screen(Prompt(_about("Tags", tasks), value, placeholder="comma, separated"), answered)

    def _set(self, verb: str, tasks: list[Task], values: Mapping[str, str], unset: tuple[str, ...]) -> None:
        from memory.files.task_edits import edit_task

        bases = {task.ref: task.entry for task in tasks}
        self._apply(
            verb,
            tasks,
            lambda snapshot, ref, now: edit_task(snapshot, ref, set=values, unset=unset, base=bases.get(ref), now=now),
            otherwise=self._asking(verb, tasks),
        )

    def _asking(self, verb: str, tasks: list[Task]) -> Otherwise:
        """Ask where somebody else set the same field of the one task meanwhile."""

        def write(chosen: Mapping[str, str]) -> None:
            from memory.files.task_edits import edit_task

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
