"""Help from the active bindings: what every key does at the focus, the pane's own keys first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from app.tui.commands.conditions import Situation
from app.tui.commands.context import Context
from widgets.chrome.keys import UNBOUND, KeyHints, live_keys, name_of_keys, with_keys
from widgets.chrome.sidebar import Sidebar
from widgets.detail import LineView
from widgets.dialogs.dialogs import DIALOG_CSS, Dialog
from widgets.input.fields import FieldRow, FieldSpec
from widgets.input.filter_bar import FilterBar
from widgets.input.form import Form
from widgets.pane.base import Pane
from widgets.text.styled_text import Line, Piece, line, line_width, pad_line, wrap_line

from .available import is_special, key_state
from .registry import BY_ID

if TYPE_CHECKING:
    from textual.screen import Screen
    from textual.widget import Widget


Rows: TypeAlias = list[tuple[str, str]]
"""Keys as they are written in texts, and a sentence about what they do."""

KEY_COLUMN = 14
"""The most cells of the key column."""

MOVING = "Moving and selecting"
"""The group of the keys that all lists have."""

_MOVES = ("list", "view")
"""Prefixes of the ids of those keys."""

FIRST_GROUPS = ("Entries", MOVING, "List")
"""The groups that come first, in this order, after the pane's own keys."""


EVERY_KEY = "{app.help|?} shows every key that does something here."
"""Where to find the other keys."""

FILTER_WORDS = (
    'Every word that you type must occur in the entry; "words in quotes" as they stand there.',
    "A minus right before a word, a quote or a field says that it must not: -draft, -tag:infra.",
    "name:value asks one field, for example tag:infra priority:high; {list.fields|f} shows the names.",
)
"""The help about the filter."""
FIELD_WORDS: dict[str, str] = {
    "date": "A day, with a time or without: tomorrow 14:00, fri 9:00, 2 Dec 2pm, +2d, eom, 2026-12-01. Empty: none.",
    "cron": "Five fields: minute hour day month weekday, for example 0 9 * * MON. The next runs are shown below.",
    "tags": "Words with commas between them. The right arrow takes what is offered.",
    "number": "A number.",
    "choice": "One of those shown; left and right, or a click, choose.",
}
"""The help of F1 about the kinds of fields."""


def key_groups(screen: Screen[object]) -> dict[str, Rows]:
    """Return every available key as (keys, sentence), by group: the pane's own, entries, moving, the rest."""
    app = screen.app
    name_of = name_of_keys(app)
    context: Context = app.context  # type: ignore[attr-defined]
    state, pane = key_state(Situation(context)), context.pane
    own = "Here" if pane is None else pane.title
    # Keys of a part of the pane, such as its calendar, come before those of its entries.
    here: dict[str, dict[str, list[str]]] = {}
    for active in screen.active_bindings.values():
        binding = active.binding
        if not active.enabled or binding.key == UNBOUND or not (binding.tooltip or binding.description):
            continue
        action = BY_ID.get(binding.id or "")
        if action is None and active.node in (app, screen):
            continue
        if action is None:
            group = MOVING if (binding.id or "").partition(".")[0] in _MOVES else own
            words = binding.tooltip or binding.description
        else:
            group = own if is_special(state, action) else action.group
            words = action.description if pane is None else action.sentence_in(pane.pane_id)
        keys = here.setdefault(group, {}).setdefault(words, [])
        key = binding.key_display or name_of(binding.key)
        if key not in keys:
            keys.append(key)
    order = dict.fromkeys((own, *FIRST_GROUPS, *here))
    return {name: [(" ".join(keys), words) for words, keys in here[name].items()] for name in order if name in here}


