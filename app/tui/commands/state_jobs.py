"""How what the state pane does runs: as a job beside the screen, one of a kind at a time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from app.tui.messages import Changed
from app.tui.part import Part
from memory.errors import MemdeckError

if TYPE_CHECKING:
    from app.tui.live.jobs import Job
    from memory.storage import Change
    from memory.systems.acts import Act
    from memory.systems.state import ProjectState
    from memory.workspace import Outcome
    from widgets.panes.state.pane import StatePane


class _CalledOff(MemdeckError):
    """A person stopped it."""


class StateJobs(Part):
    """Starts a job, says its errors, and tells what it wrote as other changes are told."""

    @property
    def _system(self) -> ProjectState:
        assert self.app.workspace is not None
        from memory.systems import system_of
        from memory.systems.state import ProjectState

        return system_of(self.app.workspace, "state", ProjectState)

    def _pane(self) -> StatePane | None:
        pane: Any = self.app.navigation.pane
        return pane if pane is not None and pane.pane_id == "state" else None

    def _start(self, words: str, work: Callable[[Job], Any], then: Callable[[Any], None]) -> None:
        """Do something in a job, one of a kind at a time; what was called off ends without a word more."""
        if any(job.words == words for job in self.app.jobs.running):
            return

        def failed(error: MemdeckError) -> None:
            if not isinstance(error, _CalledOff):
                self.app.say_error(error)
            self.app.looking.request()

        def run(job: Job) -> Any:
            result = work(job)
            return job, result

        def done(pair: tuple[Job, Any]) -> None:
            then(pair[1])

        self.app.jobs.start(words, run, done, failed)

    def _wrote(self, change: Change, words: str, then: Callable[[Outcome], None] | None = None) -> None:
        """Say what a job wrote, as other changes are said, and look again; `then` comes behind that."""
        from memory.workspace import Outcome

        self.app.changing.begin()
        self.app.post_message(Changed(Outcome(change, words), then, taken_back=True))


def go_on(job: Job) -> None:
    """End the work of a job that was stopped."""
    if job.cancel.cancelled:
        raise _CalledOff("state.called_off", "stopped; nothing was written")


def act(do: Callable[[ProjectState, str, datetime], Outcome]) -> Act:
    """Return a change of the project's state."""
    from memory.systems.acts import act as act_on
    from memory.systems.state import ProjectState

    return act_on("state", ProjectState, do)
