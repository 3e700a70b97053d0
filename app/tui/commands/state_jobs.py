"""How what the state pane does runs: as a job beside the screen, one of a kind at a time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memory.errors import MemdeckError

from .steps import ReadAgain, RunJob, SayChange, Step

if TYPE_CHECKING:
    from memory.storage import Change
    from memory.systems.acts import Act
    from memory.systems.state import ProjectState
    from memory.workspace import Outcome
    from widgets.panes.state.pane import StatePane

    from .context import Context, JobView


class _CalledOff(MemdeckError):
    """A person stopped it."""


def system_of_state(context: Context) -> ProjectState:
    """Return the state of the project."""
    assert context.workspace is not None
    from memory.systems import system_of
    from memory.systems.state import ProjectState

    return system_of(context.workspace, "state", ProjectState)


def state_pane(context: Context) -> StatePane | None:
    """Return the pane that is open where it is that of the state."""
    pane: Any = context.pane
    return pane if pane is not None and pane.pane_id == "state" else None


def start(words: str, work: Callable[[JobView], Any], then: Callable[[Any], Step]) -> Step:
    """Return a job, one of a kind at a time; what was called off ends without a word more."""
    return RunJob(words, work, then, lambda error: ReadAgain() if isinstance(error, _CalledOff) else None, once=True)


def wrote(change: Change | None, words: str, then: Callable[[Outcome], Step] | None = None) -> Step:
    """Return what says that a job wrote something, with `then` behind it; nothing where nothing was written."""
    from memory.workspace import Outcome

    return None if change is None else SayChange(Outcome(change, words), then)


def go_on(job: JobView) -> None:
    """End the work of a job that was stopped."""
    if job.cancel.cancelled:
        raise _CalledOff("state.called_off", "stopped; nothing was written")


def act(do: Callable[[ProjectState, str, datetime], Outcome]) -> Act:
    """Return a change of the project's state."""
    from memory.systems.acts import act as act_on
    from memory.systems.state import ProjectState

    return act_on("state", ProjectState, do)
