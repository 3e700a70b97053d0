"""MemdeckApp: the application. It creates its parts, tells each what happened, and owns the life cycle."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ScreenStackError
from textual.binding import Binding, BindingType
from textual.css.query import NoMatches
from textual.dom import NoScreen
from textual.driver import Driver
from textual.events import Event, InputEvent, Key, Paste

from memory.storage.own_folders import short_path
from memory.workspace import Workspace
from widgets.chrome.header import HeaderLine
from widgets.chrome.keys import active_binding, is_typing
from widgets.chrome.sidebar import Sidebar
from widgets.pane.base import Pane
from widgets.panes import PaneName
from widgets.text.theme import offered

from .commands.table import BY_ID, COMMANDS, function_of, reason
from .keys.type_ahead import apart
from .lean_output import leaner, staying
from .live.refresh import Shown
from .main_screen import MainScreen
from .shell import Setup, ThreadReport
from .spine import Changed, Spine

if TYPE_CHECKING:
    from textual.timer import Timer

    from widgets.input.editors import SafeInput
    from widgets.input.form import Form
    from widgets.panes.brief import BriefPane
    from widgets.panes.fleet import FleetPane
    from widgets.panes.tasks.pane import TasksPane

    from .leaving import Leaving

TICK_SECONDS = 30.0
"""Seconds between redraws of everything that depends on the time."""

PROPOSAL_SECONDS = 1.0
"""Seconds between looks at the record of proposals, which changes without any file of the workspace."""

FLEET_SECONDS = 2.0
"""Seconds between looks at the files of all workspaces while their pane is visible."""


KEYS_SECONDS = 20.0
"""Seconds for which problems with the keys are shown; there may be many lines."""

GIVEN_SECONDS = 5.5
"""Seconds after the last change at which files are read once more: the log allows a lost file nearly as long."""

THREADS = 64
"""Threads for workers: so many that nothing that is read waits behind jobs that take long."""


class MemdeckApp(Spine):
    """Shows one workspace; without a workspace it offers to create one.

    `clock` returns the time. `hand_over` gives the terminal to an editor (default: Textual's `suspend`). `watches`:
    whether changes from outside are looked for. `remembers`: whether the state of the view is saved.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        # Works everywhere, also in dialogs and while text is typed.
        Binding("f1", "app.do('view.widget_help')", show=False, priority=True, id="view.widget_help")
    ]

    def __init__(self, workspace: Workspace | None, setup: Setup) -> None:
        """Create the main screen with its first pane."""
        super().__init__(workspace, setup)
        self._later: Timer | None = None
        self._apply_theme()
        first = None
        if workspace is not None:
            pane_id = self.navigation.first_pane(setup.pane, self.pane_state.last_pane)
            first = self.navigation.begin(pane_id)
        shown = "" if workspace is None else short_path(str(workspace.root), self.environ.get("HOME"))
        self.main_screen = MainScreen(self._main_screen_ready, shown, first, self.state.names)

    @property
    def idle(self) -> bool:
        """Whether nothing is being read or written and no question is about to open."""
        state = self.state
        return not (state.reading or state.writing or self.expects or self.is_deaf) and self.type_ahead.idle

    # Start and end

    def get_default_screen(self) -> MainScreen:
        """The main screen."""
        return self.main_screen

    def _build_driver(self, headless: bool, *args: Any, **kwargs: Any) -> Driver:
        """Return the driver; it writes few bytes, and the screen stays while one workspace replaces another."""
        driver = super()._build_driver(headless, *args, **kwargs)
        if not headless:
            write = staying(leaner(driver.write), lambda: self.keeps_screen, entered=self.setup.entered)
            driver.write = write  # type: ignore[assignment,method-assign]
        return driver

    @property
    def keeps_screen(self) -> bool:
        """Whether another workspace replaces this one, on the same screen."""
        return self.fleet.destination is not None and self.failure is None

    def on_mount(self) -> None:
        """Start listening to the clock."""
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS, "memdeck-worker"))
        self.set_interval(TICK_SECONDS, self._tick)
        if self.setup.watches:
            self.set_interval(PROPOSAL_SECONDS, lambda: self._look_again("proposals"))
            self.set_interval(FLEET_SECONDS, lambda: self._look_again("fleet"))

    def _look_again(self, part: str) -> None:
        """Let a part look for what changes without any file of the workspace, once the files were read."""
        if self.state.had_first_look and not self.state.reading:
            getattr(self, part).refresh()

    def on_unmount(self) -> None:
        """Stop reading files and watching the fleet, however the application ended."""
        self.refresher.stop()
        self.fleet.stop()

    def _main_screen_ready(self) -> None:
        """Open the workspace, or offer to create one."""
        if self.keymap.path:
            self.call_after_refresh(self._tell_of_keys)
        if self.pane is not None:
            self.refresher.first(self.pane)
            self.navigation.announce_reading(self.pane)
            if self.setup.entry is not None:
                self.navigation.jump(*self.setup.entry)
            return
        from .welcome import start_screen

        self.push_screen(start_screen(self.setup.path, self.environ, self.clock()), self._started)

    def _started(self, choice: str | None) -> None:
        """Create or open what was chosen on the start screen."""
        from .welcome import make

        if choice is None:
            self.exit(0)
            return
        workspace = make(self, choice)
        if workspace is not None:
            self.state.workspace = workspace
            self._apply_theme()
            self.main_screen.header.path = short_path(str(workspace.root), self.environ.get("HOME"))
            self.navigation.open_pane(self.navigation.first_pane(), remember=False)

    def _apply_theme(self) -> None:
        """Use the theme that the user chose last, if this terminal can show it properly."""
        name = self.pane_state.theme
        if name is None or name == self.theme:
            return
        for theme in offered(self.depth):
            if theme.name == name:
                self.register_theme(theme)
                self.theme = name

    def _tell_of_keys(self) -> None:
        """Say everything that is wrong with the user's keys: the file once, then each line."""
        problems = self.keymap.problems
        if problems:
            said = [f"line {one.line}: {one.message}" if one.line else one.message for one in problems[:9]]
            self.say("\n".join(said), title=problems[0].file, severity="warning", seconds=KEYS_SECONDS)

    leaving: Leaving | None = None
    """Ends the process soon after the application is left; None where others end it, as in a test."""

    def _leave(self) -> None:
        """Save drafts and the state of the view, and stop watching."""
        self.form_drafts.save_now()
        self.pane_state.keep(self.outside_changes.seen)
        self.refresher.stop()
        self.search_queries.stop()
        self.schedule.leave()
        self.fleet.stop()

    def exit(self, result: int | None = None, *args: Any, **kwargs: Any) -> None:
        """Leave; the state of the view is written first."""
        if not self._exit:
            if self.leaving is not None and self.fleet.destination is None and not self.is_headless:
                self.leaving.begin(result or 0)
            self._leave()
        super().exit(result, *args, **kwargs)

    def finish(self) -> None:
        """Write drafts and changes that are not written yet, and wait for jobs that are being cancelled."""
        self.form_drafts.save_now()
        super().finish()
        self.jobs.finish()

    def _handle_exception(self, error: Exception) -> None:
        """End the application on an unexpected error; drafts are saved first.

        While the application ends, a late message may find that its screen or widget is gone; that is no error.
        """
        if self.ends and isinstance(error, (NoMatches, NoScreen, ScreenStackError)):
            return
        self.form_drafts.save_now()
        super()._handle_exception(error)

    def make_pane(self, name: PaneName) -> Pane:
        """Create a pane that is opened for the first time."""
        sources: dict[str, Callable[[], object]] = {
            "changes": lambda: self.outside_changes,
            "contacts": lambda: self.schedule.addresses,
            "fleet": lambda: self.fleet,
            "waiting": lambda: self.proposals,
            "monitors": lambda: self.schedule.pictures,
            "prompt": lambda: self.prompts,
        }
        pane_type, source = name.load(), sources.get(name.id)
        pane = pane_type() if source is None else pane_type(source())  # type: ignore[call-arg]
        pane.remembered = self.pane_state.view_of(name.id)
        if name.id == "brief" and self.state.left_drafts:
            pane.say_drafts(self.form_drafts.listed)  # type: ignore[attr-defined]
        return pane

    def _tick(self) -> None:
        """Refresh everything that depends on the time, such as due and overdue tasks."""
        if self.workspace is not None and not self.state.reading:
            self.refresher.read()

    # Actions

    def action_do(self, command_id: str) -> None:
        """Do a command, by id."""
        try:
            super().action_do(command_id)
        finally:
            self.type_ahead.acted()

    async def on_event(self, event: Event) -> None:
        """Handle an event. Keys wait for what an earlier key opens, and are ignored while the application ends."""
        if isinstance(event, (InputEvent, Paste)) and self.ends:
            return
        if isinstance(event, Key):
            self.state.pressed = time.monotonic()
        if isinstance(event, Key) and not event.is_forwarded and (two := apart(event)) and not self._means(event.key):
            for key in two:
                await self.on_event(key)
            return
        if isinstance(event, Key) and not event.is_forwarded and self.drops(event):
            return
        if isinstance(event, (Key, Paste)) and not event.is_forwarded and self.type_ahead.keep(event):
            return
        await super().on_event(event)

    def _means(self, key: str) -> bool:
        """Whether the user bound this key to anything, or the current screen binds it."""
        chosen = any(key in keys for keys in self.keymap.rebound.values())
        return chosen or active_binding(self.screen, key) is not None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable the keys of actions that are not available now; the footer does not show them."""
        if action == "do" and parameters:
            return self.allows(BY_ID[str(parameters[0])])
        return True

    def explain_key(self, key: str) -> None:
        """Say why a key does nothing here; say nothing if it never does anything, or if text is being typed.

        The key that leaves only clears the messages in that case.
        """
        now, bound = self.situation, [one for one in COMMANDS if key in self.keymap.keys(one.id, one.keys)]
        if BY_ID["view.leave"] in bound:
            self.clear_notifications()
        elif bound and now.pane is not None and not is_typing(self.screen.focused):
            dead = not any(now.allows(one.needs) for one in bound)
            # What the key does in this pane comes before what it does everywhere and in other panes.
            here = min(bound, key=lambda one: (now.pane_id not in (one.needs.panes or ()), bool(one.needs.panes)))
            if dead and (words := reason(self, here, now.pane_id, *bound)):
                self.say(words)

    # Messages

    def on_changed(self, message: Changed) -> None:
        """Read the files again, and tell the parts that depend on them."""
        self.schedule.files_changed(message.files)
        self.search_queries.files_changed()
        self.refresher.read()
        # Programs remove a file for a moment; the log believes it only later, and nothing tells when.
        if self._later is not None:
            self._later.stop()
        self._later = self.set_timer(GIVEN_SECONDS, self.refresher.read)

    def on_shown(self, message: Shown) -> None:
        """Tell the parts that a pane shows what was read."""
        if message.first:
            self.navigation.shown(message.pane)
        if self.state.had_first_look:
            self.form_session.files_changed()

    def on_rest(self) -> None:
        """Look at the whole workspace while nothing is read, and begin the schedule after the first time."""
        if not self.state.reading:
            if not gc.isenabled():
                # What was imported and read stays: no search for garbage goes through it again.
                gc.freeze()
                gc.enable()
            self.settled()
            self.overview.request()
            self.schedule.begin()
            self.fleet.list_here()

    def on_thread_report(self, message: ThreadReport) -> None:
        """Deliver the result of a thread."""
        with self.coming_late(True):
            message.deliver()

    def on_form_edited(self, message: Form.Edited) -> None:
        """Save a draft of the form that was edited."""
        self.form_drafts.edited(message.form, message.values)

    def on_brief_pane_resume(self, message: BriefPane.Resume) -> None:
        """Open a draft that was chosen in the brief."""
        self.form_session.resume_left(message.draft)

    def on_brief_pane_decide(self, message: BriefPane.Decide) -> None:
        """Show what waits of a group of the brief."""
        self.navigation.more("waiting", message.filter)

    def on_fleet_pane_chosen(self, message: FleetPane.Chosen) -> None:
        """Open another workspace that was chosen in the fleet."""
        self.fleet.open_workspace(message.item)

    def on_pane_jump(self, message: Pane.Jump) -> None:
        """Follow a link."""
        self.navigation.jump(message.file, message.ref)

    def on_pane_linked(self, message: Pane.Linked) -> None:
        """Handle the links of an entry once they are known."""
        self.navigation.linked(message.pane)

    def on_pane_current(self, message: Pane.Current) -> None:  # noqa: ARG002
        """Update the hints for another entry under the cursor, once the cursor is drawn."""
        self.call_after_refresh(self.refresh_keys)

    def on_tasks_pane_pasted(self, message: TasksPane.Pasted) -> None:
        """Make tasks of what was pasted into their list."""
        function_of("tasks.pasted")(self, message.text)

    def on_sidebar_chosen(self, message: Sidebar.Chosen) -> None:
        """Open the pane that was chosen in the sidebar."""
        self.navigation.open_pane(message.pane_id)

    def on_header_line_chosen(self, message: HeaderLine.Chosen) -> None:
        """Go where a count of the header leads when it is clicked."""
        self.navigation.go_to_count(message.leads)

    def on_safe_input_pasted(self, message: SafeInput.Pasted) -> None:
        """Join lines that were pasted into a field of one line."""
        message.stop()
        message.editor.put(" ".join(message.lines))
        self.say(f"{len(message.lines)} pasted lines joined into one.")
