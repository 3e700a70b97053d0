"""A workspace that lives: changes, undo and redo, maintenance, other programs, crashes, in any order.

What must hold after every step is counted independently of memdeck's own account: every acknowledged entry stands
exactly once, archives included, the bytes of other programs are all there, nothing is left behind, the files are sound,
and the change log tells of each file what is on the disk.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from memory.document import parse
from memory.errors import ConflictError, NotFoundError
from memory.files.check import check_files
from memory.files.edit import Edit
from memory.files.journal import edits as journal_edits
from memory.files.snapshot import Snapshot
from memory.files.tasks import edits as task_edits
from memory.files.tasks.model import find_task
from memory.maintenance import maintain
from memory.storage.changes import OUTSIDE
from memory.workspace import Workspace
from tests.crash.kill import END, KILLED, Tally, killed_at
from tests.crash.operations import NOW, Place, sample
from tests.crash.stale import SAVERS

CALLS = st.integers(0, 70)
FEW = settings(
    max_examples=8,
    stateful_step_count=20,
    deadline=None,
    database=None,
    derandomize=True,
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)
MANY = settings(FEW, max_examples=250, stateful_step_count=60, derandomize=False, phases=[Phase.generate])


class Machine(RuleBasedStateMachine):
    """One workspace, and what must be in it."""

    steps = 0
    crashes = 0

    def __init__(self) -> None:
        """Make the sample workspace in memory, where syncing costs nothing."""
        super().__init__()
        disk = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.top = Path(tempfile.mkdtemp(prefix="memdeck-machine-", dir=disk))
        self.place = Place(self.top / "place")
        self.now = NOW
        self.number = 0
        self.expected: Counter[str] = Counter({"First of all": 1})
        self.effects: dict[str, Counter[str]] = {}
        self.marks: list[tuple[str, bytes]] = []

    def teardown(self) -> None:
        """Remove it."""
        shutil.rmtree(self.top, ignore_errors=True)

    @initialize()
    def begin(self) -> None:
        """Start from the sample, in which one change was made."""
        sample(self.place)
        self.workspace = self.place.workspace()
        (first,) = self.workspace.store.history.list()
        self.effects[first.id] = Counter({"First of all": 1})

    # -- what happens -------------------------------------------------------------------------------------------

    @rule()
    def add(self) -> None:
        """Add a task."""
        title = self._title("Thing")
        self._change(lambda s, now: task_edits.add_task(s, title, now=now), Counter({title: 1}))

    @rule()
    def note(self) -> None:
        """Add a journal entry."""
        title = self._title("Note")
        self._change(lambda s, now: journal_edits.add_entry(s, title, ("a line",), now=now), Counter({title: 1}))

    @rule(which=st.integers(0, 99))
    def edit(self, which: int) -> None:
        """Change a task."""
        title = self._task(which)
        if title:
            text = f"note {self.steps}"
            self._change(lambda s, now: task_edits.edit_task(s, title, set={"notes": text}, now=now))

    @rule(which=st.integers(0, 99))
    def done(self, which: int) -> None:
        """Complete a task; one that is completed already is refused."""
        title = self._task(which)
        if title and find_task(self.workspace.snapshot(), title).section != "completed":
            self._change(lambda s, now: task_edits.done_task(s, title, now=now))

    @rule(which=st.integers(0, 99))
    def remove(self, which: int) -> None:
        """Remove a task."""
        title = self._task(which)
        if title:
            self._change(lambda s, now: task_edits.remove_task(s, title, now=now), Counter({title: -1}))

    @rule()
    def undo(self) -> None:
        """Undo what was done last."""
        self._turn(lambda: self.workspace.undo(actor="cli", now=self.now).id)

    @rule()
    def redo(self) -> None:
        """Redo what was undone last."""
        self._turn(lambda: self.workspace.redo(actor="cli", now=self.now).id)

    @rule(which=st.integers(0, 99))
    def revert(self, which: int) -> None:
        """Take back any change of ours."""
        stand = [one.id for one in self.workspace.store.history.list() if one.actor != OUTSIDE and not one.undone_by]
        if stand:
            record = stand[which % len(stand)]
            self._turn(lambda: self.workspace.revert(record, actor="cli", now=self.now).id)

    @rule()
    def restore(self) -> None:
        """Bring a completed task back from the archive."""
        for path in (self.place.shop / ".aiter/memory/archive").glob("tasks-*.md"):
            titles = [entry.title for section in parse(path.read_bytes()).sections for entry in section.entries]
            ours = [title.rpartition("] ")[2] for title in titles if "Thing" in title]
            if ours:
                self.workspace.restore(ours[0], actor="cli", now=self.now)
                self._look(Counter(), acknowledged=True)
                return

    @rule(days=st.integers(0, 12))
    def maintain(self, days: int) -> None:
        """Let days go by and maintain."""
        self.now += timedelta(days=days)
        report = maintain(self.workspace, self.now)
        self._look(Counter(), acknowledged=report.change is not None)

    @rule(
        saver=st.sampled_from(SAVERS),
        name=st.sampled_from(["tasks.md", "journal.md", "knowledge.md"]),
        looked_at=st.booleans(),
    )
    def other_program(self, saver: Callable[[Path, bytes], None], name: str, looked_at: bool) -> None:
        """Another program writes into a file, and somebody looks, or nobody does before the next change."""
        path = self.place.shop / ".aiter/memory" / name
        self.number += 1
        mark = b"<!-- theirs %d -->" % self.number
        above, heading, below = path.read_bytes().partition(b"\n## ")
        saver(path, above + b"\n" + mark + b"\n" + heading + below)
        self.marks.append((name, mark))
        if looked_at:
            self.workspace.notice(self.now)

    @rule()
    def reopen(self) -> None:
        """Go on as another process."""
        self.workspace.store.history.close()
        self.workspace = self.place.workspace()

    @rule(number=CALLS, half=st.booleans())
    def killed_while_adding(self, number: int, half: bool) -> None:
        """Kill the process that adds a task."""
        title = self._title("Thing")
        edit = lambda s: task_edits.add_task(s, title, now=self.now)  # noqa: E731
        self._kill(lambda w: w.change("add", edit, actor="cli", now=self.now), number, half, Counter({title: 1}))

    @rule(number=CALLS, which=st.integers(0, 99))
    def killed_while_completing(self, number: int, which: int) -> None:
        """Kill the process that completes a task, which changes the journal as well."""
        title = self._task(which)
        if title and find_task(self.workspace.snapshot(), title).section != "completed":
            edit = lambda s: task_edits.done_task(s, title, now=self.now)  # noqa: E731
            self._kill(lambda w: w.change("done", edit, actor="cli", now=self.now), number, False, Counter())

    @rule(number=CALLS)
    def killed_in_maintenance(self, number: int) -> None:
        """Kill maintenance."""
        self.now += timedelta(days=8)
        self._kill(lambda w: maintain(w, self.now), number, False, Counter())

    @precondition(lambda self: len(self.effects) > 1)
    @rule(number=CALLS)
    def killed_while_undoing(self, number: int) -> None:
        """Kill an undo."""

        def undo(workspace: Workspace) -> None:
            try:
                workspace.undo(actor="cli", now=self.now)
            except (ConflictError, NotFoundError):
                return

        self._kill(undo, number, False, Counter())

    # -- how it is done -----------------------------------------------------------------------------------------

    def _title(self, kind: str) -> str:
        self.number += 1
        return f"{kind} {self.number} end"

    def _task(self, which: int) -> str | None:
        """Return the title of a task that stands in tasks.md."""
        text = (self.place.shop / ".aiter/memory/tasks.md").read_text()
        there = [title for title, count in self.expected.items() if count and "Note" not in title and title in text]
        return there[which % len(there)] if there else None

    def _change(self, build: Callable[[Snapshot, datetime], Edit], effect: Counter[str] | None = None) -> None:
        outcome = self.workspace.change("edit", lambda s: build(s, self.now), actor="cli", now=self.now)
        self._look(effect or Counter(), acknowledged=bool(outcome.change.files))

    def _turn(self, turn: Callable[[], str]) -> None:
        try:
            turn()
        except (ConflictError, NotFoundError):
            return  # Somebody touched the same since, or there is nothing to turn: nothing was written.
        self._look(Counter(), acknowledged=False)

    def _kill(self, run: Callable[[Workspace], object], number: int, half: bool, effect: Counter[str]) -> None:
        # A process that is forked must not share an open database.
        self.workspace.store.history.close()
        code = killed_at(number, lambda: run(self.place.workspace()), half=half)
        assert code in (END, KILLED), code
        type(self).crashes += code == KILLED
        self.place.recover()
        self.workspace = self.place.workspace()
        self._look(effect, acknowledged=code == END and bool(effect))

    def _look(self, effect: Counter[str], *, acknowledged: bool) -> None:
        """Take from the change log which changes there are now; what they do to the entries is known already."""
        self.workspace.notice(self.now)
        new = [one for one in self.workspace.store.history.list() if one.id not in self.effects]
        ours = [one for one in reversed(new) if one.actor != OUTSIDE]
        assert len(ours) == 1 if acknowledged else len(ours) <= 1, [one.summary for one in new]
        for one in new:
            self.effects[one.id] = Counter()
        for one in ours:
            done = Counter(effect)
            if one.undoes is not None:
                done = Counter({title: -count for title, count in self.effects[one.undoes].items()})
            elif one.redoes is not None:
                done = Counter(self.effects[one.redoes])
            self.effects[one.id] = done
            for title, count in done.items():
                self.expected[title] += count

    def _account(self) -> list[str]:
        """Return what memdeck says happened, for who reads a failure."""
        history = self.workspace.store.history
        return [*history.warnings, *(f"{one.actor} {one.operation}: {one.summary}" for one in history.list(8))]

    # -- what must hold -----------------------------------------------------------------------------------------

    @invariant()
    def entries_stand_once(self) -> None:
        """Every acknowledged entry is there exactly once, and none that was removed."""
        type(self).steps += 1
        if not self.effects:
            return
        memory = self.place.shop / ".aiter/memory"
        paths = [*memory.glob("*.md"), *memory.glob("archive/*.md")]
        found: Counter[str] = Counter()
        for path in paths:
            document = parse(path.read_bytes())
            wanted = "Note" if "journal" in path.name else "Thing" if "tasks" in path.name else None
            for section in document.sections:
                for entry in section.entries:
                    title = entry.title.rpartition("— ")[2].rpartition("] ")[2]
                    if wanted and (title.startswith(wanted) or (wanted == "Thing" and title == "First of all")):
                        found[title] += 1
        assert found == +self.expected, (found - +self.expected, +self.expected - found, self._account())
        assert max(self.expected.values()) <= 1
        assert min(self.expected.values()) >= 0

    @invariant()
    def other_programs_keep_their_bytes(self) -> None:
        """What another program wrote is there once."""
        for name, mark in self.marks:
            assert (self.place.shop / ".aiter/memory" / name).read_bytes().count(mark) == 1, (name, mark)

    @invariant()
    def files_are_sound(self) -> None:
        """Nothing is left behind, and `check` finds no error."""
        if self.effects:
            assert self.place.leftovers() == []
            problems = check_files(self.place.workspace().snapshot())
            assert [problem for problem in problems if problem.level == "error"] == []

    @invariant()
    def the_log_agrees_with_the_disk(self) -> None:
        """Of every file the log knows the bytes that are on the disk, once somebody looked."""
        if not self.effects:
            return
        self.workspace.notice(self.now)
        history = self.workspace.store.history
        assert history.warnings == ()
        for path in history.seen():
            file = self.place.shop / path
            known = history._log.last_known(path)
            there = file.read_bytes() if file.exists() else None
            assert known == (True, there), (path, known, there, self._account())
        for one in history.list():
            self.effects.setdefault(one.id, Counter())


def machine(top: Path, bounds: settings = MANY) -> Tally:
    """Let many workspaces live."""
    tally = Tally("workspaces that live, in any order of events")
    Machine.steps = Machine.crashes = 0
    try:
        run_state_machine_as_test(Machine, settings=bounds)
    except Exception as error:
        notes = "; ".join(getattr(error, "__notes__", ()))
        tally.expect(False, f"{type(error).__name__}: {error}; {notes}")
    tally.points = Machine.steps
    tally.notes["crashes"] = Machine.crashes
    return tally
