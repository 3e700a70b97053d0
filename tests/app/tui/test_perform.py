"""What the application does with steps: in order, off the event loop, and with errors said once."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from app.tui.app import MemdeckApp
from app.tui.commands.interface import Find, JobView, OpenDialog, RunJob, Say, Step, Steps
from memory.errors import MemdeckError
from memory.workspace import Workspace
from tests.app.tui.tui_helpers import jobs_done, make_app, make_workspace, press, running, settle
from widgets.dialogs.dialogs import Confirm


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A workspace with one task."""
    return make_workspace(tmp_path, {"tasks.md": "## Pending\n\n### [HIGH] Deploy\n"})


def said(app: MemdeckApp, words: str) -> bool:
    """Whether a message with these words is in the corner."""
    return any(words in note.message for note in app._notifications)


async def test_an_error_that_nobody_expected_is_said_and_nothing_stays_busy(workspace: Workspace) -> None:
    """What a worker raises comes back as a message, and the application is idle again."""
    app = make_app(workspace)
    async with running(app) as pilot:
        app.perform(Find(lambda: [][1]))
        assert not app.edits.idle
        await settle(pilot)
        assert app.edits.idle
        assert said(app, "IndexError: list index out of range")


async def test_an_error_goes_to_whoever_deals_with_it(workspace: Workspace) -> None:
    """`otherwise` gives the step that is done instead of saying the error; its None leaves it to be said."""
    app = make_app(workspace)

    def work() -> None:
        raise MemdeckError("file.locked", "it is locked", "wait")

    async with running(app) as pilot:
        app.perform(Find(work, otherwise=lambda error: Say(f"dealt with {error.code}")))
        await settle(pilot)
        assert said(app, "dealt with file.locked")
        app.perform(Find(work, otherwise=lambda _: None))
        await settle(pilot)
        assert said(app, "it is locked; wait")


async def test_work_runs_in_a_thread_and_its_result_in_the_application(workspace: Workspace) -> None:
    """Nothing of a step's work keeps the event loop."""
    app = make_app(workspace)
    seen: list[int] = []

    def then(_: object) -> Step:
        seen.append(threading.get_ident())
        return None

    async with running(app) as pilot:
        app.perform(Find(lambda: seen.append(threading.get_ident()), then))
        await settle(pilot)
        assert seen[0] != threading.get_ident()
        assert seen[1] == threading.get_ident()


async def test_a_dialog_that_took_a_while_does_not_lie_over_another(workspace: Workspace) -> None:
    """Where the person opened something else meanwhile it is only said, by its name."""
    app = make_app(workspace)
    answers: list[bool | None] = []

    def then(answer: bool | None) -> Step:
        answers.append(answer)
        return None

    async with running(app) as pilot:
        app.perform(OpenDialog(Confirm("First?"), then))
        await settle(pilot)
        app.perform(OpenDialog(Confirm("Second?"), then, waited="The plan"))
        await settle(pilot)
        assert said(app, "The plan was ready when something else was open")
        await press(pilot, "y")
        assert answers == [True]
        assert app.screen is app.main_screen


async def test_a_job_of_a_kind_runs_once_at_a_time(workspace: Workspace) -> None:
    """A second one of the same words is not begun while the first one runs."""
    app = make_app(workspace)
    begun: list[int] = []
    go_on = threading.Event()

    def work(_: JobView) -> str:
        begun.append(1)
        go_on.wait(60)
        return "done"

    step = RunJob("looking", work, lambda found: Steps((Say("first"), Say(found))), once=True)
    async with running(app) as pilot:
        try:
            app.perform(Steps((step, step)))
            assert len(app.jobs.running) == 1
        finally:
            go_on.set()
        await jobs_done(pilot)
        await settle(pilot)
        assert begun == [1]
        assert [note.message for note in app._notifications][-1] == "done"
