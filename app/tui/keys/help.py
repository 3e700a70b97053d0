"""The commands as a list that is narrowed while one types: all that work now (`:`), or the keys of this place (`?`)."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from app.tui.commands import conditions as on
from app.tui.commands.operations import listed
from app.tui.commands.table import BY_ID, COMMANDS, Command, live_actions, reason
from widgets.chrome.keys import UNBOUND, name_of_keys, with_keys
from widgets.dialogs.dialogs import DIALOG_CSS, Dialog
from widgets.dialogs.finder import Finder, finder_bindings
from widgets.input.editors import SafeInput, SafeText
from widgets.input.fields import FieldRow, FieldSpec
from widgets.input.filter_bar import FilterBar
from widgets.list.line_list import LineList
from widgets.list.rows import Heading, Note
from widgets.text.styled_text import Line, Piece, line, pad_line

if TYPE_CHECKING:
    from textual.screen import Screen

    from app.tui.spine import Spine

KEYS, NAMES, LONG_NAMES = 11, 16, 25
"""Cells of the columns of keys and of names; sentences get the rest, if there is room for them."""

ROOMY = 90
"""From so many cells on, names as long as those of operations have their column."""

MOVING = "Moving and selecting"
"""The group of the keys that all lists have."""

USUAL = ("change.undo", "change.redo", "entry.add", "entry.edit", "entry.remove", "list.filter", "app.search",
         "app.palette", "app.quit")  # fmt: skip
"""The commands that come first in every pane."""

KEYLESS = "Without a key"
"""The group of the commands that only this list runs."""

NOT_NOW = "Not now"
"""The last group: the keys that do nothing now, each with its reason. Undo stays among the usual ones."""

GLOSSARY = {
    "approval": "Your permission to run one exact command",
    "brief": "What an agent is told as its session starts",
    "decision": "What was decided, with its reason",
    "fact": "A short note sent with messages it matches",
    "heartbeat": "The scheduled look at the tasks that are due",
    "maintenance": "Moves old entries to the archive",
    "monitor": "A check that runs at set times",
    "plan": "Work split into phases, for several agents",
    "proposal": "A change by an agent that waits for you",
    "ref": "The name of an entry, such as tasks#3fa94c1",
}
"""The words of memdeck, at the end of the help."""

FIRST = ("History", "Entries", "List", MOVING)
"""The groups that come after the usual commands and the pane's own."""

_MOVES = ("list", "view")
"""Prefixes of the ids of the keys that move in lists and texts."""

ALSO: dict[str, str] = {
    "change.undo": "revert take back history",
    "change.redo": "again",
    "change.revert": "undo",
    "draft.discard": "delete",
    "entry.add": "new create insert",
    "entry.copy": "yank clipboard",
    "entry.copy_ref": "yank clipboard",
    "entry.edit": "rename change modify",
    "entry.history": "versions log",
    "entry.remove": "delete erase",
    "entry.restore": "unarchive undelete",
    "entry.source": "editor vim",
    "app.help": "keys shortcuts",
    "app.quit": "exit close leave",
    "app.search": "find grep",
    "app.theme": "color look light dark contrast settings",
    "journal.capture": "quick capture note",
    "pane.changes": "history log undo",
    "pane.config": "settings preferences options",
    "run.mute": "silence snooze quiet",
    "run.stop": "cancel kill",
    "task.assign": "owner person",
    "task.copy": "copy clone",
    "task.done": "complete finish close",
    "task.due": "date deadline schedule",
    "task.lower": "priority",
    "task.quick": "quick add new todo natural language",
    "task.raise": "priority",
    "trust.all": "allow consent permission",
    "trust.review": "allow consent permission",
    "upkeep.archive": "clean up",
    "upkeep.maintain": "maintenance clean up",
    "upkeep.prune": "clean up journal",
}
"""Other words by which users search for a command."""

FILTER_WORDS = """\
Entries must contain every word; "words in quotes" as a phrase.
A minus before a word, a phrase or a field excludes it: -draft, -tag:infra.
name:value filters by one field, such as tag:infra priority:high; {list.fields|f} shows the names."""
"""The help about the filter."""

FIELD_WORDS: dict[str, str] = {
    "date": "A date, with or without a time: tomorrow 14:00, fri 9:00, 2 Dec 2pm, +2d, eom, 2026-12-01. Empty: none.",
    "cron": "Five fields: minute hour day month weekday, for example 0 9 * * MON. The next runs are shown below.",
    "tags": "Tags, separated by commas. The right arrow accepts a suggestion.",
    "number": "A number.",
    "choice": "Choose with the left and right arrows, or click.",
}
"""The help about the kinds of fields."""


