"""Conflicts: the same field changed twice, or an entry that is gone. The user chooses, and no typed text is lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from app.tui.commands.context import Context, Step, steps
from memory.document import Entry
from memory.errors import ConflictError, MemdeckError, UsageError
from memory.files.merging import open_entry
from memory.storage.log.merging import Choice, FileConflict, Key, Take, Written, taking_each
from widgets.dialogs.pick import Pick, PickOption
from widgets.dialogs.three_way import Answers, Sides, ThreeWay, ThreeWayQuestion
from widgets.pane.base import Pane
from widgets.pane.offers import Values

from .drafts import Sheet

CHANGED = "This entry was changed meanwhile"
"""The title of the question."""


# Forms


def ask_fields(
    context: Context, sheet: Sheet, values: Values, show: Callable[[], Step], write: Callable[[Mapping[str, str]], Step]
) -> Step:
    """Ask about the fields of a form that both sides changed; return None if there are none.

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
        return None

    def answered(answers: Answers) -> Step:
        return write({name: text or "" for name, text in answers.items()})

    asked = {one.name for one in questions}
    others = [spec.label for spec in sheet.plan.fields if spec.name in mine and spec.name not in asked]
    note = sheet.title
    if others:
        note += f"\nYour other changes are saved too: {', '.join(others)}."
    validate = {spec.name: spec.validate for spec in sheet.plan.fields}
    return context.ask(ThreeWay(CHANGED, questions, note=note, validate=validate), answered, left=show)


# $EDITOR


def ask_source(context: Context, pane: Pane, item: Any, text: str, fresh: Any = None) -> Step:
    """Ask about the parts of an entry's text that both sides changed, then write it."""
    fresh = fresh if fresh is not None else pane.find(pane.ref(item))
    theirs = None if fresh is None else getattr(fresh, "entry", None)
    if theirs is None:
        return ask_gone(context, pane, text, title=str(getattr(item, "title", "")), ref=pane.ref(item))
    try:
        merge = open_entry(item.entry, Entry.from_text(text.rstrip() + "\n"), theirs)
    except MemdeckError as error:
        return steps((context.fail(error), context.copy(text)))

    def write(answers: Answers) -> Step:
        try:
            texts = [answers[str(place)] for place, _ in enumerate(merge.differences)]
            settled = merge.settled(texts)
            build = pane.from_source(fresh, settled.text, context.clock())
        except MemdeckError as error:
            return steps((context.fail(error), context.copy(text)))

        def otherwise(error: MemdeckError) -> Step:
            if isinstance(error, ConflictError):
                return context.read_again(lambda: ask_source(context, pane, item, text))
            return steps((context.copy(text), context.fail(error)))

        if build is None:
            return None
        return context.change(f"{pane.pane_id}.source", build, otherwise=otherwise, follow=True)

    questions = [
        ThreeWayQuestion(str(place), one.name, one.base, one.ours, one.theirs)
        for place, one in enumerate(merge.differences)
    ]
    if not questions:
        return write({})
    return context.ask(
        ThreeWay(CHANGED, questions, note=str(getattr(item, "title", ""))),
        write,
        left=lambda: context.copy(text, "Nothing was written; your text is in the clipboard."),
    )


# Commands


def ask_command(context: Context, error: ConflictError, title: str, write: Callable[[Mapping[str, str]], Step]) -> Step:
    """Ask about values that a command sets and that others set meanwhile; return None if the error says too little."""
    questions = [
        ThreeWayQuestion(str(one["field"]), str(one["field"]), one["base"], one["ours"], one["theirs"])
        for one in error.details.get("conflicts") or ()
    ]
    if not questions:
        return None

    def answered(answers: Answers) -> Step:
        theirs = {one.name: one.theirs for one in questions}
        chosen = {name: text or "" for name, text in answers.items() if text != theirs[name]}
        return write(chosen) if chosen else context.say("It stays as it is.")

    return context.ask(ThreeWay(CHANGED, questions, note=title), answered, left=lambda: answered({}))


# Changes that are taken back, and proposals


def ask_sides(
    context: Context,
    title: str,
    clashes: Sequence[FileConflict],
    sides: Sides,
    settle: Callable[[Take], Step],
    *,
    written: bool = True,
) -> Step:
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

    def answered(answers: Answers) -> Step:
        chosen: dict[Key, Choice] = {}
        for number, (clash, one) in enumerate(zip(clashes, told, strict=True)):
            # Where sides are equal, the current text counts first.
            meant: dict[str | None, Choice] = {one["base"]: "before", one["ours"]: "proposal", one["theirs"]: "file"}
            answer = answers.get(str(number), one["theirs"])
            if answer not in meant and not written:
                words = "a proposal takes one of the three sides"
                return context.fail(UsageError("review.side", words, "edit it to say something else"))
            chosen[clash.key] = meant.get(answer, Written(answer))
        return settle(taking_each(chosen))

    note = "Both changed the same. Newer changes stay; choose the text for each place."
    return context.ask(ThreeWay(title, questions, note=note, sides=sides), answered)


# Entries that are gone


def ask_gone(
    context: Context,
    pane: Pane,
    typed: str,
    *,
    title: str,
    ref: str | None,
    renamed: Callable[[Any], Step] | None = None,
    again: Callable[[], Step] | None = None,
    left: Callable[[], Step] | None = None,
    done: Callable[[], Step] = lambda: None,
) -> Step:
    """Handle an entry that was removed or renamed meanwhile: find out which in a worker, then offer choices."""
    workspace, now = context.workspace, context.clock()

    def work() -> str | None:
        workspace.notice(now)
        kind, mark, digits = (ref or "").partition("#")
        return workspace.store.history.newer_name(f"{kind}#{digits[:10]}") if mark else None

    def found(name: str | None) -> Step:
        fresh = None if name is None else pane.find(name)
        return _choose(context, title, typed, fresh, renamed if fresh is not None else None, again, left, done)

    return context.find(work, found)


def _choose(
    context: Context,
    title: str,
    typed: str,
    fresh: Any,
    renamed: Callable[[Any], Step] | None,
    again: Callable[[], Step] | None,
    left: Callable[[], Step] | None,
    done: Callable[[], Step],
) -> Step:
    def copy() -> Step:
        return steps((context.copy(typed, "Your text is in the clipboard."), done()))

    options: list[tuple[str, str, str, Callable[[], Step]]] = []
    if renamed is not None:
        new = str(getattr(fresh, "title", "") or getattr(fresh, "name", ""))
        head, words = "This entry was renamed meanwhile", f"{title}\nis now called\n{new}"
        options.append(("s", "Save into it", "your changes go into the renamed entry", lambda: renamed(fresh)))
    else:
        head, words = "This entry no longer exists", f"{title}\nwas removed or renamed by another program."
        if again is not None:
            options.append(("p", "Put it back", "with your changes", again))
    shown = typed.strip().split("\n")
    words += "\n\nYou typed:\n" + "\n".join(text[:200] for text in shown[:3]) + ("\n…" if len(shown) > 3 else "")
    options.append(("c", "Copy your text", "and leave", copy))
    if left is not None:
        options.append(("k", "Keep it as a draft", "w continues it", left))
    options.append(("d", "Discard it", "your text is lost", done))
    acts = {name: act for _, name, _, act in options}
    screen = Pick(head, [PickOption(name, name, note, key=key) for key, name, note, _ in options], words)
    return context.ask(screen, lambda choice: acts[choice[1]](), left=left or copy)
