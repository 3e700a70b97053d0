"""MemdeckApp: the application. It makes its parts, tells each which others it may use, and owns the life cycle."""

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

from memory.person import short_path
from widgets.chrome.footer import active_binding, is_typing
from widgets.chrome.go_prefix import GoWaits, Prefixed
from widgets.chrome.header import HeaderLine
from widgets.chrome.sidebar import Sidebar
from widgets.list.line_list import LineList
from widgets.pane.base import Pane
from widgets.text.depth import Depth
from widgets.text.glyphs import UNICODE, Glyphs

from .commands.conditions import Situation
from .forms.consent import ConsentPart
from .keys.escape import apart
from .keys.keymap import Keymap
from .keys.registry import BY_ID, PARTS, Action, command_of
from .keys.type_ahead import TypeAhead
from .live.edits import Edits
from .live.fleet import PANE as FLEET
from .live.fleet import AllWorkspaces
from .live.jobs import Jobs
from .live.outside_changes import LogSource, OutsideChanges
from .live.overview import AwaySummary, OverviewPart
from .live.prompts import PANE as PROMPT
from .live.prompts import PromptSource
from .live.proposals import PANE as INBOX
from .live.proposals import AgentProposals
from .live.refresh import Refresher
from .live.schedule import Schedule
from .main_screen import MainScreen
from .navigation import Navigation
from .overlays import Overlays
from .pane_state import PaneState
from .search.queries import SearchQueries
from .shell import Shell, leave_on_signals
from .threads import Progress, ThreadReport
from .toasts import place_toasts

if TYPE_CHECKING:
    from memory.history.lost_files import LostFile
    from memory.history.taken_back import Undone
    from memory.monitoring.run.run import WatchServices
    from memory.trust.consent import Trust
    from memory.workspace import Workspace
    from widgets.input.form import Form
    from widgets.list.board import Board
    from widgets.panes import PaneName
    from widgets.panes.brief.pane import BriefPane
    from widgets.panes.fleet import FleetPane

    from .commands.context import JobView
    from .commands.perform import Performer
    from .forms.drafts import FormDrafts
    from .forms.form_session import FormSession

TICK_SECONDS = 30.0
"""How often what depends on the time is drawn again."""


