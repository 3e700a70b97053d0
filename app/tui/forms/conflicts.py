"""Conflicts: the same field changed twice, or an entry that is gone. The user chooses, and no typed text is lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from app.tui.spine import Spine
from memory.document import Entry
from memory.errors import MemdeckError, UsageError
from memory.files.versions.merging import open_entry
from memory.storage.merging import Choice, FileConflict, Key, Take, Written, taking_each
from widgets.dialogs.pick import Pick, PickOption
from widgets.dialogs.three_way import Answers, Sides, ThreeWay, ThreeWayQuestion
from widgets.pane.base import Pane
from widgets.pane.offers import Values

from .drafts import Sheet

CHANGED = "This entry changed while you edited it"
"""The title of the question."""


# Forms


def ask_fields(
    app: Spine, sheet: Sheet, values: Values, show: Callable[[], None], write: Callable[[Mapping[str, str]], None]
) -> bool:
    """Ask about the fields of a form that both sides changed; return whether there are any.

    `write` gets the answers; `show` opens the form again if the user leaves the question.
    """
    mine = sheet.changes(values)
    questions = [
        ThreeWayQuestion(
            spec.name, spec.label, sheet.given(spec.name) or None, mine[spec.name] or None, spec.value or None
        )
        for spec in sheet.plan.fields
        if spec.name in mine and spec.value not in (sheet.given(spec.name), mine[spec.name])
    ]
    if not questions:
        return False

    asked = {one.name for one in questions}
    others = [spec.label for spec in sheet.plan.fields if spec.name in mine and spec.name not in asked]
    note = sheet.title
    if others:
        note += f"\nYour other changes are saved too: {', '.join(others)}."
    validate = {spec.name: spec.validate for spec in sheet.plan.fields}
    app.ask(
        ThreeWay(CHANGED, questions, note=note, validate=validate),
        lambda answers: write({name: text or "" for name, text in answers.items()}),
        left=show,
    )
    return True


# $EDITOR


def ask_source(app: Spine, pane: Pane, item: Any, text: str, write: Callable[[Any, str], None]) -> None:
    """Ask about the parts of an entry's text that both sides changed; `write` gets the entry and its text."""
    fresh = pane.find(pane.ref(item))
    theirs = getattr(fresh, "entry", None)
    if theirs is None:
        return app.copy(text, "This entry no longer exists; your text is in the clipboard.")
    try:
        merge = open_entry(item.entry, Entry.from_text(text.rstrip() + "\n"), theirs)
    except MemdeckError as error:
        app.say_error(error)
        return app.copy(text)

    def answered(answers: Answers) -> None:
        try:
            settled = merge.settled([answers[str(place)] for place, _ in enumerate(merge.differences)])
        except MemdeckError as error:
            app.say_error(error)
            return app.copy(text)
        return write(fresh, settled.text)

    questions = [
        ThreeWayQuestion(str(place), one.name, one.base, one.ours, one.theirs)
        for place, one in enumerate(merge.differences)
    ]
    if not questions:
        return answered({})
    return app.ask(
        ThreeWay(CHANGED, questions, note=str(getattr(item, "title", ""))),
        answered,
        left=lambda: app.copy(text, "Nothing was written; your text is in the clipboard."),
    )


# Changes that are taken back, and proposals


def ask_sides(
    app: Spine,
    title: str,
    clashes: Sequence[FileConflict],
    sides: Sides,
    settle: Callable[[Take], None],
    *,
    written: bool = True,
) -> None:
    """Ask about each place that changed since; `settle` gets the choices. `written`: other texts may be typed."""
    told = [clash.json() for clash in clashes]
    questions = [
        ThreeWayQuestion(
            str(number),
            one["field"],
            one["base"],
            one["ours"],
            one["theirs"],
            str(one["entry"] or one["section"] or ""),
        )
        for number, one in enumerate(told)
    ]

    def answered(answers: Answers) -> None:
        chosen: dict[Key, Choice] = {}
        for number, (clash, one) in enumerate(zip(clashes, told, strict=True)):
            # Where sides are equal, the current text counts first.
            meant: dict[str | None, Choice] = {one["base"]: "before", one["ours"]: "proposal", one["theirs"]: "file"}
            answer = answers.get(str(number), one["theirs"])
            if answer not in meant and not written:
                words = "choose one of the three sides for a proposal"
                return app.say_error(UsageError("review.side", words, "edit it to say something else"))
            chosen[clash.key] = meant.get(answer, Written(answer))
        return settle(taking_each(chosen))

    note = "You and another writer changed the same text. Choose which to keep; other newer changes stay."
    return app.ask(ThreeWay(title, questions, note=note, sides=sides), answered)


# Entries that are gone


def ask_gone(app: Spine, title: str, typed: str, *, left: Callable[[], None], done: Callable[[], None]) -> None:
    """Ask what to do with a text typed about an entry that was removed or renamed meanwhile.

    `left` keeps it as a draft, also if the user leaves the question; `done` is called if it is copied or discarded.
    """

    def copy() -> None:
        app.copy(typed, "Your text is in the clipboard.")
        done()

    acts = {"copy": copy, "keep": left, "discard": done}
    options = [
        PickOption("copy", "Copy your text", "and leave", key="c"),
        PickOption("keep", "Keep it as a draft", f"{app.key_of('draft.resume')} continues it", key="k"),
        PickOption("discard", "Discard it", "your text is lost", key="d"),
    ]
    shown = typed.strip().split("\n")
    words = f"{title}\nwas removed or renamed by another program.\n\nYour text:\n"
    words += "\n".join(text[:200] for text in shown[:3]) + ("\n…" if shown[3:] else "")
    app.ask(Pick("This entry no longer exists", options, words), lambda choice: acts[choice](), left=left)
