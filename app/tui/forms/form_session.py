"""A form session: a form from opening to writing. What others changed meanwhile is merged, or the user is asked."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, cast

from app.tui.keys.registry import function_of
from app.tui.navigation import Navigation
from app.tui.spine import Part
from memory.base.safe_text import clip, visible
from memory.errors import ConflictError, MemdeckError, NotFoundError
from memory.files.edit import Edit
from memory.files.snapshot import Snapshot
from memory.storage.private.drafts import Draft
from memory.systems.acts import Act
from widgets.input.form import Form
from widgets.pane.base import Pane
from widgets.pane.offers import Build, Call, FileBuild, FormPlan, Values

from .conflicts import ask_fields, ask_gone
from .drafts import FormDrafts, Sheet

LONGEST_VALUE = 30
"""The most cells of a value in the note that others changed it."""

MOST_TRIES = 5
"""How often a form is merged with newer files before the user must look at it."""


class FormSession(Part):
    """Opens forms, writes them, and merges what others wrote first; no typed text is lost."""

    def set_up(self) -> None:
        """`perform` does the steps of a question; no form is open yet."""
        self._open: tuple[Form, Sheet] | None = None
        """The form on the screen."""

    def files_changed(self) -> None:
        """Say in the open form which fields of its entry changed in the files, or that the entry is gone."""
        if self._open is None:
            return
        form, sheet = self._open
        if sheet.item is None or sheet.ref is None or not form.is_running:
            return
        fresh = sheet.pane.find(sheet.ref)
        plan = None if fresh is None else sheet.pane.editing(fresh, self.app.clock())
        if plan is None:
            form.say_changed(
                "This entry was removed or renamed meanwhile; your text here is kept.",
                "Removed or renamed by others.",
            )
            return
        arrow = self.app.glyphs.right
        theirs = [spec for spec in plan.fields if spec.value != sheet.given(spec.name)]
        if not theirs:
            form.say_changed("")
            return
        values = [f"{spec.label} ({short(sheet.given(spec.name))} {arrow} {short(spec.value)})" for spec in theirs]
        form.say_changed(
            f"Changed meanwhile by others: {', '.join(values)}.",
            f"Changed by others: {', '.join(spec.label for spec in theirs)}",
        )

    def begin(self, pane: Pane, plan: FormPlan, item: Any = None, *, note: str = "") -> None:
        """Open a form; `note` is shown below its title."""
        base = {spec.name: spec.value for spec in plan.fields}
        here = item if item is not None else pane.current()
        ref = None if here is None else pane.ref(here)
        title = "" if item is None else str(getattr(item, "title", "") or pane.detail_title(item))
        self.show(Sheet(pane, plan, item, base, ref, title), note=note)

    def show(self, sheet: Sheet, typed: Mapping[str, str] | None = None, note: str = "") -> None:
        """Show the form of a sheet with what was typed so far. If no key opened it, it waits until other dialogs are
        closed.
        """
        self.app.once_free(lambda: self._show(sheet, typed, note))

    def _show(self, sheet: Sheet, typed: Mapping[str, str] | None, note: str) -> None:
        plan = sheet.plan
        # Fields that the user did not touch follow the files; they are not changes of the user.
        kept = {} if typed is None else sheet.changes(typed)
        sheet.base |= {spec.name: spec.value for spec in plan.fields if spec.name not in kept}

        def check(values: Values) -> Mapping[str, str]:
            found = dict(plan.check(values)) if plan.check else {}
            return found or self._try(sheet, values)

        def closed(values: Values | None) -> None:
            FormDrafts.of(self.app).closed(form)
            self._open = None
            if values is None:
                FormDrafts.of(self.app).end(sheet)
            else:
                self.save(sheet, values, shown=True)

        form = Form(plan.title, plan.fields, check=check, draft=kept, focus=plan.focus, note=note)
        self._open = (form, sheet)
        FormDrafts.of(self.app).begin(form, sheet)
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
        except ConflictError:
            return {}  # Asked when it is written.
        except MemdeckError as error:
            if sheet.item is not None and isinstance(error, NotFoundError):
                return {}  # The same.
            place = str(error.details.get("field", ""))
            names = {spec.name for spec in plan.fields}
            return {place if place in names else "": f"{error.message}; {error.hint}" if error.hint else error.message}
        return {}

    # Writing

    def save(self, sheet: Sheet, values: Values, *, shown: bool = False) -> None:
        """Write a form, after asking about fields that both sides changed; `shown`: the user saw the newest files."""
        if sheet.plan.apply is not None:
            FormDrafts.of(self.app).end(sheet)
            sheet.plan.apply(values)
            return
        if not sheet.changes(values):
            FormDrafts.of(self.app).end(sheet)
            self.app.say("Nothing was changed.")
            return
        asked = ask_fields(
            self.app,
            sheet,
            values,
            lambda: self.show(sheet, values),
            lambda answers: self.write(sheet, values, answers),
        )
        if asked:
            return
        if not shown and sheet.tries > MOST_TRIES:
            self.show(sheet, values, "Another program keeps changing this entry.")
            return
        self.write(sheet, values, {})

    def write(self, sheet: Sheet, values: Values, answers: Mapping[str, str]) -> None:
        """Write what the user changed, with the answers for the fields that both sides changed."""
        plan = sheet.plan
        mine = {**sheet.changes(values), **answers}
        final = {spec.name: mine.get(spec.name, spec.value) for spec in plan.fields}
        # Fields that the form of the newer entry does not have are set anyway.
        final |= {name: value for name, value in mine.items() if name not in final}
        known = {spec.name: spec.value for spec in plan.fields}
        changed = {name: value for name, value in final.items() if value != known.get(name, "")}
        if not changed:
            FormDrafts.of(self.app).end(sheet)
            self.app.say("It says that already; nothing was changed.")
            return
        try:
            build = plan.build(changed, final, self.app.clock())
        except MemdeckError as error:
            self.app.say_error(error)
            self.show(sheet, final)
            return

        self.app.change(
            plan.operation,
            guarded(plan, changed, build),
            then=lambda _: FormDrafts.of(self.app).end(sheet),
            otherwise=lambda error: self._failed(sheet, final, error),
            follow=True,
        )

    def _failed(self, sheet: Sheet, values: Values, error: MemdeckError) -> None:
        """Handle a failed write: if the entry changed or is gone, refresh and go on from there, else show the form
        again.
        """
        if sheet.item is not None and isinstance(error, ConflictError):
            self.app.changed(then=lambda: self._again(sheet, values))
        elif sheet.item is not None and isinstance(error, NotFoundError):
            self.app.changed(then=lambda: self._gone(sheet, values))
        else:
            self.app.say_error(error)
            self.show(sheet, values)

    def _again(self, sheet: Sheet, values: Values) -> None:
        fresh = None if sheet.ref is None else sheet.pane.find(sheet.ref)
        if fresh is None:
            self._gone(sheet, values)
        else:
            self.follow(sheet, fresh, values)

    def follow(self, sheet: Sheet, fresh: Any, values: Values) -> None:
        """Go on with the entry as it is in the files now."""
        plan = sheet.pane.editing(fresh, self.app.clock())
        if plan is None:
            self._gone(sheet, values)
            return
        sheet.plan, sheet.item, sheet.ref = plan, fresh, sheet.pane.ref(fresh)
        sheet.tries += 1
        self.save(sheet, values)

    def _gone(self, sheet: Sheet, values: Values) -> None:
        """Ask what to do with what was typed about an entry that is gone: it is a draft from now on."""
        draft = FormDrafts.of(self.app).keep(sheet, values)
        FormDrafts.of(self.app).take(draft)
        self._draft_gone(sheet.pane, draft)

    # Drafts

    def resume_left(self, draft_id: str = "") -> None:
        """Go on with a form that was never saved."""
        draft = FormDrafts.of(self.app).left_one(draft_id)
        if draft is None:
            return

        def shown() -> None:
            FormDrafts.of(self.app).take(draft)
            self.resume(draft)

        Navigation.of(self.app).open_pane(draft.pane)
        self.app.once_shown(shown, reread=True)

    def resume(self, draft: Draft) -> None:
        """Open the form of a draft, with the current entry."""
        pane, now = self.app.pane, self.app.clock()
        assert pane is not None
        words = draft.operation.replace(".", " ")
        if draft.title == words:
            with suppress(KeyError):  # There is no such operation any more.
                function_of("operations.run")(self.app, words, draft.values, draft.id)
                return
        when = f"{draft.time.astimezone(self.app.zone):%Y-%m-%d %H:%M}"
        if draft.new:
            if draft.ref:
                pane.go_to(draft.ref)
            plan = pane.adding(now)
            if plan is not None and {spec.name for spec in plan.fields} >= set(draft.values):
                base = {spec.name: spec.value for spec in plan.fields}
                sheet = Sheet(pane, plan, None, base, draft.ref, draft_id=draft.id)
                typed = {name: value for name, value in draft.values.items() if value != draft.base.get(name, "")}
                self.show(sheet, {**base, **typed}, f"A draft of {when}.")
                return
        else:
            item = None if draft.ref is None else pane.find(draft.ref)
            plan = None if item is None else pane.editing(item, now)
            if plan is not None:
                base = dict(draft.base)
                sheet = Sheet(pane, plan, item, base, draft.ref, draft.title, draft.id)
                theirs = [spec.label for spec in plan.fields if spec.value != base.get(spec.name, spec.value)]
                note = f"A draft of {when}." + (f" Changed since by others: {', '.join(theirs)}." if theirs else "")
                if pane.ref(item) == draft.ref:
                    pane.go_to(draft.ref or "")
                self.show(sheet, dict(draft.values), note)
                return
        self._draft_gone(pane, draft)

    def _draft_gone(self, pane: Pane, draft: Draft) -> None:
        """Handle a draft whose entry does not exist any more."""
        typed = "\n".join(f"{name}: {value}" for name, value in draft.values.items() if value != draft.base.get(name))

        def renamed(fresh: Any) -> None:
            plan = pane.editing(fresh, self.app.clock())
            if plan is not None:
                sheet = Sheet(pane, plan, fresh, dict(draft.base), pane.ref(fresh), draft.title, draft.id)
                self.show(sheet, dict(draft.values), "The entry was renamed meanwhile.")

        ask_gone(
            self.app,
            pane,
            typed,
            title=draft.title,
            ref=None if draft.new else draft.ref,
            renamed=renamed,
            left=lambda: FormDrafts.of(self.app).give_back(draft),
            done=lambda: FormDrafts.of(self.app).drop(draft),
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
                "document.conflict",
                f"{', '.join(fields)} changed meanwhile",
                "look at both",
                fields=fields,
            )
        return edit(snapshot)

    return check