def help_lines(groups: Mapping[str, Rows], width: int = 80) -> list[Line]:
    """Return the groups as lines of at most `width` cells: a heading, then keys and sentences in two columns."""
    column = min(KEY_COLUMN, max(6, width // 4))
    lines: list[Line] = []
    for name, rows in groups.items():
        if lines:
            lines.append(())
        lines.append(line(Piece(name.upper(), "heading")))
        for keys, words in rows:
            left = line(Piece(keys, "accent"))
            # Keys that are too long for their column push only the first line of the sentence to the right.
            row = line(pad_line(left, max(column, line_width(left) + 2)), words)
            lines.extend(wrap_line(row, width, indent=column))
    return lines


def narrowed(groups: Mapping[str, Rows], text: str) -> dict[str, Rows]:
    """Return the rows that contain every word of a text."""
    words = text.casefold().split()

    def fits(row: tuple[str, str]) -> bool:
        hay = " ".join(row).casefold()
        return all(word in hay for word in words)

    found = {name: [row for row in rows if fits(row)] for name, rows in groups.items()}
    return {name: rows for name, rows in found.items() if rows}


class HelpLines(LineView):
    """A text, and below it the keys that match the search."""

    def __init__(self, words: Sequence[Line], groups: Mapping[str, Rows]) -> None:
        super().__init__(classes="dialog--body")
        self._words, self._all, self._groups = tuple(words), groups, groups
        self._nothing = ""

    def look_for(self, text: str) -> str:
        """Show only rows that match a text; return their number in words."""
        self._groups = narrowed(self._all, text)
        self._nothing = "" if self._groups else f"No key fits “{text[:40]}”."
        self.lay_out_again(top=True)
        every, found = (sum(map(len, groups.values())) for groups in (self._all, self._groups))
        return f"{found} of {every}" if text.strip() else ""

    def lay_out(self, width: int) -> Sequence[Line]:
        """The text, then headings, keys and sentences."""
        words = [row for content in self._words for row in wrap_line(content, width)]
        keys = wrap_line(line(self._nothing), width) if self._nothing else help_lines(self._groups, width)
        return [*words, *([()] if words and keys else []), *keys]


class Help(Dialog, ModalScreen[None]):
    """A page of text and keys that can be read and searched; Escape closes it."""

    DEFAULT_CSS: ClassVar[str] = f"""
    Help {{
        {DIALOG_CSS}
        & > .dialog {{ max-width: 80; }}
        KeyHints {{ margin-top: 1; }}
        &.-low KeyHints {{ margin-top: 0; }}
    }}
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "search", "find a key", id="help.search", tooltip="Show only the keys that fit what you type"),
        Binding("escape,q,question_mark,f1", "leave", "cancel", id="help.leave", tooltip="Close the help"),
    ]

    def __init__(self, title: str, words: Sequence[Line] = (), groups: Mapping[str, Rows] | None = None) -> None:
        """`groups`: keys and sentences by heading, below the text."""
        super().__init__()
        self.heading, self._groups = title, groups or {}
        # Stored, because keys that arrive together may close the page before it is composed.
        self._lines, self._bar = HelpLines(tuple(words), self._groups), FilterBar()

    @property
    def is_long(self) -> bool:
        """Whether there is so much that a search is useful."""
        return len(self._groups) > 1

    def parts(self) -> ComposeResult:
        """Yield the lines, and the search below them."""
        yield self._lines
        yield self._bar

    def key_hints(self) -> KeyHints:
        """The keys, and those that scroll."""
        scroll = "/".join(map(name_of_keys(self.app), ("up", "down")))
        return KeyHints(indent=0, remark=f"{scroll} scroll" if self.is_long else "")

    def on_mount(self) -> None:
        """Focus the lines at once, so that keys scroll."""
        self._lines.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Disable the search if there are only a few lines."""
        return action != "search" or self.is_long

    def action_search(self) -> None:
        """Open the search."""
        self._bar.open(hint="a key, or a word of what it does")

    def on_filter_bar_changed(self, event: FilterBar.Changed) -> None:
        """Narrow the lines after each key in the filter."""
        event.stop()
        self._bar.say(self._lines.look_for(event.text))

    def on_filter_bar_accepted(self, event: FilterBar.Accepted) -> None:
        """Keep the matches on the screen."""
        event.stop()
        self._lines.focus()

    def on_filter_bar_closed(self, event: FilterBar.Closed) -> None:
        """Show everything again."""
        event.stop()
        self._lines.look_for("")
        self._lines.focus()

    def action_leave(self) -> None:
        """Show everything again after a search, else close."""
        if self._bar.is_open:
            self._bar.close()
        else:
            self.dismiss(None)


def widget_help(widget: Widget | None) -> tuple[str, list[Line], dict[str, Rows]]:
    """Return the name of the focused widget, what it is for, and the keys that only it has."""
    if widget is None:
        return "Help", [line("Nothing has the focus.")], {}
    screen = widget.screen
    title, lines, rows = "Help", list[Line](), _own_keys(widget)
    for node in widget.ancestors_with_self:
        if isinstance(node, Sidebar):
            title, lines = "The panes", [line("All panes. Tab and the numbers open them from everywhere.")]
        elif isinstance(node, FilterBar):
            title, lines = "The filter", [line(with_keys(text, widget.app)) for text in FILTER_WORDS]
        elif isinstance(node, Pane) and widget is node.detail_view:
            title = f"{node.title}: the detail"
            lines = [line("The whole entry under the cursor, and what it is linked to.")]
        elif isinstance(node, Pane):
            title, lines = node.title, [line(text) for text in node.empty.split("\n\n")[:1]]
            rows = key_groups(screen).get(node.title, [])
        if lines:
            break
    if isinstance(screen, Form):
        row = next((node for node in widget.ancestors if isinstance(node, FieldRow)), None)
        title, lines = ("The form", []) if row is None else (f"The field {row.spec.label}", _field_lines(row.spec))
    if not screen.is_modal:
        lines += [line(Piece(with_keys(EVERY_KEY, widget.app), "muted"))]
    return title, lines, {"Keys": rows} if rows else {}


def _field_lines(spec: FieldSpec) -> list[Line]:
    """Return what may be written into the field of a form."""
    words = FIELD_WORDS.get(spec.kind, "")
    offered = spec.suggestions() if callable(spec.suggestions) else spec.suggestions
    known = f"In the files already: {', '.join(offered[:8])}." if offered else ""
    needed = "It cannot be left empty." if spec.required else ""
    return [line(text) for text in (spec.about, words, known, needed) if text]


def _own_keys(widget: Widget) -> list[tuple[str, str]]:
    """Return the keys of the dialog around the focused part, and its own; plain editing and scrolling are left out."""
    found: dict[str, list[str]] = {}
    name_of = name_of_keys(widget.app)
    for node in (widget.screen, widget) if widget.screen.is_modal else (widget,):
        for key, binding in live_keys(widget.screen, node):
            if binding.id and binding.id.partition(".")[0] not in _MOVES:
                found.setdefault(binding.tooltip or binding.description, []).append(name_of(key))
    return [(" ".join(dict.fromkeys(keys)), words) for words, keys in found.items() if words]
