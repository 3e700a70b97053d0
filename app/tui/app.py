"""MemdeckApp: the application. It creates its parts, gives each the other parts it uses, and owns the life cycle."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ScreenStackError
from textual.binding import Binding, BindingType
from textual.css.query import NoMatches
from textual.dom import NoScreen
from textual.events import Event, InputEvent, Key, Paste
from textual.widgets import Input

from memory.storage.own_folders import short_path
from widgets.chrome.header import HeaderLine
from widgets.chrome.keys import GoWaits, Prefixed, active_binding, is_typing
from widgets.chrome.sidebar import Sidebar
from widgets.list.line_list import LineList
from widgets.pane.base import Pane
from widgets.text.depth import Depth
from widgets.text.glyphs import UNICODE, Glyphs

from .commands.conditions import Situation
from .forms.consent import ConsentPart
from .keys.keymap import Keymap
from .keys.registry import BY_ID, Command, function_of
from .keys.type_ahead import TypeAhead, apart
from .live.background import Jobs, Schedule
from .live.edits import Edits
from .live.fleet import PANE as FLEET
from .live.fleet import AllWorkspaces
from .live.outside_changes import LogSource, OutsideChanges
from .live.overview import AwaySummary, OverviewPart
from .live.prompts import PANE as PROMPT
from .live.prompts import PromptSource
from .live.proposals import PANE as INBOX
from .live.proposals import AgentProposals
from .live.refresh import Refresher
from .main_screen import MainScreen
from .navigation import Navigation
from .overlays import Overlays
from .pane_state import PaneState
from .search.queries import SearchQueries
from .shell import Progress, Shell, ThreadReport, place_toasts

if TYPE_CHECKING:
    from memory.history.lost_files import LostFile
    from memory.history.stale_saves import Undone
    from memory.monitoring.run.run import WatchServices
    from memory.trust.consent import Trust
    from memory.workspace import Workspace
    from widgets.input.form import Form
    from widgets.list.board import Board
    from widgets.panes import PaneName
    from widgets.panes.brief.pane import BriefPane
    from widgets.panes.fleet import FleetPane

    from .commands.interface import JobView
    from .commands.perform import Performer
    from .forms.drafts import FormDrafts
    from .forms.form_session import FormSession
    from .leaving import Leaving

TICK_SECONDS = 30.0
"""Seconds between redraws of everything that depends on the time."""


class MemdeckApp(Shell):
    """Shows one workspace; without a workspace it offers to create one.

    `clock` returns the time. `hand_over` gives the terminal to an editor (default: Textual's `suspend`). `watches`:
    whether changes from outside are looked for. `remembers`: whether the state of the view is saved.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        # Works everywhere, also in dialogs and while text is typed.
        Binding(
            "f1",
            "app.do('view.widget_help')",
            show=False,
            priority=True,
            id="view.widget_help",
        )
    ]

    def __init__(
        self,
        workspace: Workspace | None,
        *,
        clock: Callable[[], datetime],
        pane: str | None = None,
        path: str = ".",
        environ: Mapping[str, str] | None = None,
        glyphs: Glyphs = UNICODE,
        depth: Depth = "truecolor",
        watches: bool = True,
        keeps_watch: bool | None = None,
        remembers: bool = True,
        safe: bool = False,
        hand_over: Callable[[], AbstractContextManager[None]] | None = None,
        keymap: Keymap | None = None,
        only: str | None = None,
    ) -> None:
        """`pane`: the pane to open first (default: the one that was open last). `path`: where a workspace would be
        created.

        `only`: the id of the only pane to show; nothing of the workspace is shown or changed then.

        `depth`: how many colours the terminal shows. `keeps_watch`: whether monitors, heartbeat and maintenance run
        while the application is open (default: as `watches`).
        `safe`: no command from memory files may run, even if it was approved.
        """
        super().__init__(
            workspace,
            clock=clock,
            path=path,
            environ=environ,
            glyphs=glyphs,
            depth=depth,
            watches=watches,
            keeps_watch=keeps_watch,
            remembers=remembers,
            safe=safe,
            hand_over=hand_over,
            keymap=keymap,
            only=only,
        )
        # Each part is given parts created before it; calls in the other direction are hooks.
        self.pane_state = PaneState(self)
        self.refresher = Refresher(self)
        self.jobs = Jobs(self)
        self.schedule = Schedule(self, self.refresher, self.jobs)
        self.outside_changes = OutsideChanges(self, self.refresher, self.pane_state)
        self.agent_proposals = AgentProposals(self, self.refresher)
        overview = OverviewPart(
            self,
            self.refresher,
            self.outside_changes,
            self.schedule,
            AwaySummary(self, self.pane_state),
            self.agent_proposals.source,
        )
        self.overlays = Overlays(self, self._allows, self.action_do, self.pane_state)
        self.overlays.apply_theme()
        self.edits = Edits(self, self.refresher, self.outside_changes, self.schedule, self.overlays)
        self.consent = ConsentPart(self, self.refresher, self.schedule, self.overlays, self.edits)
        self.navigation = Navigation(
            self,
            self.refresher,
            self.outside_changes,
            overview,
            self.pane_state,
            self.overlays,
            self.consent,
            self.make_pane,
        )
        self.search_queries = SearchQueries(self, self.navigation, self.pane_state)
        self.fleet = AllWorkspaces(self, self.refresher, self.jobs, self.navigation, self.overlays)
        self.search_queries.instead[FLEET] = self.fleet.search
        self.type_ahead = TypeAhead(self, self.edits, self.consent, self._pass_on)
        self._connect(overview)
        first = None
        if workspace is not None:
            first = self.navigation.begin(self.navigation.first(only or pane, self.pane_state.last_pane))
        path_shown = "" if workspace is None or only is not None else short_path(str(workspace.root), self.environ)
        self.main_screen = MainScreen(self._main_screen_ready, path_shown, first, self.navigation.panes)

    def _connect(self, overview: OverviewPart) -> None:
        """Register what runs before, during and after a refresh of the files."""
        hooks = self.refresher.hooks
        hooks.before.append(self.outside_changes.look_first)
        hooks.once += [self.fleet.look, lambda: self.form_drafts.look()]
        hooks.behind += [self.outside_changes.look_behind, overview.count, overview.brief]
        hooks.shown += [self._say_what_changed, overview.show_badges]
        hooks.shown_first.append(self.navigation.shown)
        hooks.rested += [self.edits.seen, self.schedule.begin]
        hooks.failed.append(overview.say_not_read)
        hooks.changed += [self.schedule.files_changed, self.search_queries.files_changed]
        self.outside_changes.on_change.append(overview.show_badges)
        self.outside_changes.on_undone.append(self._taken_back)

    def _say_what_changed(self) -> None:
        """Tell panes and the open form that the files on screen changed, and report files that were lost."""
        self.outside_changes.say_lost()
        if "form_session" in self.__dict__:
            # If no form was ever opened, there is none to tell.
            self.form_session.files_changed()

    def _taken_back(self, undone: Sequence[Undone]) -> None:
        from .commands.revert import taken_back

        self.perform(taken_back(self, undone))

    # Parts that are not needed before the first frame; each is imported on first use.

    @cached_property
    def form_drafts(self) -> FormDrafts:
        """The part that saves drafts of forms."""
        from .forms.drafts import FormDrafts

        return FormDrafts(self, self.pane_state)

    @cached_property
    def form_session(self) -> FormSession:
        """The part that opens forms and writes what they contain."""
        from .forms.form_session import FormSession

        return FormSession(
            self,
            self,
            self.refresher,
            self.edits,
            self.form_drafts,
            self.navigation,
            self.overlays,
            lambda step: self.perform(step),
        )

    @cached_property
    def perform(self) -> Performer:
        """The performer of the steps that commands return."""
        from .commands.perform import Performer

        return Performer(
            self,
            refresher=self.refresher,
            edits=self.edits,
            navigation=self.navigation,
            overlays=self.overlays,
            consent=self.consent,
            schedule=self.schedule,
            jobs=self.jobs,
            pane_state=self.pane_state,
            forms=lambda: (self.form_session, self.form_drafts),
        )

    # What commands read

    @property
    def undone(self) -> tuple[Undone, ...]:
        """Changes that saves of other programs undid and the user has not decided about yet."""
        return self.outside_changes.undone

    @property
    def lost(self) -> LostFile | None:
        """The file of the open pane if it is missing or empty, else None."""
        return self.outside_changes.lost_in(self.pane)

    @property
    def has_jobs(self) -> bool:
        """Whether a job runs."""
        return bool(self.jobs.running)

    def can_undo_or_redo(self, way: str) -> bool:
        """Return whether there was something to undo or redo at the last refresh."""
        return self.outside_changes.can_undo_or_redo(way)

    def may_undo_or_redo(self, way: str) -> bool:
        """Return whether there is something to undo or redo, or may be."""
        return self.outside_changes.may_undo_or_redo(way, writing=not self.edits.idle)

    def saved_views(self, pane_id: str) -> dict[str, dict[str, str]]:
        """Return the saved views of a pane by name."""
        return self.pane_state.saved_views(pane_id)

    def writing(self) -> AbstractContextManager[None]:
        """Hold the lock of changes while a thread writes."""
        return self.edits.writing()

    def trust(self) -> Trust | None:
        """Return the user's decisions about commands, as a separate object for one thread."""
        return self.schedule.trust()

    def services(self, job: JobView) -> WatchServices:
        """Return the services that a run of monitors uses."""
        return self.schedule.services(job)

    @property
    def idle(self) -> bool:
        """Whether nothing is being read or written and no question is about to open."""
        return self.refresher.idle and self.edits.idle and not self.consent.is_deaf and self.type_ahead.idle

    # Start and end

    def get_default_screen(self) -> MainScreen:
        """The main screen."""
        return self.main_screen

    def on_mount(self) -> None:
        """Start listening to the clock."""
        self.set_interval(TICK_SECONDS, self._tick)
        if self.setup.watches:
            self.agent_proposals.begin()
            self.fleet.begin()

    def on_unmount(self) -> None:
        """Stop reading files and watching the fleet, however the application ended."""
        self.refresher.stop()
        self.fleet.stop()

    def _main_screen_ready(self) -> None:
        """Open the workspace, or offer to create one."""
        if self.keymap.path:
            self.call_after_refresh(self.overlays.tell_of_keys)
        if self.navigation.pane is not None:
            self.refresher.first(self.navigation.pane)
            self.navigation.wait_for(self.navigation.pane)
            if self.setup.entry is not None:
                self.navigation.jump(*self.setup.entry)
            return
        from .welcome import StartScreen

        self.push_screen(StartScreen(self.setup.path), self._started)

    def _started(self, choice: str | None) -> None:
        """Create what was chosen on the start screen."""
        from .welcome import make

        if choice is None:
            self.exit(0)
            return
        workspace = make(self, choice)
        if workspace is not None:
            self.workspace = workspace
            self.overlays.apply_theme()
            self.main_screen.header.path = short_path(str(workspace.root), self.environ)
            self.navigation.open_pane(self.navigation.first(), remember=False)

    leaving: Leaving | None = None
    """Ends the process soon after the application is left; None where others end it, as in a test."""

    def _leave(self) -> None:
        """Save drafts and the state of the view, and stop watching."""
        self._keep_typed()
        self.pane_state.keep(self.search_queries.history, self.outside_changes.seen)
        self.refresher.stop()
        self.search_queries.stop()
        self.schedule.leave()
        self.fleet.stop()

    def _keep_typed(self) -> None:
        """Save the open form's draft, if any form was opened."""
        if "form_drafts" in self.__dict__:
            self.form_drafts.save_now()

    def exit(self, result: int | None = None, *args: Any, **kwargs: Any) -> None:
        """Leave; the state of the view is written first."""
        if not self._exit:
            if self.leaving is not None and self.fleet.destination is None and not self.is_headless:
                self.leaving.begin(result or 0)
            self._leave()
        super().exit(result, *args, **kwargs)

    def finish(self) -> None:
        """Write drafts and changes that are not written yet, and wait for jobs that are being cancelled."""
        self._keep_typed()
        self.edits.finish()
        self.jobs.finish()

    def _handle_exception(self, error: Exception) -> None:
        """End the application on an unexpected error; drafts are saved first.

        While the application ends, a late message may find that its screen or widget is gone; that is no error.
        """
        if self.ends and isinstance(error, (NoMatches, NoScreen, ScreenStackError)):
            return
        self._keep_typed()
        super()._handle_exception(error)

    def make_pane(self, name: PaneName) -> Pane:
        """Create a pane that is opened for the first time."""
        pane_type = name.load()
        if name.id == INBOX:
            return pane_type(self.agent_proposals.source)  # type: ignore[call-arg]
        if name.id == PROMPT:
            return pane_type(PromptSource(self))  # type: ignore[call-arg]
        if name.id == FLEET:
            return pane_type(self.fleet.source)  # type: ignore[call-arg]
        if name.id == "changes":
            return pane_type(LogSource(self))  # type: ignore[call-arg]
        if name.id == "monitors":
            return pane_type(self.schedule.pictures)  # type: ignore[call-arg]
        if name.id == "contacts":
            return pane_type(self.schedule.addresses)  # type: ignore[call-arg]
        if name.id == "plans":
            return pane_type(LogSource(self).past)  # type: ignore[call-arg]
        pane = pane_type()
        if name.id == "brief" and self.left_drafts:
            pane.say_drafts(self.form_drafts.listed)  # type: ignore[attr-defined]
        return pane

    def _tick(self) -> None:
        """Refresh what depends on the time, such as what is due or overdue."""
        if self.workspace is not None and self.refresher.idle:
            self.refresher.tick()

    # Actions

    def action_do(self, command_id: str) -> None:
        """Do a command, by id."""
        command = BY_ID[command_id]
        try:
            if self._allows(command):
                if command.part:
                    function_of(command.does)(getattr(self, command.part), *command.arguments)
                else:
                    self.perform(function_of(command.does)(self, *command.arguments))
        finally:
            self.type_ahead.acted()

    async def on_event(self, event: Event) -> None:
        """Handle an event. Keys wait for what an earlier key opens, and are ignored while the application ends."""
        if isinstance(event, (InputEvent, Paste)) and self.ends:
            return
        if isinstance(event, Key):
            self.refresher.pressed()
        if isinstance(event, Key) and not event.is_forwarded and (two := apart(event)) and not self._means(event.key):
            for key in two:
                await self.on_event(key)
            return
        if isinstance(event, Key) and not event.is_forwarded and self.consent.drops(event):
            return
        if isinstance(event, Key) and not event.is_forwarded and self.type_ahead.keep(event):
            return
        await super().on_event(event)

    def _means(self, key: str) -> bool:
        """Whether the user bound this key to anything, or the current screen binds it."""
        chosen = any(key in keys for keys in self.keymap.rebound.values())
        return chosen or active_binding(self.screen, key) is not None

    async def _pass_on(self, key: Key) -> None:
        """Handle a key that waited, unless a question opened since it was typed."""
        if not self.consent.drops(key):
            await super().on_event(key)

    def _allows(self, action: Command) -> bool:
        """Whether an action is available now."""
        return Situation(self).allows(action.needs)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable the keys of actions that are not available now; the footer does not show them."""
        if action == "do" and parameters:
            return self._allows(BY_ID[str(parameters[0])])
        return True

    def explain_key(self, key: str) -> None:
        """Say why a key does nothing here; say nothing if it never does anything, or if text is being typed.

        The key that leaves only clears the messages in that case.
        """
        from .keys.available import why_dead

        if key in self.keymap.keys("view.leave", BY_ID["view.leave"].keys):
            self.clear_notifications()
        elif not is_typing(self.screen.focused) and (words := why_dead(self, self.keymap, Situation(self), key)):
            self.say(words)

    def push_screen(self, screen: Any, *arguments: Any, **options: Any) -> Any:
        """Open a screen."""
        self.overlays.opens(screen)
        return super().push_screen(screen, *arguments, **options)

    def main_screen_free(self) -> None:
        """Note that the main screen has the keys again."""
        self.overlays.freed()

    # Messages

    def on_thread_report(self, message: ThreadReport) -> None:
        """Deliver the result of a thread."""
        with self.overlays.coming_late(True):
            message.deliver()

    def on_progress(self, message: Progress) -> None:
        """Deliver the progress of a job."""
        message.deliver()

    def on_form_edited(self, message: Form.Edited) -> None:
        """Save a draft of the form that was edited."""
        self.form_drafts.edited(message.form, message.values)

    def on_brief_pane_resume(self, message: BriefPane.Resume) -> None:
        """Open a draft that was chosen in the brief."""
        self.form_session.resume_left(message.draft)

    def on_brief_pane_more(self, message: BriefPane.More) -> None:
        """Show all entries of a group of the brief."""
        self.navigation.more(message.group)

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
        """Update keys and messages for another entry under the cursor."""
        self.refresh_keys()
        if self._notifications:
            place_toasts(self)

    def on_sidebar_chosen(self, message: Sidebar.Chosen) -> None:
        """Open the pane that was chosen in the sidebar."""
        self.navigation.open_pane(message.pane_id)

    def on_header_line_chosen(self, message: HeaderLine.Chosen) -> None:
        """Go where a count of the header leads when it is clicked."""
        self.navigation.lead(message.leads)

    def on_go_waits(self, message: GoWaits) -> None:
        """Show or hide where `g` leads; in a dialog it leads only to the first row."""
        message.stop()
        self.navigation.go_waits(waits=message.waits and self.screen is self.main_screen)

    def on_prefixed(self, message: Prefixed) -> None:
        """Go where the character typed after `g` leads."""
        try:
            self.navigation.go(message.character)
        finally:
            self.type_ahead.acted()

    def on_line_list_opened(self, message: LineList.Opened) -> None:
        """Ignore an opened row; nothing here opens by itself."""
        message.stop()

    def on_input_submitted(self, message: Input.Submitted) -> None:
        """Ignore a submitted input; nothing here is submitted by itself."""
        message.stop()

    def on_board_dropped(self, message: Board.Dropped) -> None:
        """Move the task of a card that was dragged to another column."""
        from .commands.tasks import drop

        message.stop()
        self.perform(drop(self, message.row.item, message.lane))
