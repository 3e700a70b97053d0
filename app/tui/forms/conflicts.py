"""The same field changed twice, or an entry that is gone: a person chooses, and nothing typed is lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from app.tui.commands.steps import ApplyEdit, Copy, Fail, Find, OpenDialog, ReadAgain, Say, Step, Steps
from memory.errors import ConflictError, MemdeckError

if TYPE_CHECKING:
    from app.tui.commands.context import Context
    from widgets.dialogs.three_way import Answers
    from widgets.pane.base import Pane
    from widgets.pane.offers import Values

    from .sheet import Sheet

CHANGED = "Somebody else changed this entry meanwhile"
"""The title of what is asked."""


# Forms


def ask_fields(
    sheet: Sheet, values: Values, show: Callable[[], Step], write: Callable[[Mapping[str, str]], Step]
) -> Step:
    """Ask about the fields of a form that both sides changed; None: there are none.

    `write` gets the answers; `show` opens the form again where the person leaves the question.
    """
    from widgets.dialogs.three_way import ThreeWay, ThreeWayQuestion

    mine = sheet.changes(values)
    questions = [
        ThreeWayQuestion(
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
        return None

    def answered(answers: Answers | None) -> Step:
        if answers is None:
            return show()
        return write({name: text or "" for name, text in answers.items()})

    asked = {one.name for one in questions}
    others = [spec.label for spec in sheet.plan.fields if spec.name in mine and spec.name not in asked]
    note = sheet.title
    if others:
        note += f"\nWhat you changed besides goes along: {', '.join(others)}."
    validate = {spec.name: spec.validate for spec in sheet.plan.fields}
    return OpenDialog(ThreeWay(CHANGED, questions, note=note, validate=validate), answered)


# $EDITOR


def ask_source(context: Context, pane: Pane, item: Any, text: str, fresh: Any = None) -> Step:
    """Ask about the places of an entry's text that both sides changed, then write it."""
    from memory.document import Entry
    from memory.files.merging import open_entry
    from widgets.dialogs.three_way import ThreeWay, ThreeWayQuestion

    fresh = fresh if fresh is not None else pane.find(pane.ref(item))
    theirs = None if fresh is None else getattr(fresh, "entry", None)
    if theirs is None:
        return ask_gone(context, pane, item, text, title=str(getattr(item, "title", "")), source=text)
    try:
        merge = open_entry(item.entry, Entry.from_text(text.rstrip() + "\n"), theirs)
    except MemdeckError as error:
        return Steps((Fail(error), Copy(text)))

    def write(answers: Answers) -> Step:
        try:
            texts = [answers[str(place)] for place, _ in enumerate(merge.differences)]
            settled = merge.settled(texts)
            build = pane.from_source(fresh, settled.text, context.clock())
        except MemdeckError as error:
            return Steps((Fail(error), Copy(text)))

        def otherwise(error: MemdeckError) -> Step:
            if isinstance(error, ConflictError):
                return ReadAgain(lambda: ask_source(context, pane, item, text))
            return Steps((Copy(text), Fail(error)))

        if build is None:
            return None
        return ApplyEdit(f"{pane.pane_id}.source", build, otherwise=otherwise, follow=True)

    def answered(answers: Answers | None) -> Step:
        if answers is None:
            return Copy(text, "Nothing was written; your text is in the clipboard.")
        return write(answers)

    questions = [
        ThreeWayQuestion(str(place), one.name, one.base, one.ours, one.theirs)
        for place, one in enumerate(merge.differences)
    ]
    if not questions:
        return write({})
    title = str(getattr(item, "title", ""))
    return OpenDialog(ThreeWay(CHANGED, questions, note=title), answered)


# Commands


def ask_command(error: ConflictError, title: str, write: Callable[[Mapping[str, str]], Step]) -> Step:
    """Ask about what a command would set and somebody else set meanwhile; None: the error says too little."""
    from widgets.dialogs.three_way import ThreeWay, ThreeWayQuestion

    questions = []
    for one in error.details.get("conflicts") or ():
        name = str(one["field"])
        questions.append(ThreeWayQuestion(name, name, one["base"], one["ours"], one["theirs"]))
    if not questions:
        return None

    def answered(answers: Answers | None) -> Step:
        theirs = {one.name: one.theirs for one in questions}
        chosen = {name: text or "" for name, text in (answers or {}).items() if text != theirs[name]}
        return write(chosen) if chosen else Say("It stays as it is.")

    return OpenDialog(ThreeWay(CHANGED, questions, note=title), answered)


# Entries that are gone


def ask_gone(
    context: Context,
    pane: Pane,
    item: Any,
    typed: str,
    *,
    title: str,
    renamed: Callable[[Any], Step] | None = None,
    again: Callable[[], Step] | None = None,
    source: str | None = None,
    left: Callable[[], Step] | None = None,
    done: Callable[[], Step] | None = None,
    ref: str | None = None,
) -> Step:
    """The entry was removed or renamed meanwhile: find out which in a worker, then offer what can be done."""
    workspace, now = context.workspace, context.clock()
    assert workspace is not None
    known = ref or (None if item is None else pane.ref(item))

    def work() -> str | None:
        workspace.notice(now)
        kind, mark, digits = (known or "").partition("#")
        return workspace.store.history.newer_name(f"{kind}#{digits[:10]}") if mark else None

    def found(name: str | None) -> Step:
        fresh = None if name is None else pane.find(name)
        return _choose(
            title,
            typed,
            fresh,
            renamed if fresh is not None else None,
            again if source is not None and fresh is None else None,
            left,
            done,
        )

    return Find(work, found)


_SAVE, _PUT_BACK, _COPY, _DROP = "Save into it", "Put it back", "Copy what you typed", "Throw it away"


def _choose(
    title: str,
    typed: str,
    fresh: Any,
    renamed: Callable[[Any], Step] | None,
    again: Callable[[], Step] | None,
    left: Callable[[], Step] | None,
    done: Callable[[], Step] | None,
) -> Step:
    from widgets.dialogs.choose import Choose

    options = []
    if renamed is not None:
        new = str(getattr(fresh, "title", "") or getattr(fresh, "name", ""))
        head, words = "This entry was renamed meanwhile", f"{title}\nis now called\n{new}"
        options.append(("s", _SAVE, "your changes go into the renamed entry"))
    else:
        head, words = "This entry is not there any more", f"{title}\nwas removed or renamed by somebody else."
        if again is not None:
            options.append(("p", _PUT_BACK, "with what you changed"))
    shown = typed.strip().split("\n")
    words += "\n\nYou typed:\n" + "\n".join(text[:200] for text in shown[:3]) + ("\n…" if len(shown) > 3 else "")
    options.append(("c", _COPY, "and leave"))
    if left is not None:
        options.append(("k", "Keep it as a draft", "w goes on with it"))
    options.append(("d", _DROP, "what you typed is lost"))

    def chosen(choice: str | None) -> Step:
        if choice == _SAVE and renamed is not None:
            return renamed(fresh)
        if choice == _PUT_BACK and again is not None:
            return again()
        if choice == _DROP:
            return None if done is None else done()
        if choice == _COPY or left is None:
            copied = Copy(typed, "What you typed is in the clipboard.")
            return copied if done is None else Steps((copied, done()))
        return left()

    return OpenDialog(Choose(head, options, words), chosen)