class CommandRow(NamedTuple):
    """A line of the list: keys, name, sentence, group; `id` is that of a command, `why` the reason why it is dead."""

    keys: str
    words: str
    sentence: str
    group: str
    id: str = ""
    why: str = ""


def palette_rows(app: Spine) -> list[CommandRow]:
    """Return all commands that work now, then the operations of the memory systems."""
    live = [one for one in COMMANDS if one.id != "app.palette" and app.allows(one)]
    rows = [_row(app, one, "") for one in live]
    return [*rows, *(CommandRow("", one.does, one.sentence.rstrip("."), "", one.does) for one in listed(app))]


def key_rows(screen: Screen[object], app: Spine) -> list[CommandRow]:
    """Return the keys of the pane and those that work everywhere, by group; those that do nothing now come last."""
    name_of, now, pane = name_of_keys(app), app.situation, app.pane
    own = pane.title if pane is not None and screen is app.main_screen else "Here"
    found: dict[tuple[str, str], CommandRow] = {}
    # Keys of a part of the pane, such as its calendar, come before those of its entries.
    for active in screen.active_bindings.values():
        binding = active.binding
        sentence = binding.tooltip or binding.description
        if not binding.id or binding.id in BY_ID or not active.enabled or binding.key == UNBOUND or not sentence:
            continue
        if active.node in (app, app.main_screen):
            continue
        group = MOVING if binding.id.partition(".")[0] in _MOVES else own
        key = binding.key_display or name_of(binding.key)
        before = found.get((group, sentence))
        keys = f"{before.keys} {key}" if before is not None else key
        found[group, sentence] = CommandRow(keys, binding.description, sentence, group)
    rows, live = [*found.values()], {command.id for command in live_actions(now)}
    if screen is not app.main_screen:
        return rows
    for command in COMMANDS:
        panes = command.needs.panes or command.panes
        if command.needs.panes and now.pane_id not in panes:
            continue
        group = "Usual" if command.id in USUAL else own if now.pane_id in panes else command.group
        if not app.keymap.keys(command.id, command.keys):
            group = KEYLESS
        why = "" if command.id in live else reason(app, command, now.pane_id)
        if command.id in live or why:
            rows.append(_row(app, command, group, why))
    rows = [
        row._replace(group=NOT_NOW) if row.why and row.id != "change.undo" else row for row in _one_line_a_key(rows)
    ]
    groups = ("Usual", own, *FIRST, *(row.group for row in rows if row.group not in (KEYLESS, NOT_NOW)), KEYLESS)
    order = {name: place for place, name in enumerate(dict.fromkeys((*groups, NOT_NOW)))}
    words = (CommandRow("", word, sentence, "Glossary") for word, sentence in GLOSSARY.items())
    return [*sorted(rows, key=lambda row: (order[row.group], bool(row.why))), *words]


def _one_line_a_key(rows: Sequence[CommandRow]) -> list[CommandRow]:
    """Return the rows with one line for each key: where it does one of two things by the row, the line names both."""
    found: dict[str, list[CommandRow]] = {}
    for row in rows:
        found.setdefault(row.keys or row.id, []).append(row)
    lines = []
    for same in found.values():
        first, *others = sorted(same, key=lambda row: bool(row.why))
        # A key of the pane itself leaves nothing to the command of the same key.
        also = others if first.id else []
        names = [first.words, *(row.words for row in also if row.why != on.ADDING.why)]
        lines.append(first._replace(words=" or ".join(dict.fromkeys(names))))
    return lines


def _row(app: Spine, command: Command, group: str, why: str = "") -> CommandRow:
    pane = "" if app.pane is None else app.pane.pane_id
    keys = " ".join(map(name_of_keys(app), app.keymap.keys(command.id, command.keys)))
    return CommandRow(keys, command.words_in(pane), command.sentence_in(pane), group, command.id, why)


def words_of(text: str) -> list[str]:
    """Return the words of a text, without case and signs."""
    return re.findall(r"[^\W_]+", text.casefold())


def score(query: str, row: CommandRow) -> int:
    """Return how well a row fits the typed words: its name counts most, then other words for it; 0: it does not."""
    sentence = words_of(row.sentence)
    other = words_of(f"{row.id} {ALSO.get(row.id, '')}")
    places = (row.keys.casefold().split(), words_of(row.words), sentence[:1], other, sentence, words_of(row.group))
    total = 0
    for typed in query.casefold().split():
        fits = [
            any(word == typed if not place else word.startswith(typed) for word in words)
            for place, words in enumerate(places)
        ]
        if not any(fits):
            return 0
        total += len(places) - fits.index(True)
    return total


