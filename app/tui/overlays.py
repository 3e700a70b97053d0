"""Overlays: command palette, help, themes, and quitting."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .keys.registry import BY_ID, function_of
from .shell import Part

if TYPE_CHECKING:
    from textual.screen import Screen

    from widgets.chrome.jump import JumpPlace


KEYS_SECONDS = 20.0
"""Seconds for which problems with the keys are shown; there may be many lines."""

RECENT = 8
"""How many recent actions the palette remembers while memdeck is open."""


def theme_words(name: str) -> str:
    """Return a theme's name in words: `high contrast`."""
    return name.removeprefix("memdeck-").replace("-", " ")


class Overlays(Part):
    """Opens the screens that cover the panes for a moment."""

    def set_up(self) -> None:
        """Nothing is open yet."""
        self._recent: tuple[str, ...] = ()
        self.late = False
        """Whether the current action comes from a thread, and not from a key; see `coming_late`."""
        self._waiting: list[Callable[[], object]] = []

    def palette(self) -> None:
        """Find a command by its name."""
        from .keys.help import CommandScreen, palette_rows

        rows = palette_rows(self.app, self._recent)
        self.app.push_screen(CommandScreen("Commands", rows), self._chosen)

    def _chosen(self, command_id: str | None) -> None:
        if command_id is not None:
            self._recent = tuple(dict.fromkeys((command_id, *self._recent)))[:RECENT]
            if command_id in BY_ID:
                self.app.action_do(command_id)
            else:
                function_of("operations.run")(self.app, command_id)

    def jump(self) -> None:
        """Go to a row, pane or link by the letters beside it."""
        from widgets.chrome.jump import jump_places

        from .keys.jump import JumpScreen

        places = jump_places(self.app.screen)

        def chosen(place: JumpPlace | None) -> None:
            if place is not None:
                place.go()

        if places:
            self.app.push_screen(JumpScreen(places, self.app.size), chosen)

    def ask(
        self,
        screen: Screen[Any],
        then: Callable[[Any], object] = lambda _: None,
        *,
        left: Callable[[], object] = lambda: None,
        waited: str = "",
    ) -> None:
        """Open a dialog; `then` gets its answer, `left` is called if it is left.

        `waited` says what took a while to prepare: it opens only if the user still waits for it.
        """

        def answered(answer: Any) -> None:
            if answer is None or answer is False:
                left()
            else:
                then(answer)

        if waited:
            if self.app.edits.in_time(waited) and self.has_room(waited):
                self.app.push_screen(screen, answered)
        elif self.late:
            self.once_free(lambda: self.app.push_screen(screen, answered))
        else:
            self.app.push_screen(screen, answered)

    def offer(self, what: str, screen: Screen[Any], callback: Callable[[Any], None]) -> None:
        """Show a screen that took a while to prepare. If the user opened something else meanwhile, only name it in a
        message.
        """
        if self.has_room(what):
            self.app.push_screen(screen, callback)

    def has_room(self, what: str) -> bool:
        """Return whether a screen that took a while to prepare can be shown now; if something else is open, say that it
        cannot.
        """
        # The last screen may already be gone, with the application.
        shown = self.app.screen_stack[-1:]
        if shown and shown != [self.app.main_screen]:
            self.app.say(f"{what} was ready when something else was open; try again.")
        return shown == [self.app.main_screen]

    @contextmanager
    def coming_late(self, late: bool) -> Iterator[None]:
        """Mark the actions inside as coming from a thread, while keys are pressed for something else."""
        before, self.late = self.late, late
        try:
            yield
        finally:
            self.late = before

    def opens(self, screen: Screen[Any]) -> None:
        """Handle a screen that opens: a dialog that opens by itself ignores keys that were pressed before it was
        visible.
        """
        if self.late and hasattr(screen, "deaf_until"):
            screen.deaf_until = math.inf

    def once_free(self, act: Callable[[], object]) -> None:
        """Do something that may open a dialog without a key. If the user is in a dialog, do it after that."""
        if self.app.screen_stack[-1:] == [self.app.main_screen]:
            act()
        else:
            self._waiting.append(act)

    def freed(self) -> None:
        """Do what waited, now that nothing covers the panes any more, unless the last answer opens something else."""
        if self._waiting:
            self.app.call_after_refresh(self._go_on)

    def _go_on(self) -> None:
        if self._waiting and self.app.screen_stack[-1:] == [self.app.main_screen]:
            with self.coming_late(True):
                self._waiting.pop(0)()
            self.freed()

    def help(self) -> None:
        """Show what this pane is for, every key, and what it does here."""
        from .keys.help import CommandScreen, key_rows

        pane = self.app.pane
        about = "" if pane is None else pane.empty.partition("\n\n")[0]
        self.app.push_screen(CommandScreen("Keys", key_rows(self.app.screen, self.app), about), self._chosen)

    def widget_help(self) -> None:
        """Explain the dialog, field or filter that has the focus, else the pane; pressed again, close that."""
        from widgets.dialogs.dialogs import Preview
        from widgets.input.editors import SafeInput

        from .keys.help import CommandScreen, widget_help

        if isinstance(self.app.screen, CommandScreen | Preview):
            if isinstance(self.app.screen, CommandScreen) or not self.app.screen.applicable:
                self.app.screen.action_leave()
            return
        if self.app.screen is self.app.main_screen and not isinstance(self.app.screen.focused, SafeInput):
            self.help()
            return
        title, lines = widget_help(self.app.screen.focused)
        self.app.push_screen(Preview(title, lines, applicable=False))

    def tell_of_keys(self) -> None:
        """Say everything that is wrong with the user's keys: the file once, then each line."""
        problems = self.app.keymap.problems
        if problems:
            said = [f"line {one.line}: {one.message}" if one.line else one.message for one in problems]
            self.app.say("\n".join(said), title=problems[0].file, severity="warning", seconds=KEYS_SECONDS)

    def themes(self) -> None:
        """Choose the colours (theme): dark, light, high contrast and more."""
        from widgets.dialogs.pick import Pick, PickOption
        from widgets.text.depth import OWN, offered

        before, depth = self.app.theme, self.app.setup.depth
        own = [theme.name for theme in OWN[depth]]
        themes = offered(depth)[len(own) :]
        for theme in themes:
            self.app.register_theme(theme)
        others = [theme.name for theme in themes]
        options = [PickOption(name, theme_words(name), group="MEMDECK", marked=name == before) for name in own]
        options += [PickOption(name, theme_words(name), group="TEXTUAL", marked=name == before) for name in others]

        def shown(name: str) -> None:
            self.app.theme = name

        def answered(answer: str | None) -> None:
            self.app.theme = before if answer is None else answer
            if answer is not None:
                self.app.pane_state.keep_theme(answer)
                self.app.say(f"Colours: {theme_words(answer)}.")

        self.app.push_screen(Pick("Colours", options, looked=shown), answered)

    def apply_theme(self) -> None:
        """Use the theme that the user chose last, if this terminal can show it properly."""
        name, depth = self.app.pane_state.theme, self.app.setup.depth
        if name is None or name == self.app.theme:
            return
        from widgets.text.depth import offered

        for theme in offered(depth):
            if theme.name == name:
                self.app.register_theme(theme)
                self.app.theme = name

    def quit(self) -> None:
        """Leave memdeck."""
        self.app.exit(0)
