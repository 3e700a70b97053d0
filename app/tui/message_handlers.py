"""Postbox: every message that reaches the application goes to the part that it is for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import App
from textual.widgets import Input

from widgets.chrome.go_prefix import GoWaits, Prefixed
from widgets.chrome.header import HeaderLine
from widgets.chrome.sidebar import Sidebar
from widgets.list.line_list import LineList
from widgets.pane.base import Pane

from . import messages
from .live.header_status import not_read
from .toasts import place_toasts

if TYPE_CHECKING:
    from widgets.input.form import Form
    from widgets.panes.brief.pane import BriefPane

    from .commands.navigation import Navigation
    from .commands.write import Changing
    from .forms.drafts import Drafting
    from .keys.type_ahead import TypeAhead
    from .live.jobs import Jobs
    from .live.outside_changes import Noticing
    from .live.refresh import Looking
    from .live.schedule import Watching
    from .main_screen import Desk
    from .search.queries import Searching


class Postbox(App[int]):
    """The part of `MemdeckApp` that takes messages; it knows which part wants which."""

    if TYPE_CHECKING:
        changing: Changing
        desk: Desk
        jobs: Jobs
        looking: Looking
        navigation: Navigation
        noticing: Noticing
        searching: Searching
        typing_ahead: TypeAhead
        watching: Watching

        @property
        def drafting(self) -> Drafting: ...

        def refresh_keys(self) -> None: ...

    # Messages of workers

    def on_looked(self, message: messages.Looked) -> None:
        """Files were read."""
        self.looking.looked(message)

    def on_counted(self, message: messages.Counted) -> None:
        """Panes were counted."""
        self.looking.counted(message)

    def on_briefed(self, message: messages.Briefed) -> None:
        """What needs attention is known."""
        self.looking.briefed(message)

    def on_look_failed(self, message: messages.LookFailed) -> None:
        """Files could not be read; the header says so until they can, for what is shown is not what they hold."""
        self.looking.failed(message)
        self.desk.header.alerts = not_read([message.error])

    def on_noticed(self, message: messages.Noticed) -> None:
        """The change log is up to date."""
        self.noticing.noticed(message)

    def on_drafted(self, message: messages.Drafted) -> None:
        """Drafts were found that nobody saved."""
        self.drafting.found(message.drafts)

    def on_look_ended(self, message: messages.LookEnded) -> None:  # noqa: ARG002
        """The reading worker is free."""
        self.looking.ended()

    def on_files_changed(self, message: messages.FilesChanged) -> None:
        """The watcher saw something."""
        self.looking.files_changed(message.names)
        self.searching.files_changed()

    def on_changed(self, message: messages.Changed) -> None:
        """A change was written."""
        self.noticing.changed()
        self.changing.changed(message)

    def on_change_failed(self, message: messages.ChangeFailed) -> None:
        """A change was not written."""
        self.changing.failed(message)

    def on_found(self, message: messages.Found) -> None:
        """A search has an answer."""
        self.searching.found(message)

    def on_indexed(self, message: messages.Indexed) -> None:
        """The index of search is up to date."""
        self.searching.indexed(message)

    def on_done(self, message: messages.Done) -> None:
        """A worker has a result."""
        self.changing.end()
        message.then(message.result)

    def on_looked_ahead(self, message: messages.LookedAhead) -> None:
        """What is due is known."""
        self.watching.looked_ahead(message)

    def on_job_moved(self, message: messages.JobMoved) -> None:  # noqa: ARG002
        """A job got further."""
        self.jobs.show()

    def on_job_ended(self, message: messages.JobEnded) -> None:
        """A job is done."""
        self.jobs.ended(message)

    # Messages of widgets

    def on_form_edited(self, message: Form.Edited) -> None:
        """Something was typed into a form."""
        self.drafting.edited(message.form, message.values)

    def on_brief_pane_resume(self, message: BriefPane.Resume) -> None:
        """A draft of the brief was chosen."""
        self.drafting.resume(message.draft)

    def on_brief_pane_more(self, message: BriefPane.More) -> None:
        """All of a group of the brief is wanted."""
        self.navigation.more(message.group)

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
        self.navigation.go_waits(waits=message.waits and self.screen is self.desk)

    def on_prefixed(self, message: Prefixed) -> None:
        """A character was typed after g."""
        try:
            self.navigation.go(message.character)
        finally:
            self.typing_ahead.acted()

    def on_line_list_opened(self, message: LineList.Opened) -> None:
        """Nothing here opens by itself."""
        message.stop()

    def on_input_submitted(self, message: Input.Submitted) -> None:
        """Nothing here is submitted by itself."""
        message.stop()
