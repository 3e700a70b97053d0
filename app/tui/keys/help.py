"""Help made from the live bindings: what every key does where the focus is, the pane's own keys first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from app.tui.commands.conditions import Situation
from widgets.chrome.footer import UNBOUND, KeyHints, live_keys, shown_key, with_keys
from widgets.chrome.sidebar import Sidebar
from widgets.dialogs.dialogs import DIALOG_CSS, Dialog
from widgets.input.editors import SafeText
from widgets.input.fields import FieldRow
from widgets.input.filter_bar import FilterBar
from widgets.input.form import Form
from widgets.text.line_view import LineView
from widgets.text.styled_text import Line, Piece, line, line_width, pad_line, wrap_line

from .available import is_special
from .registry import BY_ID

if TYPE_CHECKING:
    from textual.screen import Screen
    from textual.widget import Widget

    from app.tui.commands.context import Context

Rows: TypeAlias = list[tuple[str, str]]
"""Keys, as people write them, and the sentence on what they do."""

KEY_COLUMN = 14
"""The most cells of the column of keys."""

MOVING = "Moving and selecting"
"""The group of the keys that all lists have."""

_MOVES = ("list", "view")
"""What the ids of those keys begin with."""

FIRST_GROUPS = ("Entries", MOVING, "List")
"""The groups that stand first, in this order, behind the pane's own keys."""


EVERY_KEY = "{app.help|?} shows every key that does something here."
"""Where the other keys stand."""

FILTER_WORDS = (
    'Every word that you type must occur in the entry; "words in quotes" as they stand there.',
    "A minus right before a word, a quote or a field says that it must not: -draft, -tag:infra.",
    "name:value asks one field, for example tag:infra priority:high; {list.fields|f} shows the names.",
)
"""What the help says of the filter."""
FIELD_WORDS: dict[str, str] = {
    "date": "A day, with a time or without: tomorrow 14:00, fri 9:00, 2 Dec 2pm, +2d, eom, 2026-12-01. Empty: none.",
    "cron": "Five fields: minute hour day month weekday, for example 0 9 * * MON. The next runs are shown below.",
    "tags": "Words with commas between them. The right arrow takes what is offered.",
    "number": "A number.",
    "choice": "One of those shown; left and right, or a click, choose.",
}
"""What F1 says of the kinds of fields."""


def key_groups(screen: Screen[object]) -> dict[str, Rows]:
    """Every key that does something now, as (keys, sentence), by group: the pane's own, entries, moving, the rest."""
    app = screen.app
    context: Context = app  # type: ignore[assignment]
    now, pane = Situation(context), context.pane
    own = "Here" if pane is None else pane.title
    # What belongs to a part of the pane, such as its calendar, comes before what is done with its entries.
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
            group = own if is_special(now, action) else action.group
            words = action.description if pane is None else action.sentence_in(pane.pane_id)
        keys = here.setdefault(group, {}).setdefault(words, [])
        key = binding.key_display or shown_key(binding.key, app)
        if key not in keys:
            keys.append(key)
    order = dict.fromkeys((own, *FIRST_GROUPS, *here))
    return {name: [(" ".join(keys), words) for words, keys in here[name].items()] for name in order if name in here}


