"""The agent of `memdeck demo`: works in the sample workspace while the user watches, as agents do.

Half of its work uses memdeck's own verbs, with an agent as the actor; the other half writes into the files in place,
like a program that does not know memdeck. It is a separate process: `python -P -m app.demo.agent DIR SEED PACE SHIFT`.
It ends after some minutes, or when its standard input ends, which the application holds open.
"""

from __future__ import annotations

import os
import random
import re
import select
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from memory.errors import MemdeckError
from memory.files.edit import Edit
from memory.files.journal.edits import add_entry
from memory.files.snapshot import Snapshot
from memory.files.tasks.edits import edit_task
from memory.files.tasks.operations import add_task, done_task, start_task
from memory.storage.own_folders import home, state_home
from memory.workspace import Workspace

ACTOR = "agent:incident-bot"
INCIDENT = "One checkout in fifty answers 502"
MERGED = "Deploy v2.1 to staging"
"""The task whose notes it writes while the user may have the form open."""

REWRITTEN = "Write the post-mortem of the Redis outage"
"""The task of a person whose notes it rewrites at the end, which then waits for approval."""

RUNNING = "Monitor API latency"
MONITOR = "API Health Check"

_IDEAS = (
    "Write a test for the retry without a key",
    "Ask Bob about the pool size on staging",
    "Compare the 502s with the deploys of last week",
    "Move the health check to the new load balancer",
    "Add the order number to the error page",
)
_NOTES = (
    "p99 of the checkout fell to 410 ms after the pool was doubled",
    "the 502s came from two of six workers, both on the old image",
    "compared the error rate with the deploys: no connection",
    "read the log of the load balancer, nothing unusual since noon",
    "asked Alice for the numbers of the spring campaign",
)

Step = tuple[float, Callable[[], None]]


class DemoAgent:
    """One agent in one workspace; `clock` returns the time, `seed` decides what it does after the first minute."""

    def __init__(self, workspace: Workspace, seed: int, clock: Callable[[], datetime]) -> None:
        self._workspace = workspace
        self._chance = random.Random(seed)
        self._clock = clock
        self._percent = 50

    def steps(self) -> Iterator[Step]:
        """Yield its steps, each with the seconds before it; the first minute shows everything, some minutes end it."""
        yield 5, self._report
        yield 6, lambda: self._journal("Incident", "saw the first 502s in the log of the load balancer")
        yield 7, self._progress
        yield 7, lambda: self._monitor("alert (HTTP 502)")
        yield 6, self._begin
        yield 6, self._note_on_deploy
        yield 7, lambda: self._journal("Incident", "two of six workers run the old image; restarted them")
        yield 7, lambda: self._monitor("healthy")
        yield 6, self._finish
        yield 6, self._rewrite
        later = [*(partial(self._idea, title) for title in _IDEAS), *(partial(self._remark, line) for line in _NOTES)]
        self._chance.shuffle(later)
        for step in later:
            yield self._chance.uniform(12, 25), step
            yield self._chance.uniform(12, 25), self._progress

    # Through memdeck

    def _change(self, operation: str, build: Callable[[Snapshot], Edit]) -> None:
        self._workspace.change(operation, build, actor=ACTOR, now=self._clock())

    def _report(self) -> None:
        self._change(
            "tasks.add",
            lambda snapshot: add_task(
                snapshot,
                INCIDENT,
                priority="HIGH",
                assigned="incident-bot",
                tags=("incident", "checkout"),
                notes="The load balancer counts 38 of 1,900 since this morning.",
                now=self._clock(),
            ),
        )

    def _begin(self) -> None:
        self._change("tasks.start", lambda snapshot: start_task(snapshot, INCIDENT, now=self._clock()))

    def _finish(self) -> None:
        outcome = "two workers ran an old image; both replaced, no 502 for ten minutes"
        self._change("tasks.done", lambda snapshot: done_task(snapshot, INCIDENT, outcome=outcome, now=self._clock()))

    def _rewrite(self) -> None:
        """Rewrite what a person wrote: that waits for the person, which is an error for the agent."""
        notes = "The timeline is in the journal: two workers ran an old image. Done when the image is checked at start."
        self._change(
            "tasks.edit", lambda snapshot: edit_task(snapshot, REWRITTEN, set={"notes": notes}, now=self._clock())
        )

    def _idea(self, title: str) -> None:
        self._change(
            "tasks.add",
            lambda snapshot: add_task(snapshot, title, assigned="incident-bot", now=self._clock()),
        )

    def _remark(self, line: str) -> None:
        self._journal("Incident", line)

    def _journal(self, title: str, line: str) -> None:
        self._change("journal.add", lambda snapshot: add_entry(snapshot, title, [line], now=self._clock()))

    # Into the files, in place

    def _progress(self) -> None:
        self._percent = min(95, self._percent + self._chance.randint(3, 9))
        self._set("tasks.md", RUNNING, "progress", f"{self._percent}%")

    def _monitor(self, status: str) -> None:
        self._set("monitors.md", MONITOR, "lastCheck", f"{self._clock():%Y-%m-%dT%H:%M:%SZ}")
        self._set("monitors.md", MONITOR, "lastStatus", status)

    def _note_on_deploy(self) -> None:
        self._set("tasks.md", MERGED, "notes", "Wait for the 502s to stop, then run the tests and deploy via CI/CD")

    def _set(self, name: str, title: str, key: str, value: str) -> None:
        """Write one field of an entry with as little care as a script does; nothing if it is gone."""
        pattern = rf"(?ms)(^### [^\n]*{re.escape(title)}[^\n]*\n(?:(?!^#).)*?^- {re.escape(key)}: )[^\n]*"
        with open(self._workspace.memory / name, "r+", encoding="utf-8", newline="") as file:
            before = file.read()
            after = re.sub(pattern, lambda found: found[1] + value, before, count=1)
            if after != before:
                file.seek(0)
                file.write(after)
                file.truncate()


def work(agent: DemoAgent, pace: float, rest: Callable[[float], bool]) -> None:
    """Do the steps; `rest` waits for some seconds and returns whether to go on. Steps that fail are skipped.

    `pace` shortens the pauses: 0 leaves none.
    """
    for seconds, step in agent.steps():
        if not rest(seconds * pace):
            return
        try:
            step()
        except (MemdeckError, OSError, UnicodeError):
            # The user removed the entry, or holds the lock: an agent goes on with something else.
            continue


def _rest(seconds: float) -> bool:
    """Wait, and return whether standard input is still open: it ends when the application is gone."""
    ready, _, _ = select.select([sys.stdin], [], [], seconds)
    return not ready


def main(folder: str, seed: str, pace: str, shift: str) -> int:
    """Work in a workspace; `shift` is by how many seconds the demo's clock is ahead of the machine's."""
    ahead = timedelta(seconds=float(shift))
    with Workspace.open(Path(folder), state_home=state_home(os.environ), home=home(os.environ)) as workspace:
        work(DemoAgent(workspace, int(seed), lambda: datetime.now(UTC) + ahead), float(pace), _rest)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:5]))
