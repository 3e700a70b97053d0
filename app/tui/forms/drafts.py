"""Drafts of forms: saved outside of the workspace while typing, and offered again if the form was not saved."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from app.tui.shell import ThreadReport
from app.tui.spine import Part
from app.tui.state import panes_by_id
from memory.base.safe_text import cut
from memory.errors import MemdeckError
from memory.storage.private.drafts import Draft, Drafts, this_process
from widgets.dialogs.pick import Confirm
from widgets.input.form import Form
from widgets.pane.base import Pane
from widgets.pane.offers import FormPlan, Values

if TYPE_CHECKING:
    from textual.timer import Timer


SAVE_SECONDS = 1.0
"""Seconds after a key at which the draft is written; also the interval while typing goes on."""


TITLES = ("title", "text", "name", "key")
"""The fields of a form that name its entry; the first one that is not empty counts."""


@dataclass(slots=True, eq=False)
class Sheet:
    """One form: the pane and the entry it is about (no item: a new one), and the original values.

    `plan` follows the files; `base` holds the values when the form was opened.
    """

    pane: Pane
    plan: FormPlan
    item: Any = None
    base: Values = field(default_factory=dict)
    ref: str | None = None
    title: str = ""
    draft_id: str = ""

    def given(self, name: str) -> str:
        """Return the original value of a field."""
        if name in self.base:
            return self.base[name]
        return next((spec.value for spec in self.plan.fields if spec.name == name), "")

    def changes(self, values: Mapping[str, str]) -> Values:
        """Return the values that the user changed."""
        return {name: value for name, value in values.items() if value != self.given(name)}


class FormDrafts(Part):
    """Writes the draft of the open form in a worker, and offers those of programs that ended."""

    def set_up(self) -> None:
        """No form is open yet."""
        self.open: tuple[Form, Sheet] | None = None
        """The form on the screen."""
        self._typed: dict[str, Draft] = {}
        self._timer: Timer | None = None
        self._one = threading.Lock()

    @property
    def left(self) -> tuple[Draft, ...]:
        """The drafts that no program has open, newest first."""
        return self.app.state.left_drafts

    @property
    def listed(self) -> list[tuple[str, str, datetime]]:
        """The drafts as the brief lists them: id, subject, and when it was typed."""
        return [(draft.id, about(draft), draft.time) for draft in self.left]

    def _drafts(self) -> Drafts:
        return Drafts(self.workspace.state.folder)

    # While a form is open

    def edited(self, form: Form, values: Values) -> None:
        """Save the draft soon after an edit; typed and deleted again, only if an older state waits to be saved."""
        if self.open is None or self.open[0] is not form:
            return
        sheet = self.open[1]
        if sheet.changes(values) or sheet.draft_id in self._typed:
            self._typed[sheet.draft_id] = self._draft(sheet, values)
            if self._timer is None:
                self._timer = self.app.set_timer(SAVE_SECONDS, self._save_soon)

    def keep(self, sheet: Sheet, values: Values) -> Draft:
        """Save the typed text for later, as a draft of no program; return it."""
        draft = self._typed[sheet.draft_id] = replace(self._draft(sheet, values), owner="")
        self._save_soon()
        return draft

    def end(self, draft_id: str) -> None:
        """Remove the draft of a form that was saved, or left on purpose."""

        def work() -> None:
            with self._one, suppress(MemdeckError, OSError):
                self._drafts().remove(draft_id)

        self._typed.pop(draft_id, None)
        if self.app.is_running:
            self.app.work(work, group="draft")

    def _draft(self, sheet: Sheet, values: Values) -> Draft:
        return Draft(
            sheet.draft_id,
            self.app.clock(),
            sheet.pane.pane_id,
            sheet.plan.operation,
            sheet.title or next(filter(None, (values.get(name, "") for name in TITLES)), sheet.plan.title),
            sheet.ref,
            sheet.item is None,
            dict(values),
            dict(sheet.base),
            owner=this_process(),
        )

    def _save_soon(self) -> None:
        self._timer = None
        if self._typed and self.app.is_running:
            self.app.work(self._write, group="draft")

    def _write(self) -> None:
        """Write what was typed. Errors are ignored, so that typing is not disturbed."""
        with self._one:
            typed, self._typed = self._typed, {}
            for draft in typed.values():
                with suppress(MemdeckError, OSError):
                    self._drafts().put(draft)

    def save_now(self) -> None:
        """Write the draft at once; for the end of the application, also after an error, so nothing may prevent it."""
        with suppress(Exception):
            if self.open is not None and self.open[0].is_mounted:
                form, sheet = self.open
                if sheet.changes(form.values()):
                    self._typed[sheet.draft_id] = self._draft(sheet, form.values())
            if self._typed:
                self._write()

    # Drafts that were left behind

    def look(self) -> None:
        """Look for drafts of programs that ended; for the reading thread."""
        with suppress(MemdeckError, OSError):
            if found := self._drafts().left():
                self.app.post_message(ThreadReport(partial(self._found, found)))

    def _found(self, drafts: tuple[Draft, ...]) -> None:
        """Offer the drafts without interrupting: one message; the brief lists them until they are gone."""
        self._offer(drafts)
        more = len(drafts) - 1
        words = f"{about(drafts[0])} was not saved" + (f", and {more} more" if more else "")
        self.app.say(f"{words}. Press {self.app.key_of('draft.resume')} to continue it.", title="Draft")

    def _offer(self, drafts: tuple[Draft, ...]) -> None:
        """Offer these drafts, in the brief and by the keys."""
        self.app.state.left_drafts = drafts
        pane: Any = self.app.state.mounted.get("brief")
        if pane is not None:
            pane.say_drafts(self.listed)
        self.app.refresh_keys()

    def take(self, draft: Draft) -> None:
        """Stop offering a draft, because its form is opened."""
        self._offer(tuple(one for one in self.left if one.id != draft.id))

    def give_back(self, draft: Draft) -> None:
        """Offer a draft again that could not be resumed."""
        self._offer((draft, *(one for one in self.left if one.id != draft.id)))

    def discard(self, draft_id: str = "") -> None:
        """Discard an unsaved form; asks first."""
        draft = self.left_one(draft_id)
        if draft is None:
            return

        def answered(_: bool) -> None:
            self.take(draft)
            self.end(draft.id)

        details = f"{about(draft)}\n{typed_in(draft)}"
        screen = Confirm("Discard this draft?", details, yes="Discard draft", no="Keep", danger=True)
        self.app.ask(screen, answered)

    def left_one(self, draft_id: str = "") -> Draft | None:
        """Return the draft with this id, or the newest one, if no program has it open."""
        return next((one for one in self.left if not draft_id or one.id == draft_id), None)


def typed_in(draft: Draft) -> str:
    """Return what was typed into a form, one value a line."""
    changed = [(name, value) for name, value in draft.values.items() if value != draft.base.get(name, "")]
    return "\n".join(f"{name}: {value[:200]}" for name, value in changed)


def about(draft: Draft) -> str:
    """Return the subject of a draft in a few words: what kind of entry, new or not, and its title."""
    title = cut(draft.title)
    if draft.new and draft.title not in draft.values.values():
        # Only the form's title describes it yet.
        return title
    kind = panes_by_id()[draft.pane].load().item_name if draft.pane in panes_by_id() else "entry"
    return f"{'New' if draft.new else 'Edited'} {kind}: {title}"
