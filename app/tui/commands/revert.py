"""Reverting any one change, by any actor: a preview is shown first; if it fails as a whole, entry by entry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from memory.document import Entry
from memory.errors import ConflictError, MemdeckError, NotFoundError
from memory.files.diff import ChangeView
from memory.history import stale_saves
from memory.history.partial_revert import Contested, contested_entries, settle
from memory.history.stale_saves import Undone, bring_back_chosen, revert_change
from memory.history.versions import rehearse_revert
from memory.maintenance.plan import plan_maintenance
from memory.storage import Change
from memory.workspace import Outcome, Workspace
from widgets.dialogs.dialogs import Confirm, Preview
from widgets.dialogs.three_way import Answers, Sides, ThreeWay, ThreeWayQuestion
from widgets.pane.base import Pane
from widgets.panes.changes.detail import diff_lines, field_line, only_fields, place_of
from widgets.panes.changes.logged_change import LoggedChange
from widgets.panes.changes.words import plain_actor, standing
from widgets.text.glyphs import Glyphs
from widgets.text.styled_text import Line, Piece, line, pad_line

from .conditions import undone_of
from .context import ACTOR, Context, Otherwise, Step, open_pane


def undo(context: Context) -> Step:
    """Take back your last change."""
    lost = context.lost
    if lost is not None and lost.change is not None:
        return bring_back(context, lost.change, lost.name)
    return context.turn(back=True)


def redo(context: Context) -> Step:
    """Bring back what you undid last."""
    return context.turn(back=False)


def revert(context: Context) -> Step:
    """Take back the change under the cursor, whoever made it; shows first what that does."""
    workspace, now = context.workspace, context.clock()
    shown: LoggedChange | None = open_pane(context).current()
    assert shown is not None

    undone = next((one for one in context.undone if one.id == shown.ref), None)
    if undone is not None:
        return bring_back(context, undone.id, undone.words)
    # For a change that is reverted, revert the reverting one: the change is applied again.
    change = standing(shown)
    if change is None:
        return context.say("This was taken back already.")
    return context.find(
        lambda: rehearse_revert(workspace, change.ref, now),
        lambda views: _show(context, change, views),
        lambda error: _refused(context, change, error),
    )


def _show(context: Context, change: LoggedChange, views: Sequence[ChangeView]) -> Step:
    words = "Newer changes stay as they are. Enter takes it back; that can be undone."
    return context.ask(
        Preview(
            f"Take back: {change.summary[:300]}",
            plan_lines(change, views, context.glyphs),
            summary=words if views else "There is nothing left of it to take back.",
            applicable=bool(views),
        ),
        lambda _: _revert(
            context,
            change.ref,
            lambda _: f"Took back: {change.summary}",
            lambda error: _refused(context, change, error),
        ),
        waited="What would be taken back",
    )


def _revert(
    context: Context,
    change_id: str,
    said: Callable[[Change], str],
    otherwise: Otherwise | None = None,
    *,
    taken_back: bool = False,
) -> Step:
    """Return a step that reverts a change; `said` puts what was done into words."""
    workspace, now = context.workspace, context.clock()

    def write() -> Outcome:
        done = revert_change(workspace, change_id, actor=ACTOR, now=now)
        return Outcome(done, said(done))

    return context.write(write, otherwise, taken_back=taken_back)


# Changes that cannot be reverted as a whole


def _refused(context: Context, change: LoggedChange, error: MemdeckError) -> Step:
    """Say why, and offer what can be reverted entry by entry."""
    workspace = context.workspace
    if not isinstance(error, ConflictError) or error.code != "document.conflict":
        return None
    conflict = error
    return context.find(
        lambda: contested_entries(workspace, change.ref), lambda found: _settle(context, change, conflict, *found)
    )


def _settle(
    context: Context, change: LoggedChange, error: ConflictError, contested: Sequence[Contested], lost: Sequence[str]
) -> Step:
    """Ask about fields that changed since, in three columns: before the change, as it wrote them, now."""
    why = why_not(error)
    questions = [question for number, one in enumerate(contested) for question in _questions(number, one)]
    if not questions:
        return _only_say(context, change, why, contested, lost)

    note = f"{why} Newer changes stay; choose for each place what it should say."
    if lost:
        note += "\n" + "\n".join(lost[:3])
    return context.ask(
        ThreeWay(
            f"Take back: {change.summary[:300]}",
            questions,
            note=note,
            sides=Sides(base="the change", mine="taken back", theirs="now"),
        ),
        lambda answers: _write(context, change, contested, answers),
    )


def _only_say(
    context: Context, change: LoggedChange, why: str, contested: Sequence[Contested], lost: Sequence[str]
) -> Step:
    """Handle a change without choices: its fields are restored beside newer ones, or nothing can be done."""
    lines: list[Line] = [line(why), *(line(text) for text in lost)]
    changed = [one for one in contested if _differs(one)]
    if changed:
        lines += [(), line(Piece("What of it can go back, beside what came later:", "muted"))]
        lines += [line("  ", Piece(one.view.title, "strong")) for one in changed]
    screen = Preview(f"Take back: {change.summary[:300]}", lines, applicable=bool(changed))
    return context.ask(screen, lambda _: _write(context, change, contested, {}))


def _write(context: Context, change: LoggedChange, contested: Sequence[Contested], answers: Answers) -> Step:
    chosen: list[tuple[Contested, Entry | None]] = []
    try:
        for number, one in enumerate(contested):
            if one.merge is None:
                if one.same or answers.get(f"{number}:0", one.current.text) is None:
                    chosen.append((one, None))
                continue
            texts = [answers.get(f"{number}:{place}") for place, _ in enumerate(one.merge.differences)]
            chosen.append((one, one.merge.settled(texts)))
    except MemdeckError as error:
        return context.fail(error)
    chosen = [(one, entry) for one, entry in chosen if entry is None or entry.raw != one.current.raw]
    if not chosen:
        return context.say("Everything stays as it is.")
    summary = f"took back in part: {change.summary}"
    return context.change("changes.settle", lambda snapshot: settle(snapshot, chosen, summary))


# What other programs undid


def taken_back(context: Context, undone: Sequence[Undone]) -> Step:
    """Say that another program's save undid changes, or restore them if the user chose that."""
    workspace, now = context.workspace, context.clock()

    def write() -> Outcome:
        done = bring_back_chosen(workspace, now)
        if not done:
            raise NotFoundError("change.none", "nothing was chosen to come back by itself")
        return Outcome(done[-1], done[-1].summary if len(done) == 1 else f"brought back {len(done)} changes")

    def otherwise(error: MemdeckError) -> Step:
        if error.code != "change.none":
            return None
        first = undone[0]
        more = f" and {len(undone) - 1} more" if len(undone) > 1 else ""
        return context.say(
            f"{first.told}{more}. {context.key_of('entry.restore')} brings it back.",
            title="Another program's save took it back",
            severity="warning",
        )

    return context.write(write, otherwise)


