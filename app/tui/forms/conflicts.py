"""Conflicts: the same field changed twice, or an entry that is gone; a person chooses, and nothing typed is lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from app.tui.part import Part
from memory.errors import ConflictError, MemdeckError

if TYPE_CHECKING:
    from memory.storage.private.drafts import Draft
    from widgets.dialogs.three_way import Answers
    from widgets.pane.base import Pane
    from widgets.pane.offers import Values

    from .form_session import Sheet

CHANGED = "Somebody else changed this entry meanwhile"
"""The title of what is asked."""


class Conflicts(Part):
    """Asks with three columns, and with a few choices where an entry is not there any more."""

    # Forms

    def form(self, sheet: Sheet, values: Values) -> bool:
        """Ask about the fields of a form that both sides changed; False: there are none."""
        from widgets.dialogs.three_way import Question, ThreeWay

        mine = sheet.changes(values)
        questions = [
            Question(
                spec.name,
                spec.label,
                sheet.given(spec.name) or None,
                mine[spec.name] or None,
                spec.value or None,
            )
            for spec in sheet.plan.fields
            if spec.name in mine and spec.value not in (sheet.given(spec.name), mine[spec.name])
        ]
        if not questions:
            return False

        def answered(answers: Answers | None) -> None:
            if answers is None:
                self.app.filling.show(sheet, values)
            else:
                self.app.filling.write(sheet, values, {name: text or "" for name, text in answers.items()})

        asked = {one.name for one in questions}
        others = [spec.label for spec in sheet.plan.fields if spec.name in mine and spec.name not in asked]
        note = sheet.title
        if others:
            note += f"\nWhat you changed besides goes along: {', '.join(others)}."
        validate = {spec.name: spec.validate for spec in sheet.plan.fields}
        self.app.push_screen(ThreeWay(CHANGED, questions, note=note, validate=validate), answered)
        return True

    # $EDITOR

    def source(self, pane: Pane, item: Any, text: str, fresh: Any = None) -> None:
        """Ask about the places of an entry's text that both sides changed, then write it."""
        from memory.document import Entry
        from memory.files.merging import open_entry
        from widgets.dialogs.three_way import Question, ThreeWay

        fresh = fresh if fresh is not None else pane.find(pane.ref(item))
        theirs = None if fresh is None else getattr(fresh, "entry", None)
        if theirs is None:
            self.gone(pane, item, text, title=str(getattr(item, "title", "")), source=text)
            return
        try:
            merge = open_entry(item.entry, Entry.from_text(text.rstrip() + "\n"), theirs)
        except MemdeckError as error:
            self.app.say_error(error)
            self.app.copy_to_clipboard(text)
            return

        def write(answers: Answers) -> None:
            try:
                texts = [answers[str(place)] for place, _ in enumerate(merge.differences)]
                settled = merge.settled(texts)
                build = pane.from_source(fresh, settled.text, self.app.clock())
            except MemdeckError as error:
                self.app.say_error(error)
                self.app.copy_to_clipboard(text)
                return

            def otherwise(error: MemdeckError) -> bool:
                if isinstance(error, ConflictError):
                    self.app.looking.request(lambda: self.source(pane, item, text))
                    return True
                self.app.copy_to_clipboard(text)
                return False

            if build is not None:
                self.app.changing.change(
                    f"{pane.pane_id}.source", build, then=self.app.entries.go_to, otherwise=otherwise
                )

        def answered(answers: Answers | None) -> None:
            if answers is None:
                self.app.copy_to_clipboard(text)
                self.app.say("Nothing was written; your text is in the clipboard.")
            else:
                write(answers)

        questions = [
            Question(str(place), one.name, one.base, one.ours, one.theirs)
            for place, one in enumerate(merge.differences)
        ]
        if questions:
            title = str(getattr(item, "title", ""))
            self.app.push_screen(ThreeWay(CHANGED, questions, note=title), answered)
        else:
            write({})

    # Verbs

    def verb(
        self, error: ConflictError, title: str, write: Callable[[Mapping[str, str]], None], labels: Mapping[str, str]
    ) -> bool:
        """Ask about what a verb would set and somebody else set meanwhile; False: the error says too little."""
        from widgets.dialogs.three_way import Question, ThreeWay

        questions = []
        for one in error.details.get("conflicts") or ():
            name = str(one["field"])
            questions.append(Question(name, labels.get(name, name), one["base"], one["ours"], one["theirs"]))
        if not questions:
            return False

        def answered(answers: Answers | None) -> None:
            theirs = {one.name: one.theirs for one in questions}
            chosen = {name: text or "" for name, text in (answers or {}).items() if text != theirs[name]}
            if chosen:
                write(chosen)
            else:
                self.app.say("It stays as it is.")

        self.app.push_screen(ThreeWay(CHANGED, questions, note=title), answered)
        return True

    # Entries that are gone

    def gone(
        self,
        pane: Pane,
        item: Any,
        typed: str,
        *,
        title: str,
        renamed: Callable[[Any], None] | None = None,
        again: Callable[[], None] | None = None,
        source: str | None = None,
        left: Callable[[], None] | None = None,
        done: Callable[[], None] | None = None,
        ref: str | None = None,
    ) -> None:
        """The entry was removed or renamed meanwhile: find out which in a worker, then offer what can be done."""
        workspace, now = self.app.workspace, self.app.clock()
        assert workspace is not None
        known = ref or (None if item is None else pane.ref(item))

        def work() -> str | None:
            workspace.notice(now)
            kind, mark, digits = (known or "").partition("#")
            return workspace.store.history.newer_name(f"{kind}#{digits[:10]}") if mark else None

        def found(name: str | None) -> None:
            fresh = None if name is None else pane.find(name)
            self._choose(
                title,
                typed,
                fresh,
                renamed if fresh is not None else None,
                again if source is not None and fresh is None else None,
                left,
                done,
            )

        self.app.changing.ask(work, found, lambda _: False)

    def _choose(
        self,
        title: str,
        typed: str,
        fresh: Any,
        renamed: Callable[[Any], None] | None,
        again: Callable[[], None] | None,
        left: Callable[[], None] | None,
        done: Callable[[], None] | None,
    ) -> None:
        from widgets.dialogs.choices import Choices, Option

        options = []
        if renamed is not None:
            new = str(getattr(fresh, "title", "") or getattr(fresh, "name", ""))
            head, words = "This entry was renamed meanwhile", f"{title}\nis now called\n{new}"
            options.append(Option("s", "save", "Save into it", "your changes go into the renamed entry"))
        else:
            head, words = "This entry is not there any more", f"{title}\nwas removed or renamed by somebody else."
            if again is not None:
                options.append(Option("p", "put back", "Put it back", "with what you changed"))
        shown = typed.strip().split("\n")
        words += "\n\nYou typed:\n" + "\n".join(text[:200] for text in shown[:3]) + ("\n…" if len(shown) > 3 else "")
        options.append(Option("c", "copy", "Copy what you typed", "and leave"))
        if left is not None:
            options.append(Option("k", "keep", "Keep it as a draft", "w goes on with it"))
        options.append(Option("d", "drop", "Throw it away", "what you typed is lost"))

        def chosen(choice: str | None) -> None:
            if choice == "save" and renamed is not None:
                renamed(fresh)
            elif choice == "put back" and again is not None:
                again()
            elif choice == "drop":
                if done is not None:
                    done()
            elif choice == "copy" or left is None:
                self.app.copy_to_clipboard(typed)
                self.app.say("What you typed is in the clipboard.")
                if done is not None:
                    done()
            else:
                left()

        self.app.push_screen(Choices(head, words, options), chosen)

    def draft_gone(self, pane: Pane, draft: Draft) -> None:
        """The entry of a draft is not there any more."""
        from .form_session import Sheet

        typed = "\n".join(f"{name}: {value}" for name, value in draft.values.items() if value != draft.base.get(name))

        def renamed(fresh: Any) -> None:
            plan = pane.editing(fresh, self.app.clock())
            if plan is not None:
                sheet = Sheet(pane, plan, fresh, dict(draft.base), pane.ref(fresh), draft.title, draft.id)
                self.app.filling.show(sheet, dict(draft.values), "A draft; the entry was renamed since.")

        def again() -> None:
            self._put_back(draft)

        def drop() -> None:
            self.app.drafting.drop(draft)

        self.gone(
            pane,
            None,
            typed,
            title=draft.title,
            renamed=renamed,
            again=again,
            source=draft.source if draft.file else None,
            left=lambda: self.app.drafting.give_back(draft),
            done=drop,
            ref=None if draft.new else draft.ref,
        )

    def _put_back(self, draft: Draft) -> None:
        """Put the removed entry of a draft back, then open its form with what was typed."""
        from memory.document import Entry
        from memory.files.restore import restore_version

        source, file, section = draft.source or "", draft.file, draft.section

        def otherwise(_: MemdeckError) -> bool:
            self.app.drafting.give_back(draft)
            return False

        self.app.changing.change(
            "restore",
            lambda snapshot: restore_version(snapshot, file, Entry.from_text(source), section, ()),
            then=lambda _: self.app.filling.resume(draft),
            otherwise=otherwise,
        )