def help_lines(groups: Mapping[str, Rows], width: int = 80) -> list[Line]:
    """The groups as lines of at most `width` cells: a heading, then keys and sentences in two columns."""
    column = min(KEY_COLUMN, max(6, width // 4))
    lines: list[Line] = []
    for name, rows in groups.items():
        if lines:
            lines.append(())
        lines.append(line(Piece(name.upper(), "heading")))
        for keys, words in rows:
            left = line(Piece(keys, "accent"))
            # Keys without room in their column push the sentence, whose other lines stand in theirs all the same.
            row = line(pad_line(left, max(column, line_width(left) + 2)), words)
            lines.extend(wrap_line(row, width, indent=column))
    return lines


def narrowed(groups: Mapping[str, Rows], text: str) -> dict[str, Rows]:
    """The rows in which every word of a text occurs."""
    words = text.casefold().split()

    def fits(row: tuple[str, str]) -> bool:
        hay = " ".join(row).casefold()
        return all(word in hay for word in words)

    found = {name: [row for row in rows if fits(row)] for name, rows in groups.items()}
    return {name: rows for name, rows in found.items() if rows}


class HelpLines(LineView):
    """What is said, and below it the keys that fit what is looked for."""

    def __init__(self, words: Sequence[Line], groups: Mapping[str, Rows]) -> None:
        super().__init__(classes="dialog--body")
        self._words, self._all, self._groups = tuple(words), groups, groups
        self._nothing = ""

    def look_for(self, text: str) -> str:
        """Show only what fits a text; returns how much that is, in words."""
        self._groups = narrowed(self._all, text)
        self._nothing = "" if self._groups else f"No key fits “{text[:40]}”."
        self.lay_out_again(top=True)
        every, found = (sum(map(len, groups.values())) for groups in (self._all, self._groups))
        return f"{found} of {every}" if text.strip() else ""

    def lay_out(self, width: int) -> Sequence[Line]:
        """The words, then headings, keys and sentences."""
        words = [row for content in self._words for row in wrap_line(content, width)]
        keys = wrap_line(line(self._nothing), width) if self._nothing else help_lines(self._groups, width)
        return [*words, *([()] if words and keys else []), *keys]


class Help(Dialog, ModalScreen[None]):
    """A page of words and keys to read and to look for something in; Escape closes it."""

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
        """`groups`: keys and sentences by heading, below the words."""
        super().__init__()
        self._title, self._groups = title, groups or {}
        # Kept, for keys that come together may close the page before it is composed.
        self._lines, self._bar = HelpLines(tuple(words), self._groups), FilterBar()

    @property
    def is_long(self) -> bool:
        """Whether there is so much that one looks for something in it."""
        return len(self._groups) > 1

    def compose(self) -> ComposeResult:
        """Title, lines, keys."""
        scroll = "/".join(shown_key(key, self.app) for key in ("up", "down"))
        with Vertical(classes="dialog"):
            yield SafeText(self._title, classes="dialog--title")
            yield self._lines
            yield self._bar
            yield KeyHints(indent=0, remark=f"{scroll} scroll" if self.is_long else "")

    def on_mount(self) -> None:
        """Scroll at once."""
        self._lines.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Nothing is looked for in a few lines."""
        return action != "search" or self.is_long

    def action_search(self) -> None:
        """Type what to look for."""
        self._bar.open(hint="a key, or a word of what it does")

    def on_filter_bar_changed(self, event: FilterBar.Changed) -> None:
        """A key in the filter."""
        event.stop()
        self._bar.say(self._lines.look_for(event.text))

    def on_filter_bar_accepted(self, event: FilterBar.Accepted) -> None:
        """What was found stays."""
        event.stop()
        self._lines.focus()

    def on_filter_bar_closed(self, event: FilterBar.Closed) -> None:
        """Everything again."""
        event.stop()
        self._lines.look_for("")
        self._lines.focus()

    def action_leave(self) -> None:
        """Show everything again where something was looked for, else close."""
        if self._bar.is_open:
            self._bar.close()
        else:
            self.dismiss(None)


def widget_title(widget: Widget | None) -> str:
    """What the focused widget is called on the screen."""
    from widgets.pane.base import Pane

    if widget is None:
        return "Help"
    if isinstance(widget.screen, Form):
        row = next((node for node in widget.ancestors if isinstance(node, FieldRow)), None)
        return "The form" if row is None else f"The field {row.spec.label}"
    for node in widget.ancestors_with_self:
        if isinstance(node, Sidebar):
            return "The panes"
        if isinstance(node, FilterBar):
            return "The filter"
        if isinstance(node, Pane):
            return f"{node.title}: the detail" if widget is node.detail_view else node.title
    return "Help"


def widget_help(widget: Widget | None) -> tuple[list[Line], dict[str, Rows]]:
    """What the focused widget is for, and the keys that only it has."""
    from widgets.pane.base import Pane

    if widget is None:
        return [line("Nothing has the focus.")], {}
    screen = widget.screen
    lines: list[Line] = []
    rows = _own_keys(widget)
    for node in widget.ancestors_with_self:
        if isinstance(node, Sidebar):
            lines = [line("All panes. Tab and the numbers open them from everywhere.")]
        elif isinstance(node, FilterBar):
            lines = [line(with_keys(text, widget.app)) for text in FILTER_WORDS]
        elif isinstance(node, Pane) and widget is node.detail_view:
            lines = [line("The whole entry under the cursor, and what it is linked to.")]
        elif isinstance(node, Pane):
            lines = [line(text) for text in node.empty.split("\n\n")[:1]]
            rows = key_groups(screen).get(node.title, [])
        if lines:
            break
    if isinstance(screen, Form):
        lines = _field_lines(widget)
    if not screen.is_modal:
        lines += [line(Piece(with_keys(EVERY_KEY, widget.app), "muted"))]
    return lines, {"Keys": rows} if rows else {}


def _field_lines(widget: Widget) -> list[Line]:
    """What may be written into the field of a form."""
    row = next((node for node in widget.ancestors if isinstance(node, FieldRow)), None)
    if row is None:
        return []
    spec = row.spec
    words = FIELD_WORDS.get(spec.kind, "")
    offered = spec.suggestions() if callable(spec.suggestions) else spec.suggestions
    known = f"In the files already: {', '.join(offered[:8])}." if offered else ""
    needed = "It cannot be left empty." if spec.required else ""
    return [line(text) for text in (spec.about, words, known, needed) if text]


def _own_keys(widget: Widget) -> list[tuple[str, str]]:
    """The keys of the dialog around the focused part, and its own; plain editing and scrolling need no words."""
    found: dict[str, list[str]] = {}
    for node in (widget.screen, widget) if widget.screen.is_modal else (widget,):
        for key, binding in live_keys(widget.screen, node):
            if binding.id and binding.id.partition(".")[0] not in _MOVES:
                found.setdefault(binding.tooltip or binding.description, []).append(shown_key(key, widget.app))
    return [(" ".join(dict.fromkeys(keys)), words) for words, keys in found.items() if words]