class CommandScreen(Finder, Dialog, ModalScreen["str | None"]):
    """Lists commands; returns the id of the one that was chosen, None when left."""

    DEFAULT_CSS: ClassVar[str] = f"""
    CommandScreen {{
        {DIALOG_CSS}
        align: center top;
        & > .dialog {{ margin-top: 1; max-width: 110; }}
        .dialog--title {{ display: none; }}
        .palette--about {{ color: $foreground-muted; }}
        &.-low .palette--about {{ display: none; }}
        &.-low > .dialog {{ margin-top: 0; }}
        LineList {{ height: auto; }}
        &.-low LineList {{ height: 1fr; }}
    }}
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "run", id="palette.choose", tooltip="Run the command", priority=True),
        Binding("escape", "leave", "close", id="palette.leave", tooltip="Do nothing"),
        *finder_bindings("palette", "command"),
    ]

    def __init__(self, title: str, rows: Sequence[CommandRow], about: str = "") -> None:
        """List `rows`, under headings where they have groups, below a sentence `about` the place."""
        super().__init__()
        self._title, self._about = title, about
        self._rows: dict[Hashable, CommandRow] = dict(enumerate(rows))
        self._names = min(LONG_NAMES, max([NAMES, *(len(row.words) + 1 for row in rows)]))

    def parts(self) -> ComposeResult:
        """Put the list below the line to type into."""
        yield SafeInput(placeholder=f"{self._title}: type a key or a word")
        if self._about:
            yield SafeText(self._about, classes="palette--about")
        yield LineList(self._draw, self._grouped(), classes="dialog--body")

    def on_mount(self) -> None:
        """Leave the focus to the line."""
        self.listed.can_focus = False
        self.listed.action_first()

    def _grouped(self) -> list[Hashable]:
        rows: list[Hashable] = []
        group = ""
        for key, row in self._rows.items():
            if row.group != group:
                group = row.group
                rows += [Note(number=len(rows)), Heading(group.upper())] if rows else [Heading(group.upper())]
            rows.append(key)
        return rows

    def _draw(self, key: Hashable, width: int) -> Line:
        row = self._rows[key]
        left = line(
            pad_line(line(Piece(row.keys, "muted" if row.why else "accent")), KEYS),
            " ",
            Piece(row.words, "muted" if row.why else "plain"),
        )
        if width < KEYS + NAMES + 20:
            is_word = not row.keys and not row.id
            left = pad_line(line(Piece(row.words, "accent")), KEYS) if is_word else left
            return line(left, Piece(f"  {row.sentence if is_word else row.why}", "plain" if is_word else "muted"))
        names = self._names if width >= ROOMY else NAMES
        return line(pad_line(left, KEYS + names), " ", Piece(row.why or row.sentence, "muted"))

    def typed(self) -> None:
        """Show the commands that fit, the best first."""
        scores = {key: score(self.text, row) for key, row in self._rows.items()}
        found: list[Hashable] = sorted((key for key in scores if scores[key]), key=lambda key: -scores[key])
        if not self.text.strip():
            found = self._grouped()
        self.listed.set_rows(found or [Note(f"No command matches “{self.text[:40]}”.")])
        self.listed.action_first()

    def action_choose(self) -> None:
        """Run the command under the cursor, if it works now; the other keys are only shown."""
        row = self._rows.get(self.listed.cursor)
        if row is not None and row.id and not row.why:
            self.dismiss(row.id)


def about(app: Spine) -> str:
    """Return what the focused filter or field is for, else the open pane."""
    focused = app.screen.focused
    for node in () if focused is None else focused.ancestors_with_self:
        if isinstance(node, FilterBar):
            return with_keys(FILTER_WORDS, app)
        if isinstance(node, FieldRow):
            return _about_field(node.spec)
    return "" if app.pane is None or app.screen is not app.main_screen else app.pane.empty.partition("\n\n")[0]


def _about_field(spec: FieldSpec) -> str:
    offered = spec.suggestions() if callable(spec.suggestions) else spec.suggestions
    known = f"In the files already: {', '.join(offered[:8])}." if offered else ""
    needed = "Required." if spec.required else ""
    return "\n".join(text for text in (spec.about, FIELD_WORDS.get(spec.kind, ""), known, needed) if text)
