"""Commands about the application itself: command palette, help, jump mode, themes, leaving."""

from __future__ import annotations

from app.tui.commands.table import BY_ID, function_of
from app.tui.keys.help import CommandScreen, about, key_rows, palette_rows
from app.tui.spine import Spine
from widgets.chrome.jump import JumpPlace, JumpScreen, jump_places
from widgets.dialogs.pick import Pick, PickOption
from widgets.text.theme import OWN, offered


def theme_words(name: str) -> str:
    """Return a theme's name in words: `high contrast`."""
    return name.removeprefix("memdeck-").replace("-", " ")


def palette(app: Spine) -> None:
    """Find a command by its name."""
    app.push_screen(CommandScreen("Commands", palette_rows(app)), lambda found: _do(app, found))


def help(app: Spine) -> None:  # noqa: A001
    """Show what this pane is for, and every key."""
    if isinstance(app.screen, CommandScreen):
        app.screen.action_leave()
        return
    app.push_screen(CommandScreen("Keys", key_rows(app.screen, app), about(app)), lambda found: _do(app, found))


def _do(app: Spine, command_id: str | None) -> None:
    if command_id is None:
        return
    if command_id in BY_ID:
        app.action_do(command_id)
    else:
        function_of("operations.run")(app, command_id)


def jump(app: Spine) -> None:
    """Go to a row, pane or link by its letters."""
    places = jump_places(app.screen)

    def chosen(place: JumpPlace | None) -> None:
        if place is not None:
            place.go()

    if places:
        app.push_screen(JumpScreen(places, app.size), chosen)


def themes(app: Spine) -> None:
    """Choose the colours (theme)."""
    before, depth = app.theme, app.setup.depth
    own = [theme.name for theme in OWN[depth]]
    options = []
    for theme in offered(depth):
        app.register_theme(theme)
        group = "MEMDECK" if theme.name in own else "TEXTUAL"
        options.append(PickOption(theme.name, theme_words(theme.name), group=group, marked=theme.name == before))

    def use(name: str) -> None:
        app.theme = name

    def chosen(name: str) -> None:
        app.theme = name
        app.pane_state.keep_theme(name)
        app.say(f"Colours: {theme_words(name)}.")

    app.ask(Pick("Colours", options, looked=use), chosen, left=lambda: use(before))


def quit(app: Spine) -> None:  # noqa: A001
    """Leave memdeck."""
    app.exit(0)
