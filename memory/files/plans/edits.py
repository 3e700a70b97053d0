"""Edits of plans: each takes a snapshot and returns the new document; what it does not set keeps its bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from memory.document import Document, Entry, Section
from memory.errors import UsageError
from memory.files.edit import (
    Edit,
    TitleRule,
    clean_values,
    entry_of_text,
    one_line,
    started_document,
    with_changes,
)

from .model import FILE, SCHEMA, SECTIONS, STATUSES, PlanSection, find_plan, read_plans

if TYPE_CHECKING:
    from memory.files.snapshot import Snapshot

FIELD_KEYS = ("planId", "status", "created", "completed", "currentPhase", "progress", "projects")
"""The fields of a plan in the order in which they are written."""
_TITLES: dict[PlanSection, str] = {"active": "Active Plans", "completed": "Completed Plans"}
_TITLE = TitleRule(("title",), "plan.title", "the title of a plan")


def add_plan(snapshot: Snapshot, title: str, values: Mapping[str, str], text: str = "", *, now: datetime) -> Edit:
    """Add a plan at the end of Active Plans; a missing section or file is made, `created` is now unless it is given.

    `text` is what stands below the fields: the table of tasks, prose. Raises UsageError `plan.title`, `plan.status`,
    `field.value`, `document.structure` for a text that holds headings.
    """
    from memory.base.clock import format_local

    heading = one_line(_TITLE.code, _TITLE.what, title)
    document, index = with_plan_section(started_document(snapshot, FILE, now), "active")
    newline = document.newline
    entry = Entry.compose(heading, newline=newline)
    given = {"created": format_local(now, snapshot.zone), **values}
    entry = with_changes(entry, clean_values(given, FIELD_KEYS), SCHEMA, _check)
    if text.strip():
        lines = "".join(line + newline for line in text.strip("\n").split("\n"))
        whole = entry.text.rstrip("\r\n") + newline * 2 + lines
        entry = entry_of_text(whole, entry, None, heading) or entry
    place = len(document.sections[index])
    return _edit(document.insert_entry(index, place, entry), (index, place), f"added the plan {heading[:60]}")


def edit_plan(
    snapshot: Snapshot,
    ref: str,
    set: Mapping[str, str],  # noqa: A002 - as in the edits of other files
    unset: Iterable[str] = (),
    *,
    now: datetime,
) -> Edit:
    """Set and unset fields and `title`; `section` (`active`, `completed`) moves the plan to the end of that section.

    A plan that moves to Completed Plans is completed now, where it does not say when. An empty value takes a field
    away. Raises UsageError `plan.title`, `plan.status`, `plan.section`, `field.value`.
    """
    plan = find_plan(snapshot, ref)
    changes = {**set, **dict.fromkeys(unset, "")}
    section = _section_of(changes.pop("section")) if "section" in changes else plan.section
    moves = section != plan.section
    if moves and section == "completed":
        from memory.base.clock import format_local

        if plan.completed is None:
            changes.setdefault("completed", format_local(now, snapshot.zone))
        changes.setdefault("status", "completed")
    entry = with_changes(plan.entry, changes, SCHEMA, _check, _TITLE)
    document = snapshot.document(FILE)
    words = f"changed the plan {plan.title[:60]}"
    if not moves:
        return _edit(document.replace_entry(*plan.at, entry), plan.at, words)
    document, index = with_plan_section(document.remove_entry(*plan.at), section)
    place = len(document.sections[index])
    return _edit(document.insert_entry(index, place, entry), (index, place), words)


def remove_plan(snapshot: Snapshot, ref: str, *, now: datetime) -> Edit:  # noqa: ARG001 - edits are called alike
    """Take a plan out of the file."""
    plan = find_plan(snapshot, ref)
    return Edit({FILE: snapshot.document(FILE).remove_entry(*plan.at)}, f"removed the plan {plan.title[:60]}")


def replace_plan_text(snapshot: Snapshot, ref: str, text: str, *, now: datetime) -> Edit:  # noqa: ARG001
    """Replace the whole source of a plan, as an editor returns it; raises UsageError `document.structure`."""
    plan = find_plan(snapshot, ref)
    new = entry_of_text(text, plan.entry, None, plan.title)
    if new is None:
        return Edit({}, "nothing changed", plan.ref)
    return _edit(snapshot.document(FILE).replace_entry(*plan.at, new), plan.at, f"changed the plan {plan.title[:60]}")


def _edit(document: Document, at: tuple[int, int], summary: str) -> Edit:
    return Edit({FILE: document}, summary, next(one.ref for one in read_plans(FILE, document).plans if one.at == at))


def with_plan_section(document: Document, name: PlanSection) -> tuple[Document, int]:
    """Return the document with the section that holds such plans, and its index."""
    for index, part in enumerate(document.sections):
        if part.level == 2 and SECTIONS.get(part.name) == name:
            return document, index
    at = len(document.sections)
    if name == "active":
        at = min((i for i, part in enumerate(document.sections) if SECTIONS.get(part.name)), default=at)
    return document.insert_section(at, Section.compose(_TITLES[name], newline=document.newline)), at


def _section_of(text: str) -> PlanSection:
    word = text.strip().casefold().removesuffix(" plans")
    if word == "active":
        return "active"
    if word == "completed":
        return "completed"
    raise UsageError("plan.section", f"{text[:40]!r} is not a section", "use active or completed")


def _check(key: str, value: str) -> None:
    if key == "status" and value.split("(")[0].strip() not in STATUSES:
        raise UsageError("plan.status", f"status is {value[:40]!r}", f"write {', '.join(STATUSES)}")
