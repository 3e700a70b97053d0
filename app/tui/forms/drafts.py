"""Drafts of forms: kept outside of the workspace as they are typed, and offered again where they were never saved."""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from app.tui.part import Part
from app.tui.threads import ThreadReport
from memory.errors import MemdeckError

if TYPE_CHECKING:
    from textual.timer import Timer

    from app.tui.pane_state import PaneState
    from app.tui.shell import Shell
    from memory.storage.private.drafts import Draft, Drafts
    from widgets.input.form import Form
    from widgets.pane.offers import Values

    from .sheet import Sheet

SAVE_SECONDS = 1.0
"""How long after a key the draft is written; while somebody types, it is written as often."""


TITLES = ("title", "text", "name", "key")
"""The fields of a form that name its entry, the first one that holds something."""

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
"""What an entry is called, by its pane."""


class FormDrafts(Part):
    """Writes drafts in a worker, and goes on with those of programs that ended."""

    def __init__(self, app: Shell, pane_state: PaneState) -> None:
        """Nothing is typed."""
        super().__init__(app)
        self._pane_state = pane_state
        self._forms: dict[Form, Sheet] = {}
        self._waiting: dict[str, Draft] = {}
        self._ended: set[str] = set()
        self._timer: Timer | None = None
        self._one = threading.Lock()

    @property
    def left(self) -> tuple[Draft, ...]:
        """Those that nobody has open, newest first."""
        return self.app.left_drafts

    @left.setter
    def left(self, drafts: tuple[Draft, ...]) -> None:
        self.app.left_drafts = drafts

    @property
    def listed(self) -> list[tuple[str, str, datetime]]:
        """What the brief lists: id, what it is about, when it was typed."""
        return [(draft.id, about(draft), draft.time) for draft in self.left]

    @property
    def _drafts(self) -> Drafts | None:
        from memory.storage.private.drafts import Drafts

        workspace = self.app.workspace
        return None if workspace is None or workspace.state is None else Drafts(workspace.state.folder)

    # While a form is open

    def begin(self, form: Form, sheet: Sheet) -> None:
        """A form was opened."""
        from memory.storage.changes import new_id

        if not sheet.draft_id:
            sheet.draft_id = new_id(self.app.clock())
        self._ended.discard(sheet.draft_id)
        self._forms[form] = sheet

    def edited(self, form: Form, values: Values) -> None:
        """Something was typed; it is written soon."""
        sheet = self._forms.get(form)
        if sheet is None or sheet.draft_id in self._ended:
            return
        if not sheet.changes(values):
            # Typed and taken back: nothing to keep, unless an older state is on the disk.
            if sheet.draft_id in self._waiting:
                self._waiting[sheet.draft_id] = self._draft(sheet, values)
            return
        self._waiting[sheet.draft_id] = self._draft(sheet, values)
        if self._timer is None:
            self._timer = self.app.set_timer(SAVE_SECONDS, self._save_soon)

    def keep(self, sheet: Sheet, values: Values) -> None:
        """Nobody has the form open any more, and it may be gone on with later."""
        draft = replace(self._draft(sheet, values), owner="")
        self.left = (draft, *(one for one in self.left if one.id != draft.id))
        self._waiting[draft.id] = draft
        self._save_soon()
        self.show_left()

    def end(self, sheet: Sheet) -> None:
        """The form was saved, or left on purpose."""
        self._ended.add(sheet.draft_id)
        self._waiting.pop(sheet.draft_id, None)
        self._forms = {form: other for form, other in self._forms.items() if other is not sheet}
        self._remove(sheet.draft_id)

    def closed(self, form: Form) -> None:
        """A form went; its draft stays until it is known what became of it."""
        self._forms.pop(form, None)

    def _draft(self, sheet: Sheet, values: Values) -> Draft:
        from memory.storage.private.drafts import Draft, this_process

        item = sheet.item
        source, section = where(sheet)
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
            source,
            str(getattr(item, "file", "") or ""),
            section,
            this_process(),
        )

    def _save_soon(self) -> None:
        self._timer = None
        if self._waiting and self.app.is_running:
            self.app.work(self._write, group="draft")

    def _write(self) -> None:
        """Write what is waiting; a folder that cannot be written to is no reason to disturb who types."""
        drafts = self._drafts
        with self._one:
            waiting, self._waiting = self._waiting, {}
            for draft in waiting.values():
                if drafts is not None and draft.id not in self._ended:
                    with suppress(MemdeckError, OSError):
                        drafts.put(draft)

    def save_now(self) -> None:
        """Write what is typed at once; for the end of the application, whatever ends it."""
        try:
            for form, sheet in list(self._forms.items()):
                if form.is_mounted and sheet.draft_id not in self._ended and sheet.changes(form.values()):
                    self._waiting[sheet.draft_id] = self._draft(sheet, form.values())
            if self._waiting:
                self._write()
        except Exception:
            # The application is ending, perhaps by an error of its own: nothing may stand in the way of that.
            return

    def _remove(self, draft_id: str) -> None:
        def work() -> None:
            drafts = self._drafts
            with self._one, suppress(MemdeckError, OSError):
                if drafts is not None:
                    drafts.remove(draft_id)

        if self.app.is_running:
            self.app.work(work, group="draft")

    # What was left behind

    def look(self) -> None:
        """Look for drafts of programs that ended; for the thread that reads."""
        drafts = self._drafts
        found: tuple[Draft, ...] = ()
        if drafts is not None:
            with suppress(MemdeckError, OSError):
                found = drafts.left()
        if found:
            self.app.post_message(ThreadReport(partial(self._found, found)))

    def _found(self, drafts: tuple[Draft, ...]) -> None:
        """Offer them, without getting into the way of anything: a word once for each, the brief lists them until they
        are gone.
        """
        self.left = drafts
        told = self._pane_state.told_drafts
        new = [draft for draft in drafts if _version(draft) not in told]
        if new:
            more = len(new) - 1
            words = f"{about(new[0])} was never saved" + (f", and {more} more" if more else "")
            key = self.app.key_of("draft.resume" if new[0] is drafts[0] else "pane.brief")
            does = "go on with it" if new[0] is drafts[0] else "see it in Brief"
            self.app.say(f"{words}. Press {key} to {does}.", title="Draft")
        self._pane_state.tell_drafts(map(_version, drafts))
        self.show_left()

    def show_left(self) -> None:
        """Tell the brief and the footer."""
        pane: Any = self.app.panes.mounted.get("brief")
        if pane is not None:
            pane.say_drafts(self.listed)
        self.app.refresh_keys()

    def of(self, draft_id: str = "") -> Draft | None:
        """Return a draft that nobody has open, the newest one if none is named."""
        return next((one for one in self.left if not draft_id or one.id == draft_id), None)

    def take(self, draft: Draft) -> None:
        """Offer a draft no more: its form is opened."""
        self.left = tuple(one for one in self.left if one.id != draft.id)
        self.show_left()

    def give_back(self, draft: Draft) -> None:
        """A draft that could not be gone on with is offered as before."""
        self.left = (draft, *(one for one in self.left if one.id != draft.id))
        self.show_left()

    def drop(self, draft: Draft) -> None:
        """Throw a draft away."""
        self._ended.add(draft.id)
        self.take(draft)
        self._remove(draft.id)

    def discard(self, draft_id: str = "") -> None:
        """Throw a draft away, the newest one if none is named, after a question."""
        from widgets.dialogs.dialogs import Confirm

        draft = self.of(draft_id)
        if draft is None:
            return

        def answered(yes: bool | None) -> None:
            if yes:
                self.drop(draft)

        typed = [f"{name}: {value}" for name, value in draft.values.items() if value != draft.base.get(name, "")]
        details = "\n".join([about(draft), *(text[:200] for text in typed)])
        self.app.push_screen(
            Confirm("Throw this draft away?", details, yes="Throw away", no="Keep", danger=True), answered
        )


def _version(draft: Draft) -> str:
    """What tells a draft from others, and from what it was before somebody went on with it."""
    return f"{draft.id} {draft.time.isoformat()}"


def about(draft: Draft) -> str:
    """What a draft is about, in a few words: what kind of entry, new or not, and its title."""
    title = draft.title if len(draft.title) <= 60 else draft.title[:59] + "…"
    if draft.new and draft.title not in draft.values.values():
        # Nothing names it yet but its form.
        return title
    return f"{'New' if draft.new else 'Edited'} {KINDS.get(draft.pane, 'entry')}: {title}"


def where(sheet: Sheet) -> tuple[str | None, str | None]:
    """The source of a form's entry when it was opened, and the section it stood in."""
    item = sheet.item
    entry, at = getattr(item, "entry", None), getattr(item, "at", None)
    if entry is None or at is None or sheet.pane.snapshot is None:
        return None, None
    if sheet.section is None and at[0] >= 0:
        with suppress(Exception):
            sheet.section = sheet.pane.snapshot.document(item.file).section(at[0]).title
    return entry.text, sheet.section
