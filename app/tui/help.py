"""Help made from the live bindings: what every key does where the focus is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from widgets.dialogs import DIALOG_CSS, Dialog
from widgets.fields import FieldRow
from widgets.filter_bar import FilterBar
from widgets.footer import UNBOUND, KeyHints, key_name, live_keys, with_keys
from widgets.forms import Form
from widgets.inputs import SafeText
from widgets.line_view import LineView
from widgets.pieces import Line, Piece, line, line_width, pad_line
from widgets.sidebar import Sidebar

from .actions import BY_ID

if TYPE_CHECKING:
    from textual.screen import Screen
    from textual.widget import Widget

KEY_COLUMN = 14
"""Cells of the column of keys."""

HERE = "Here"
"""The group of keys that belong to the focused widget."""

FIRST_GROUPS = ("Entries", "Tasks", "List", HERE)
"""The groups that stand first, in this order: what people look for."""


FILTER_WORDS = (
    "Every word that you type must occur in the row.",
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


def key_groups(screen: Screen[object]) -> dict[str, list[tuple[str, str]]]:
    """Every key that does something now, as (keys, sentence), by group; what can be done with entries first."""
    found: dict[tuple[str, str], list[str]] = {}
    for active in screen.active_bindings.values():
        binding = active.binding
        if not active.enabled or binding.key == UNBOUND or not (binding.tooltip or binding.description):
            continue
        action = BY_ID.get(binding.id or "")
        group = action.group if action is not None else HERE
        if action is None and active.node in (screen.app, screen):
            continue
        words = binding.tooltip or binding.description
        keys = found.setdefault((group, words), [])
        key = binding.key_display or key_name(binding.key)
        if key not in keys:
            keys.append(key)
    groups: dict[str, list[tuple[str, str]]] = {name: [] for name in FIRST_GROUPS}
    for (group, words), keys in found.items():
        groups.setdefault(group, []).append((" ".join(keys), words))
    return {name: rows for name, rows in groups.items() if rows}


def help_lines(groups: dict[str, list[tuple[str, str]]]) -> list[Line]:
    """The groups as lines: a heading, then keys and sentences in two columns."""
    lines: list[Line] = []
    for name, rows in groups.items():
        if lines:
            lines.append(())
        lines.append(line(Piece(name.upper(), "heading")))
        lines.extend(
            line(pad_line(line(Piece(keys, "accent")), max(KEY_COLUMN, line_width(line(keys)) + 2)), words)
            for keys, words in rows
        )
    return lines


class Help(Dialog, ModalScreen[None]):
    """A page to read; Escape closes it."""

    DEFAULT_CSS: ClassVar[str] = f"""
    Help {{
        {DIALOG_CSS}
        & > .dialog {{ max-width: 80; }}
        KeyHints {{ margin-top: 1; }}
        &.-low KeyHints {{ margin-top: 0; }}
    }}
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,f1", "leave", "close", id="help.leave", tooltip="Close the help"),
    ]

    def __init__(self, title: str, lines: Sequence[Line]) -> None:
        super().__init__()
        self._title, self._lines = title, tuple(lines)

    def compose(self) -> ComposeResult:
        """Title, lines, keys."""
        with Vertical(classes="dialog"):
            yield SafeText(self._title, classes="dialog--title")
            yield LineView(self._lines, classes="dialog--body")
            yield KeyHints(indent=0)

    def on_mount(self) -> None:
        """Scroll at once."""
        self.query_one(LineView).focus()

    def action_leave(self) -> None:
        """Close."""
        self.dismiss(None)


def widget_title(widget: Widget | None) -> str:
    """What the focused widget is called on the screen."""
    from widgets.pane import Pane

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


def widget_lines(widget: Widget | None) -> list[Line]:
    """What the focused widget is for and what its own keys do."""
    from widgets.pane import Pane

    if widget is None:
        return [line("Nothing has the focus.")]
    lines: list[Line] = []
    for node in widget.ancestors_with_self:
        if isinstance(node, Sidebar):
            lines = [line("All panes. Tab and the numbers open them from everywhere.")]
        elif isinstance(node, FilterBar):
            lines = [line(with_keys(text, widget.app)) for text in FILTER_WORDS]
        elif isinstance(node, Pane) and widget is node.detail_view:
            lines = [line("The whole entry under the cursor, and what it is linked to.")]
        elif isinstance(node, Pane):
            lines = [line(text) for text in node.empty.split("\n\n")[:1]]
        if lines:
            break
    if isinstance(widget.screen, Form):
        lines = _field_lines(widget)
    rows = _own_keys(widget)
    if rows:
        lines += [*([()] if lines else []), *help_lines({"Keys": rows})]
    return lines


def _field_lines(widget: Widget) -> list[Line]:
    """What may be written into the field of a form."""
    row = next((node for node in widget.ancestors if isinstance(node, FieldRow)), None)
    if row is None:
        return []
    words = FIELD_WORDS.get(row.spec.kind, "")
    known = f"In the files already: {', '.join(row.spec.suggestions[:8])}." if row.spec.suggestions else ""
    return [line(text) for text in (words, known) if text]


def _own_keys(widget: Widget) -> list[tuple[str, str]]:
    """The keys of the dialog around the focused part, and its own; those of plain editing need no words."""
    found: dict[str, list[str]] = {}
    for node in (widget.screen, widget) if widget.screen.is_modal else (widget,):
        for key, binding in live_keys(widget.screen, node):
            if binding.id:
                found.setdefault(binding.tooltip or binding.description, []).append(key_name(key))
    return [(" ".join(dict.fromkeys(keys)), words) for words, keys in found.items() if words]