class MemdeckApp(Shell):
    """Shows one workspace; without one it offers to make it.

    `clock` gives the time, `hand_over` gives the terminal to an editor (default: Textual's `suspend`), `watches`
    says whether changes from outside are looked for, `remembers` whether anything of what a person looks at is kept.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        # Everywhere, also where a dialog lies over the panes and where text is typed.
        Binding(
            "f1",
            "app.do('view.widget_help')",
            show=False,
            priority=True,
            id="view.widget_help",
            tooltip=BY_ID["view.widget_help"].description,
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
        """`pane`: what opens first (default: the one that was open last); `path`: where a workspace would be made.

        `only`: the pane that alone is there; nothing of the workspace is shown or changed.

        `depth`: how many colours the terminal shows; `keeps_watch`: whether monitors, heartbeat and maintenance run
        while it is open (default: as `watches`);
        `safe`: nothing that stands in memory files may run, whatever was approved.
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
        # Each part gets those above it; what goes the other way is a hook.
        self.pane_state = PaneState(self)
        self.refresher = Refresher(self)
        self.jobs = Jobs(self, self.refresher)
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
        self.overlays.wear()
        self.edits = Edits(self, self.refresher, self.outside_changes, overview, self.schedule, self.overlays)
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
        """Say what follows from a look at the files."""
        hooks = self.refresher.hooks
        hooks.before.append(self.outside_changes.look_first)
        hooks.once += [self.fleet.look, lambda: self.form_drafts.look()]
        hooks.behind += [self.outside_changes.look_behind, overview.count, overview.brief]
        hooks.shown += [self._say_what_changed, overview.shown, self.navigation.shown]
        hooks.rested += [self.edits.seen, self.schedule.begin]
        hooks.failed.append(overview.say_not_read)
        hooks.changed += [self.schedule.files_changed, self.search_queries.files_changed]
        self.outside_changes.on_change.append(overview.show_badges)
        self.outside_changes.on_undone.append(self._taken_back)

    def _say_what_changed(self, _pane: Pane, _first: bool) -> None:
        """Tell panes and the open form that other files are shown."""
        self.outside_changes.say_lost()
        if "form_session" in self.__dict__:
            # Where no form was ever opened there is none to tell.
            self.form_session.files_changed()

    def _taken_back(self, undone: Sequence[Undone]) -> None:
        from .commands.revert import taken_back

        self.perform(taken_back(self, undone))

    # Parts that nobody needs before the first frame; each is imported with its first use.

    @cached_property
    def form_drafts(self) -> FormDrafts:
        """Keeps what is typed."""
        from .forms.drafts import FormDrafts

        return FormDrafts(self, self.pane_state)

    @cached_property
    def form_session(self) -> FormSession:
        """Opens and writes forms."""
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
        """Does what commands return."""
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

    # What commands look at

    @property
    def undone(self) -> tuple[Undone, ...]:
        """What saves of other programs took back, and nobody decided about."""
        return self.outside_changes.undone

    @property
    def lost(self) -> LostFile | None:
        """The file of the open pane that is gone or empty."""
        return self.outside_changes.lost_in(self.pane)

    @property
    def has_jobs(self) -> bool:
        """Whether a job runs."""
        return bool(self.jobs.running)

    def can_turn(self, way: str) -> bool:
        """Return whether there was something to undo or to redo at the last look."""
        return self.outside_changes.can_turn(way)

    def may_turn(self, way: str) -> bool:
        """Return whether there is something to undo or to redo, or may be."""
        return self.outside_changes.may_turn(way, writing=not self.edits.idle)

    def saved_views(self, pane_id: str) -> dict[str, dict[str, str]]:
        """Return the views of a pane that people keep, by name."""
        return self.pane_state.saved_views(pane_id)

    def writing(self) -> AbstractContextManager[None]:
        """Hold the lock of changes while something is written in a thread."""
        return self.edits.writing()

    def trust(self) -> Trust | None:
        """Return what the person decided about commands, in an object of its own for one thread."""
        return self.schedule.trust()

    def ways(self, job: JobView) -> WatchServices:
        """Return what a run of monitors reaches."""
        return self.schedule.ways(job)

    @property
    def idle(self) -> bool:
        """Whether nothing is being read, written or about to be asked."""
        return self.refresher.idle and self.edits.idle and not self.consent.is_deaf and self.type_ahead.idle

    # Start and end

    def get_default_screen(self) -> MainScreen:
        """The main screen."""
        return self.main_screen

    def on_mount(self) -> None:
        """Begin to listen to signals and to the clock."""
        leave_on_signals(self)
        self.set_interval(TICK_SECONDS, self._tick)
        if self.setup.watches:
            self.agent_proposals.begin()
            self.fleet.begin()

    def on_unmount(self) -> None:
        """It ended, whatever ended it."""
        self.refresher.end()
        self.fleet.stop()

    def _main_screen_ready(self) -> None:
        """Open the workspace, or offer to make one."""
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
        """Make what was chosen on the start screen."""
        from .welcome import make

        if choice is None:
            self.exit(0)
            return
        workspace = make(self, choice)
        if workspace is not None:
            self.workspace = workspace
            self.overlays.wear()
            self.main_screen.header.path = short_path(str(workspace.root), self.environ)
            self.navigation.open_pane(self.navigation.first(), remember=False)

    def _leave(self) -> None:
        """Keep what is typed and what is remembered, stop watching."""
        self._keep_typed()
        self.pane_state.keep(self.search_queries.history, self.outside_changes.seen)
        self.refresher.stop()
        self.search_queries.stop()
        self.schedule.leave()
        self.fleet.stop()

    def _keep_typed(self) -> None:
        """Write what stands in a form; where no form was opened there is nothing to write."""
        if "form_drafts" in self.__dict__:
            self.form_drafts.save_now()

    def exit(self, *args: object, **kwargs: object) -> None:
        """Leave; what is remembered is written first."""
        if not self._exit:
            self._leave()
        super().exit(*args, **kwargs)  # type: ignore[arg-type]

    def _handle_exception(self, error: Exception) -> None:
        """An error that nobody expected ends the application; what is typed is kept.

        What comes late to an application that ends may find its screen or a widget gone; that is no error.
        """
        if self.ends and isinstance(error, (NoMatches, NoScreen, ScreenStackError)):
            return
        self._keep_typed()
        super()._handle_exception(error)

    def make_pane(self, name: PaneName) -> Pane:
        """Make a pane that is opened for the first time."""
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
        """Time went by: what is due or overdue may look different."""
        if self.workspace is not None and self.refresher.idle:
            self.refresher.tick()

    # Actions

    def action_do(self, action_id: str) -> None:
        """Do an action of the registry."""
        action = BY_ID[action_id]
        try:
            if self._allows(action):
                if action.target in PARTS:
                    getattr(getattr(self, action.target), action.method)(*action.arguments)
                else:
                    self.perform(command_of(action)(self, *action.arguments))
        finally:
            self.type_ahead.acted()

    async def on_event(self, event: Event) -> None:
        """Take an event; keys wait for what an earlier key opens, and mean nothing when it ends."""
        if self.ends and isinstance(event, (InputEvent, Paste)):
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
        """Whether a person gave this key to anything, or it means something here as it is."""
        chosen = any(key in keys for keys in self.keymap.rebound.values())
        return chosen or active_binding(self.screen, key) is not None

    async def _pass_on(self, key: Key) -> None:
        """Take a key that waited, unless a question came up since it was typed."""
        if not self.consent.drops(key):
            await super().on_event(key)

    def _allows(self, action: Action) -> bool:
        """Whether an action means something now."""
        return Situation(self).allows(action.needs)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys of actions that mean nothing now are no keys, and the footer does not show them."""
        if action == "do" and parameters:
            return self._allows(BY_ID[str(parameters[0])])
        return True

    def explain_key(self, key: str) -> None:
        """Say why a key does nothing here; nothing where it never does anything, or where it is typed.

        The key that leaves has nothing to leave then but what is said.
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
        """The main screen has the keys again."""
        self.overlays.freed()

    # Messages

    def on_thread_report(self, message: ThreadReport) -> None:
        """A thread is done with something."""
        with self.overlays.coming_late(True):
            message.deliver()

    def on_progress(self, message: Progress) -> None:
        """A job got further."""
        message.deliver()

    def on_form_edited(self, message: Form.Edited) -> None:
        """Something was typed into a form."""
        self.form_drafts.edited(message.form, message.values)

    def on_brief_pane_resume(self, message: BriefPane.Resume) -> None:
        """A draft of the brief was chosen."""
        self.form_session.resume_left(message.draft)

    def on_brief_pane_more(self, message: BriefPane.More) -> None:
        """All of a group of the brief is wanted."""
        self.navigation.more(message.group)

    def on_fleet_pane_chosen(self, message: FleetPane.Chosen) -> None:
        """Another workspace was chosen."""
        self.fleet.open_workspace(message.item)

    def on_pane_jump(self, message: Pane.Jump) -> None:
        """A link was followed."""
        self.navigation.jump(message.file, message.ref)

    def on_pane_linked(self, message: Pane.Linked) -> None:
        """The links of an entry are known."""
        self.navigation.linked(message.pane)

    def on_pane_current(self, message: Pane.Current) -> None:  # noqa: ARG002
        """Other keys may mean something for another entry, and what is said makes room for it."""
        self.refresh_keys()
        if self._notifications:
            place_toasts(self)

    def on_sidebar_chosen(self, message: Sidebar.Chosen) -> None:
        """A pane was chosen in the sidebar."""
        self.navigation.open_pane(message.pane_id)

    def on_header_line_chosen(self, message: HeaderLine.Chosen) -> None:
        """A count of the header was clicked."""
        self.navigation.lead(message.leads)

    def on_go_waits(self, message: GoWaits) -> None:
        """`g` was typed, or what follows it; in a dialog it leads to the first row only."""
        message.stop()
        self.navigation.go_waits(waits=message.waits and self.screen is self.main_screen)

    def on_prefixed(self, message: Prefixed) -> None:
        """A character was typed after g."""
        try:
            self.navigation.go(message.character)
        finally:
            self.type_ahead.acted()

    def on_line_list_opened(self, message: LineList.Opened) -> None:
        """Nothing here opens by itself."""
        message.stop()

    def on_input_submitted(self, message: Input.Submitted) -> None:
        """Nothing here is submitted by itself."""
        message.stop()

    def on_board_dropped(self, message: Board.Dropped) -> None:
        """A card was dragged to another column."""
        from .commands.tasks import drop

        message.stop()
        self.perform(drop(self, message.row.item, message.lane))