def bring_back(context: Context, change_id: str, words: str) -> Step:
    """Apply a change again that a save of another program undid."""
    return _revert(
        context, change_id, lambda done: done.summary if done.files else f"{words} is back already", taken_back=True
    )


def leave(context: Context, undone: Undone) -> Step:
    """Accept that a change was undone, after a question, and do not remind of it again."""
    workspace = context.workspace
    details = f"{', '.join(undone.titles)}. Changes goes on listing it; nothing reminds of it any more."
    return context.ask(
        Confirm("Leave it as the other program saved it?", details, yes="Leave", no="Keep the offer"),
        lambda _: context.find(lambda: stale_saves.leave(workspace, undone.id), lambda _: context.read_again()),
    )


# The archive


def restore(context: Context) -> Step:
    """Bring the archived entry back to where it came from, or a change that another program's save took back."""
    here = undone_of(context)
    if here is not None:
        return bring_back(context, here.id, here.words)
    pane, workspace, now = open_pane(context), context.workspace, context.clock()
    item: Any = pane.current()
    ref = item.ref
    _step_off(pane)
    reopen = context.key_of("task.reopen")

    def write() -> Outcome:
        outcome = workspace.restore(ref, actor=ACTOR, now=now)
        again = goes_again(workspace, outcome, now, reopen)
        return outcome._replace(summary=f"{outcome.summary}. {again}") if again else outcome

    return context.write(write, taken_back=True)


