"""A form session: a form from opening to writing. What others changed meanwhile is merged, or the user is asked."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any, cast

from app.tui.commands.table import function_of
from app.tui.spine import Part
from memory.base.safe_text import clip, visible
from memory.errors import ConflictError, MemdeckError, NotFoundError
from memory.files.edit import Edit
from memory.files.snapshot import Snapshot
from memory.storage.changes import new_id
from memory.storage.private.drafts import Draft
from memory.systems.acts import Act
from widgets.input.form import Form
from widgets.pane.base import Pane
from widgets.pane.offers import Build, Call, FileBuild, FormPlan, Values

from .conflicts import ask_fields, ask_gone
from .drafts import Sheet, typed_in

LONGEST_VALUE = 30
"""The most cells of a value in the note that others changed it."""


class FormSession(Part):
    """Opens forms, writes them, and merges what others wrote first; no typed text is lost."""

    def files_changed(self) -> None:
        """Say in the open form which fields of its entry changed in the files, or that the entry is gone."""
        if (opened := self.app.form_drafts.open) is None:
            return
        form, sheet = opened
        if sheet.item is None or sheet.ref is None or not form.is_running:
            return
        plan = self._plan(sheet.pane, sheet.pane.find(sheet.ref))
        if plan is None:
            words = "This entry was removed or renamed meanwhile; your text is kept here."
            form.say_changed(words, "Removed or renamed by others.")
            return
        theirs = [(spec.label, sheet.given(spec.name), spec.value) for spec in plan.fields]
        changed = [(label, old, new) for label, old, new in theirs if old != new]
        arrow = self.app.glyphs.right
        values = ", ".join(f"{label} ({short(old)} {arrow} {short(new)})" for label, old, new in changed)
        labels = ", ".join(label for label, _, _ in changed)
        form.say_changed(f"Changed meanwhile by others: {values}." if changed else "", f"Changed by others: {labels}")

    def _plan(self, pane: Pane, item: Any) -> FormPlan | None:
        """Return the form of an entry as it is in the files now; None if there is none."""
        return None if item is None else pane.editing(item, self.app.clock())

    def begin(self, pane: Pane, plan: FormPlan, item: Any = None, *, note: str = "") -> None:
        """Open a form; `note` is shown below its title."""
        here = item if item is not None else pane.current()
        ref = None if here is None else pane.ref(here)
        title = "" if item is None else str(getattr(item, "title", "") or pane.detail_title(item))
        self.show(Sheet(pane, plan, item, {}, ref, title), note=note)

    def show(self, sheet: Sheet, typed: Mapping[str, str] | None = None, note: str = "") -> None:
        """Show the form of a sheet with what was typed so far; its draft begins, or goes on."""
        self.app.once_free(lambda: self._show(sheet, {} if typed is None else sheet.changes(typed), note))

    def _show(self, sheet: Sheet, typed: Values, note: str) -> None:
        plan, drafts = sheet.plan, self.app.form_drafts
        # Fields that the user did not touch follow the files; they are not changes of the user.
        sheet.base |= {spec.name: spec.value for spec in plan.fields if spec.name not in typed}
        sheet.draft_id = sheet.draft_id or new_id(self.app.clock())

        def check(values: Values) -> Mapping[str, str]:
            found = dict(plan.check(values)) if plan.check else {}
            return found or self._try(sheet, values)

        def closed(values: Values | None) -> None:
            drafts.open = None
            if values is None:
                drafts.end(sheet.draft_id)
            else:
                self.save(sheet, values)

        does = "run" if plan.apply else "save"
        form = Form(plan.title, plan.fields, check=check, draft=typed, focus=plan.focus, note=note, does=does)
        drafts.open = (form, sheet)
        self.app.push_screen(form, closed)

    def _try(self, sheet: Sheet, values: Values) -> Mapping[str, str]:
        """Return the errors of the edit itself, tried on the files as they were last read."""
        snapshot, plan = sheet.pane.snapshot, sheet.plan
        changed = {spec.name: values[spec.name] for spec in plan.fields if values[spec.name] != spec.value}
        if snapshot is None or not changed:
            return {}
        try:
            build = plan.build(changed, values, self.app.clock())
            if not isinstance(build, Act | Call):
                build(snapshot)
        except (ConflictError, NotFoundError) as error:
            if sheet.item is None and isinstance(error, NotFoundError):
                return self._errors(plan, error)
        except MemdeckError as error:
            return self._errors(plan, error)
        return {}  # What others changed is asked when it is written.

    def _errors(self, plan: FormPlan, error: MemdeckError) -> Mapping[str, str]:
        place = str(error.details.get("field", ""))
        named = any(spec.name == place for spec in plan.fields)
        return {place if named else "": f"{error.message}; {error.hint}" if error.hint else error.message}

    # Writing

    def save(self, sheet: Sheet, values: Values) -> None:
        """Write a form, after asking about fields that both sides changed."""
        if sheet.plan.apply is not None:
            self.app.form_drafts.end(sheet.draft_id)
            sheet.plan.apply(values)
        elif not sheet.changes(values):
            self._nothing(sheet, "Nothing was changed.")
        else:
            write = partial(self._write, sheet, values)
            if not ask_fields(self.app, sheet, values, lambda: self.show(sheet, values), write):
                write({})

    def _nothing(self, sheet: Sheet, words: str) -> None:
        self.app.form_drafts.end(sheet.draft_id)
        self.app.say(words)

    def _write(self, sheet: Sheet, values: Values, answers: Mapping[str, str]) -> None:
        """Write what the user changed, with the answers for the fields that both sides changed."""
        plan = sheet.plan
        known = {spec.name: spec.value for spec in plan.fields}
        # Fields that the form of the newer entry does not have are set anyway.
        final = {**known, **sheet.changes(values), **answers}
        changed = {name: value for name, value in final.items() if value != known.get(name, "")}
        if not changed:
            self._nothing(sheet, "The entry already says that; nothing was changed.")
            return

        def failed(error: MemdeckError) -> None:
            if sheet.item is not None and isinstance(error, ConflictError | NotFoundError):
                again = partial(self._again, sheet, final)
                self.app.find(lambda: self._ref_now(sheet), lambda ref: self.app.changed(then=partial(again, ref)))
            else:
                self.app.say_error(error)
                self.show(sheet, final)

        try:
            build = plan.build(changed, final, self.app.clock())
        except MemdeckError as error:
            failed(error)
            return
        self.app.change(
            plan.operation,
            guarded(plan, changed, build),
            then=lambda _: self.app.form_drafts.end(sheet.draft_id),
            otherwise=failed,
            follow=True,
        )

    def _ref_now(self, sheet: Sheet) -> str | None:
        """Return the ref that the entry of a form has now, another one if it was renamed; for a thread."""
        self.workspace.notice(self.app.clock())
        kind, mark, digits = (sheet.ref or "").partition("#")
        newer = self.workspace.store.history.newer_name(f"{kind}#{digits[:10]}") if mark else None
        return newer or sheet.ref

    def _again(self, sheet: Sheet, values: Values, ref: str | None) -> None:
        """Go on with the entry as it is in the files now; what was typed about one that is gone is a draft."""
        fresh = None if ref is None else sheet.pane.find(sheet.ref or "") or sheet.pane.find(ref)
        plan = self._plan(sheet.pane, fresh)
        if plan is None:
            self._gone(self.app.form_drafts.keep(sheet, values))
            return
        sheet.plan, sheet.item, sheet.ref = plan, fresh, sheet.pane.ref(fresh)
        self.save(sheet, values)

    # Drafts

    def resume_left(self, draft_id: str = "") -> None:
        """Continue an unsaved form."""
        draft = self.app.form_drafts.left_one(draft_id)
        if draft is None:
            return

        def shown() -> None:
            self.app.form_drafts.take(draft)
            self._resume(draft)

        self.app.navigation.open_pane(draft.pane)
        self.app.once_shown(shown, reread=True)

    def _resume(self, draft: Draft) -> None:
        """Open the form of a draft, with the current entry."""
        pane, words = self.app.shown_pane, draft.operation.replace(".", " ")
        if draft.title == words:
            with suppress(KeyError):  # There is no such operation any more.
                function_of("operations.run")(self.app, words, draft.values, draft.id)
                return
        if draft.ref:
            pane.go_to(draft.ref)
        item = None if draft.new or draft.ref is None else pane.find(draft.ref)
        plan = pane.adding(self.app.clock()) if draft.new else self._plan(pane, item)
        if plan is None or (draft.new and not {spec.name for spec in plan.fields} >= set(draft.values)):
            self._gone(draft)
            return
        note = f"A draft of {draft.time.astimezone(self.app.zone):%Y-%m-%d %H:%M}."
        theirs = [spec.label for spec in plan.fields if spec.value != draft.base.get(spec.name, spec.value)]
        if theirs and not draft.new:
            note += f" Changed since by others: {', '.join(theirs)}."
        title = "" if draft.new else draft.title
        self.show(Sheet(pane, plan, item, dict(draft.base), draft.ref, title, draft.id), draft.values, note)

    def _gone(self, draft: Draft) -> None:
        """Ask what to do with what was typed about an entry that does not exist any more."""
        drafts = self.app.form_drafts
        ask_gone(
            self.app,
            draft.title,
            typed_in(draft),
            left=lambda: drafts.give_back(draft),
            done=lambda: drafts.end(draft.id),
        )


def short(value: str) -> str:
    """Return the beginning of a value, for one line of text."""
    return clip(visible(value[:200].replace("\n", " ")), LONGEST_VALUE) or "none"


def guarded(plan: FormPlan, changed: Values, build: Build) -> Build:
    """Return the edit of a form, which fails if others changed the same values meanwhile."""
    current = plan.current
    if current is None:
        return build
    edit = cast("FileBuild", build)
    given = {spec.name: spec.value for spec in plan.fields}

    def check(snapshot: Snapshot) -> Edit:
        found = current(snapshot)
        if found is None:
            raise NotFoundError("entry.not_found", "this entry was removed or renamed meanwhile")
        fields = [name for name in changed if found.get(name, "") not in (given.get(name, ""), changed[name])]
        if fields:
            raise ConflictError(
                "document.conflict", f"{', '.join(fields)} changed meanwhile", "look at both", fields=fields
            )
        return edit(snapshot)

    return check
