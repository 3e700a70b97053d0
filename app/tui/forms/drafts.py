"""Drafts of forms: saved outside of the workspace while typing, and offered again if the form was never saved."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from app.tui.pane_state import PaneState
from app.tui.shell import ThreadReport
from app.tui.spine import Part
from memory.base.safe_text import cut
from memory.errors import MemdeckError
from memory.storage.changes import new_id
from memory.storage.private.drafts import Draft, Drafts, this_process
from widgets.dialogs.dialogs import Confirm
from widgets.input.form import Form
from widgets.pane.base import Pane
from widgets.pane.offers import FormPlan, Values

if TYPE_CHECKING:
    from textual.timer import Timer


SAVE_SECONDS = 1.0
"""Seconds after a key at which the draft is written; also the interval while typing goes on."""


TITLES = ("title", "text", "name", "key")
"""The fields of a form that name its entry; the first one that is not empty counts."""

KINDS = {
    "tasks": "task",
    "journal": "journal entry",
    "knowledge": "fact",
    "contacts": "contact",
    "monitors": "monitor",
    "config": "setting",
    "facts": "fact",
    "curated": "memory",
}
"""The words for an entry, by its pane."""


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
    tries: int = 0

    def given(self, name: str) -> str:
        """Return the original value of a field."""
        if name in self.base:
            return self.base[name]
        return next((spec.value for spec in self.plan.fields if spec.name == name), "")

    def changes(self, values: Mapping[str, str]) -> Values:
        """Return the values that the user changed."""
        return {name: value for name, value in values.items() if value != self.given(name)}


class FormDrafts(Part):
    """Writes drafts in a worker, and reopens those of programs that ended."""

    def set_up(self) -> None:
        """There are no drafts yet."""
        self._forms: dict[Form, Sheet] = {}
        self._waiting: dict[str, Draft] = {}
        self._ended: set[str] = set()
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

    @property
    def _drafts(self) -> Drafts | None:
        workspace = self.app.workspace
        return None if workspace is None else Drafts(workspace.state.folder)

    # While a form is open

    def begin(self, form: Form, sheet: Sheet) -> None:
        """Start the draft of a form that was opened."""
        if not sheet.draft_id:
            sheet.draft_id = new_id(self.app.clock())
        self._ended.discard(sheet.draft_id)
        self._forms[form] = sheet

    def edited(self, form: Form, values: Values) -> None:
        """Save the draft soon after an edit."""
        sheet = self._forms.get(form)
        if sheet is None or sheet.draft_id in self._ended:
            return
        changed = bool(sheet.changes(values))
        # Typed and deleted again: nothing to save, unless an older state waits to be saved.
        if changed or sheet.draft_id in self._waiting:
            self._waiting[sheet.draft_id] = self._draft(sheet, values)
        if changed and self._timer is None:
            self._timer = self.app.set_timer(SAVE_SECONDS, self._save_soon)

    def keep(self, sheet: Sheet, values: Values) -> Draft:
        """Save the typed text for later, as a draft of no program; return it."""
        draft = self._waiting[sheet.draft_id] = replace(self._draft(sheet, values), owner="")
        self._save_soon()
        self.give_back(draft)
        return draft

    def end(self, sheet: Sheet) -> None:
        """Remove the draft of a form that was saved, or left on purpose."""
        self._ended.add(sheet.draft_id)
        self._waiting.pop(sheet.draft_id, None)
        self._forms = {form: other for form, other in self._forms.items() if other is not sheet}
        self._remove(sheet.draft_id)

    def closed(self, form: Form) -> None:
        """Forget a form that was closed; its draft stays until the outcome is known."""
        self._forms.pop(form, None)

    def _draft(self, sheet: Sheet, values: Values) -> Draft:
        item = sheet.item
        return Draft(
            sheet.draft_id,
            self.app.clock(),
            sheet.pane.pane_id,
            sheet.plan.operation,
            sheet.title or next(filter(None, (values.get(name, "") for name in TITLES)), sheet.plan.title),
            sheet.ref,
            item is None,
            dict(values),
            dict(sheet.base),
            owner=this_process(),
        )

    def _save_soon(self) -> None:
        self._timer = None
        if self._waiting and self.app.is_running:
            self.app.work(self._write, group="draft")

    def _write(self) -> None:
        """Write the waiting drafts. Errors are ignored, so that typing is not disturbed."""
        drafts = self._drafts
        with self._one:
            waiting, self._waiting = self._waiting, {}
            for draft in waiting.values():
                if drafts is not None and draft.id not in self._ended:
                    with suppress(MemdeckError, OSError):
                        drafts.put(draft)

    def save_now(self) -> None:
        """Write all drafts at once; for the end of the application, also after an error."""
        try:
            for form, sheet in list(self._forms.items()):
                if form.is_mounted and sheet.draft_id not in self._ended and sheet.changes(form.values()):
                    self._waiting[sheet.draft_id] = self._draft(sheet, form.values())
            if self._waiting:
                self._write()
        except Exception:
            # The application is ending, perhaps because of an error: nothing may prevent that.
            return

    def _remove(self, draft_id: str) -> None:
        def work() -> None:
            drafts = self._drafts
            with self._one, suppress(MemdeckError, OSError):
                if drafts is not None:
                    drafts.remove(draft_id)

        if self.app.is_running:
            self.app.work(work, group="draft")

    # Drafts that were left behind

    def look(self) -> None:
        """Look for drafts of programs that ended; for the reading thread."""
        drafts = self._drafts
        found: tuple[Draft, ...] = ()
        if drafts is not None:
            with suppress(MemdeckError, OSError):
                found = drafts.left()
        if found:
            self.app.post_message(ThreadReport(partial(self._found, found)))

    def _found(self, drafts: tuple[Draft, ...]) -> None:
        """Offer the drafts without interrupting: one message for new ones; the brief lists them until they are gone."""
        self.app.state.left_drafts = drafts
        told = PaneState.of(self.app).told_drafts
        new = [draft for draft in drafts if _version(draft) not in told]
        if new:
            more = len(new) - 1
            words = f"{about(new[0])} was never saved" + (f", and {more} more" if more else "")
            key = self.app.key_of("draft.resume" if new[0] is drafts[0] else "pane.brief")
            does = "continue it" if new[0] is drafts[0] else "see it in Brief"
            self.app.say(f"{words}. Press {key} to {does}.", title="Draft")
        PaneState.of(self.app).tell_drafts(map(_version, drafts))
        self.show_left()

    def show_left(self) -> None:
        """Update the brief and the keys."""
        pane: Any = self.app.state.mounted.get("brief")
        if pane is not None:
            pane.say_drafts(self.listed)
        self.app.refresh_keys()

    def left_one(self, draft_id: str = "") -> Draft | None:
        """Return the draft with this id, or the newest one, if no program has it open."""
        return next((one for one in self.left if not draft_id or one.id == draft_id), None)

    def take(self, draft: Draft) -> None:
        """Stop offering a draft, because its form is opened."""
        self.app.state.left_drafts = tuple(one for one in self.left if one.id != draft.id)
        self.show_left()

    def give_back(self, draft: Draft) -> None:
        """Offer a draft again that could not be resumed."""
        self.app.state.left_drafts = (draft, *(one for one in self.left if one.id != draft.id))
        self.show_left()

    def drop(self, draft: Draft) -> None:
        """Delete a draft."""
        self._ended.add(draft.id)
        self.take(draft)
        self._remove(draft.id)

    def discard(self, draft_id: str = "") -> None:
        """Throw away a form that was never saved; asks first."""
        draft = self.left_one(draft_id)
        if draft is None:
            return

        def answered(yes: bool | None) -> None:
            if yes:
                self.drop(draft)

        typed = [f"{name}: {value}" for name, value in draft.values.items() if value != draft.base.get(name, "")]
        details = "\n".join([about(draft), *(text[:200] for text in typed)])
        self.app.push_screen(
            Confirm("Discard this draft?", details, yes="Discard draft", no="Keep", danger=True), answered
        )


def _version(draft: Draft) -> str:
    """Return an identity of this state of the draft; it changes when the draft is edited again."""
    return f"{draft.id} {draft.time.isoformat()}"


def about(draft: Draft) -> str:
    """Return the subject of a draft in a few words: what kind of entry, new or not, and its title."""
    title = cut(draft.title)
    if draft.new and draft.title not in draft.values.values():
        # Only the form's title describes it yet.
        return title
    return f"{'New' if draft.new else 'Edited'} {KINDS.get(draft.pane, 'entry')}: {title}"
