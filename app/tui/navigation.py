"""Navigation: which pane is open, back and forward, and links from entry to entry."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from widgets.pane.base import Pane
from widgets.panes import GROUPS, pane_of

from .main_screen import entry_of
from .spine import Part
from .state import panes_by_id

FIRST_PANE = "tasks"
"""The pane that opens in a workspace that was never opened before."""

LONGEST_WAY = 100
"""How many places the back history keeps."""

READING_SECONDS = 0.3
"""Seconds after which an empty pane says that its files are being read."""


Place = tuple[str, str]
"""A pane and the ref of the entry under its cursor (empty: none)."""


class Navigation(Part):
    """Opens panes. Each is imported and mounted when it is opened for the first time."""

    def set_up(self) -> None:
        """Begin with no open pane and an empty history."""
        self._back: deque[Place] = deque(maxlen=LONGEST_WAY)
        self._forward: deque[Place] = deque(maxlen=LONGEST_WAY)
        self._narrowed: tuple[str, str] | None = None
        """The pane that opened with a filter from another one, and that filter: Escape leads back."""
        self._following: object = None
        """The row whose first link is followed as soon as it is known."""

    @property
    def pane(self) -> Pane | None:
        """The pane that is open."""
        return self.app.pane

    def open_pane(self, pane_id: str, ref: str = "", *, remember: bool = True) -> None:
        """Open a pane, and go to an entry in it."""
        if pane_id not in panes_by_id():
            return
        if remember:
            self._remember()
        self.app.state.back = None
        pane = self.app.state.mounted.get(pane_id) or self._mount(pane_id)
        if pane is None:
            return
        before, self.app.state.open = self.pane, pane
        main_screen = self.app.main_screen
        keeps_focus = main_screen.sidebar.has_focus
        if before is not None and before is not pane:
            if not keeps_focus:
                # Otherwise Textual focuses another widget when this one is hidden: the sidebar.
                main_screen.set_focus(None)
            before.display = False
        pane.display = True
        if pane_id not in main_screen.sidebar:
            main_screen.sidebar.set_entries([entry_of(name) for name in self.app.state.names])
        main_screen.sidebar.show(pane_id)
        pane.moved()
        self.app.refresher.show(pane)
        if pane_id == "changes":
            self.app.outside_changes.viewed()
        self.app.overview.show_badges()
        if ref and not pane.go_to(ref) and pane.contents is not None:
            self.app.say("The entry no longer exists.", severity="warning")
        pane.remove_class("-open")
        if keeps_focus:
            pass
        elif pane.is_mounted:
            # At once: a later focus would take the keys from what the next key opens.
            main_screen.set_focus(pane.focus_target)
        else:
            pane.call_after_refresh(self._focus, pane)
        self.app.refresh_keys()

    def open_digit(self, digit: str) -> None:
        """Open the pane of a digit; if several share it, the first, from one of them the next."""
        tabs = [name.id for name in self.app.state.names if name.key == digit]
        here = None if self.pane is None else self.pane.pane_id
        if not tabs:
            words = f"There is no {GROUPS.get(digit, 'such pane')} here yet"
            how = f": {self.app.key_of('app.palette')} and Facts, Typed, State or Curated shows how to begin"
            self.app.say(f"{words}{how if digit in GROUPS else ''}.")
            return
        self.open_pane(tabs[(tabs.index(here) + 1) % len(tabs)] if here in tabs else tabs[0])

    def _focus(self, pane: Pane) -> None:
        """Focus a pane that was opened for the first time, unless a later key already opened something else."""
        if self.pane is pane and self.app.main_screen.focused is None:
            self.app.main_screen.set_focus(pane.focus_target)
            self.app.refresh_keys()

    def first_pane(self, asked: str | None = None, left: str | None = None) -> str:
        """Return the pane to open first: the one that is asked for, even if its system is missing; else the one that
        was left last; else the usual one, or one of an existing system.
        """
        workspace = self.app.workspace
        assert workspace is not None
        systems = workspace.system_names()
        own = [name.id for name in self.app.state.names if name.system in systems and name.system != "files"]
        usual = own[0] if own and "files" not in systems else FIRST_PANE
        if asked in panes_by_id():
            return asked
        return left if left in {name.id for name in self.app.state.names} else usual

    def begin(self, pane_id: str) -> Pane:
        """Create the pane that is shown from the first frame on; the main screen mounts it."""
        pane = self.app.make_pane(panes_by_id()[pane_id])
        self.app.state.open = self.app.state.mounted[pane_id] = pane
        return pane

    def _mount(self, pane_id: str) -> Pane | None:
        try:
            pane = self.app.make_pane(panes_by_id()[pane_id])
        except Exception as error:
            if panes_by_id()[pane_id].own and not isinstance(error, (ImportError, AttributeError)):
                raise
            self.app.say(f"The pane {pane_id} cannot be shown: {error}", severity="error")
            return None
        self.app.state.mounted[pane_id] = pane
        self.app.main_screen.panes.mount(pane)
        self.announce_reading(pane)
        return pane

    def announce_reading(self, pane: Pane) -> None:
        """Say that the files are being read if that takes a noticeable time."""

        def say() -> None:
            if pane.contents is None and pane.is_mounted:
                pane.say_instead("Reading the files …")

        self.app.set_timer(READING_SECONDS, say)

    def shown(self, pane: Pane) -> None:
        """Focus a pane that shows contents for the first time: its list was hidden, and lost the focus then."""
        if pane is self.pane and self.app.main_screen.focused is None:
            pane.call_after_refresh(self._focus, pane)

    # Between the parts of a pane

    def to_entry(self) -> None:
        """Go to the entry, or to the list."""
        pane = self.app.shown_pane
        if self.app.main_screen.sidebar.has_focus:
            pane.focus_list()
        elif not pane.has_entry:
            pane.line_list.action_open()
        elif not pane.detail_view.has_focus:
            pane.enter_detail(1)
        self.app.refresh_keys()

    def next_part(self) -> None:
        """Go to the entry, its links, and back."""
        self._walk_parts(1)

    def previous_part(self) -> None:
        """Go through the links backwards."""
        self._walk_parts(-1)

    def _walk_parts(self, step: int) -> None:
        pane = self.app.shown_pane
        if pane.detail_view.has_focus:
            if not pane.detail_view.step(step):
                pane.close_detail()
        elif not pane.line_list.has_focus:
            pane.focus_list()
        elif pane.has_entry:
            pane.enter_detail(step)
        self.app.refresh_keys()

    # Back and forward

    def _here(self) -> Place:
        """Return the open pane and the entry under its cursor."""
        pane = self.app.shown_pane
        item = pane.current() if pane.contents is not None else None
        return (pane.pane_id, "" if item is None else pane.ref(item))

    def _remember(self) -> None:
        if self.pane is not None and (not self._back or self._back[-1] != self._here()):
            self._back.append(self._here())
        self._forward.clear()

    def back(self) -> None:
        """Go back to where you were."""
        self._walk(self._back, self._forward, "There is no earlier pane.")

    def forward(self) -> None:
        """Go forward again."""
        self._walk(self._forward, self._back, "There is no later pane.")

    def _walk(self, source: deque[Place], target: deque[Place], nothing: str) -> None:
        if not source:
            self.app.say(nothing)
            return
        target.append(self._here())
        pane_id, ref = source.pop()
        self.open_pane(pane_id, ref, remember=False)

    # Links

    def follow(self) -> None:
        """Follow the first link of the entry; in Brief, go to the entry."""
        pane = self.app.shown_pane
        if not pane.has_entry:
            pane.open_detail()
        elif pane.linked is None:
            self._following = pane.line_list.cursor
            pane.find_links()
        elif pane.linked:
            pane.follow(pane.linked[0].target)
        else:
            self.app.say("This entry has no links.")

    def linked(self, pane: Pane) -> None:
        """Follow the first link if that was asked for and the cursor did not move since; called when the links are
        known.
        """
        wanted, self._following = self._following, None
        if wanted is not None and pane is self.pane and wanted is pane.line_list.cursor:
            self.follow()

    def jump(self, file: str, ref: str, back: Callable[[], object] | None = None) -> None:
        """Go to an entry of any memory file; Escape there calls `back` until another pane is opened."""
        pane_id = pane_of(file)
        if pane_id is None:
            self.app.say(f"No pane shows {file}.", severity="warning")
        else:
            self.open_pane(pane_id, ref)
            self.app.state.back = back
            self.app.refresh_keys()

    def more(self, pane_id: str, text: str) -> None:
        """Open a pane; a filter hides its other entries."""

        def show() -> None:
            pane = self.app.shown_pane
            if pane.pane_id == pane_id:
                # An earlier filter would hide some of them.
                pane.filter_bar.close()
                if text:
                    pane.filter_bar.open(text, focus=False)
                pane.set_filter(text)
                self._narrowed = (pane_id, text) if text else None
                pane.line_list.action_first()
                self.app.refresh_keys()

        self.open_pane(pane_id)
        if self.app.shown_pane.contents is not None:
            # At once, because the next key is about the rows that are shown.
            show()
        else:
            self.app.changed(then=show)

    def changes_of_entry(self) -> None:
        """Show who changed this entry, and when."""
        pane = self.app.shown_pane
        kind, mark, digits = pane.copied_ref(pane.current()).partition("#")
        if mark:
            self.more("changes", f"entry:{kind}#{digits[:10]}")
        else:
            self.app.say("This row has no history.")

    def go_to_count(self, group: str) -> None:
        """Go where a count of the header leads: the pane Waiting, else the counted group of Brief."""
        self.open_pane("waiting" if group == "waiting" else "brief")
        if self.app.shown_pane.pane_id == "brief":
            self.app.shown_pane.go_to_group(group)  # type: ignore[attr-defined]

    def leave(self) -> None:
        """Go back: to the list, the previous pane, no filter, or the results of the search that led here.

        The messages are cleared by `MemdeckApp.explain_key`, where this command is not available.
        """
        pane = self.app.shown_pane
        if pane.close_detail():
            self.app.refresh_keys()
        elif pane.filter_bar.is_open:
            came, self._narrowed = self._narrowed == (pane.pane_id, pane.filter), None
            pane.filter_bar.close()
            if came:
                self.back()
        elif self.app.state.back is not None:
            back, self.app.state.back = self.app.state.back, None
            back()