def _step_off(pane: Pane) -> None:
    """Put the cursor on the entry above if there is none below, so that it stays in its file."""
    rows, place = pane.line_list.rows, pane.line_list.position
    pane.step_off()
    beside = [getattr(rows[at], "item", None) for at in (place + 1, place - 1) if 0 <= at < len(rows)]
    if beside and not hasattr(beside[0], "at") and hasattr(beside[-1], "at"):
        pane.line_list.cursor = rows[place - 1]


def goes_again(workspace: Workspace, outcome: Outcome, now: datetime, reopen: str) -> str:
    """Return for how long a restored entry stays if it is old enough for the archive, and what keeps it for good; empty
    if it is not that old.

    `reopen` is the key that reopens a task.
    """

    with suppress(MemdeckError):
        snapshot = workspace.snapshot()
        settings = snapshot.config.maintenance()
        ages = {"archive-completed-tasks": settings.archive_days, "clear-completed-orchestration": 1}
        for rule in plan_maintenance(snapshot, now).rules:
            if any(move.ref == outcome.ref for move in rule.moves):
                days = ages.get(rule.rule, settings.prune_days)
                stay = f"stays for {days} day{'' if days == 1 else 's'} and is archived again then"
                if rule.rule == "archive-completed-tasks":
                    return f"It is still completed: it {stay}, unless you reopen it ({reopen} in Tasks)"
                return f"It {stay}"
    return ""


def why_not(error: ConflictError) -> str:
    """Return why a change cannot be reverted as a whole, in a sentence."""
    reasons = error.details.get("reasons")
    if not isinstance(reasons, dict) or not reasons:
        return f"{error.message}."
    parts = [f"{title!r} {text}" for title, text in list(reasons.items())[:3]]
    more = f" and {len(reasons) - 3} more" if len(reasons) > 3 else ""
    return f"It cannot go back as a whole: {'; '.join(parts)}{more}."


def plan_lines(change: LoggedChange, views: Sequence[ChangeView], glyphs: Glyphs) -> list[Line]:
    """Return what reverting a change does to each entry."""
    lines: list[Line] = [line(Piece(f"made by {plain_actor(change.actor)}", "muted"))]
    for view in views[:50]:
        head = {"added": "comes back", "removed": "goes", "edited": "changes", "moved": "moves"}[view.kind]
        lines += [(), line(Piece(view.title, "strong"), Piece(f"  {head}", "accent"))]
        lines.append(line(Piece(place_of(view, glyphs), "muted")))
        if view.kind in ("edited", "moved") and view.fields and only_fields(view):
            column = min(14, max(len(key) for key, _, _ in view.fields))
            for key, old, new in view.fields:
                lines.append(
                    line("  ", pad_line(line(Piece(key, "muted")), column), "  ", field_line(old, new, glyphs))
                )
        else:
            lines += [line("  ", row) for row in diff_lines(view.lines)]
    if len(views) > 50:
        lines += [(), line(Piece(f"and {len(views) - 50:,} more entries", "muted"))]
    return lines


def _differs(one: Contested) -> bool:
    return one.same if one.merge is None else one.merge.entry.raw != one.current.raw


def _questions(number: int, one: Contested) -> list[ThreeWayQuestion]:
    """Return the questions about one entry, named by its number and theirs."""
    if one.merge is None:
        if one.same:
            return []
        text = one.current.text.strip()
        return [
            ThreeWayQuestion(f"{number}:0", "the entry", (one.view.after or "").strip(), None, text, one.view.title)
        ]
    return [
        ThreeWayQuestion(f"{number}:{place}", found.name, found.base, found.ours, found.theirs, one.view.title)
        for place, found in enumerate(one.merge.differences)
    ]
