"""Overlays: palette, help, themes, and the way out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .part import Part

if TYPE_CHECKING:
    from widgets.jump import JumpPlace
    from widgets.pieces import Line


class Overlays(Part):
    """What lies over the panes for a moment."""

    def palette(self) -> None:
        """Every action that means something now."""
        from .actions import ACTIONS
        from .conditions import allows
        from .palette import Palette

        actions = [action for action in ACTIONS if action.id != "app.palette" and allows(self.app, action.needs)]

        def chosen(action_id: str | None) -> None:
            if action_id is not None:
                self.app.action_do(action_id)

        self.app.push_screen(Palette(actions, self.app.keymap), chosen)

    def jump(self) -> None:
        """A label beside everything that can be gone to."""
        from widgets.jump import jump_places

        from .jump import JumpScreen

        places = jump_places(self.app.screen)

        def chosen(place: JumpPlace | None) -> None:
            if place is not None:
                place.go()

        if places:
            self.app.push_screen(JumpScreen(places, self.app.size), chosen)

    def help(self) -> None:
        """All keys that do something now."""
        from .help import Help, help_lines, key_groups

        lines: list[Line] = help_lines(key_groups(self.app.screen))
        self.app.push_screen(Help("Keys", lines))

    def widget_help(self) -> None:
        """The focused widget."""
        from .help import Help, widget_lines, widget_title

        if isinstance(self.app.screen, Help):
            self.app.screen.action_leave()
            return
        widget = self.app.screen.focused
        self.app.push_screen(Help(widget_title(widget), widget_lines(widget)))

    def tell_of_keys(self) -> None:
        """Say what is wrong with the keys that the person chose, the first of it in full."""
        from .key_conflicts import all_problems

        problems = all_problems(self.app.keymap, self.app.environ)
        if problems:
            more = len(problems) - 1
            rest = f"\nand {more} more; `memdeck keys --check` lists them" if more else ""
            self.app.say(f"{problems[0]}{rest}", title="keys", severity="warning")

    def next_theme(self) -> None:
        """The next of our themes."""
        from widgets.theme import THEMES

        names = [theme.name for theme in THEMES]
        place = names.index(self.app.theme) if self.app.theme in names else -1
        self.app.theme = names[(place + 1) % len(names)]
        self.app.say(f"Theme: {self.app.theme}")

    def quit(self) -> None:
        """Leave."""
        self.app.exit(0)
