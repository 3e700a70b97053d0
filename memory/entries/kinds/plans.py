"""Plans as entries."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from .in_files import InFiles
from .values import sent_source, texts_of

if TYPE_CHECKING:
    from memory.entries.model import Changes
    from memory.files.edit import Edit
    from memory.files.snapshot import Snapshot
    from memory.search import Record


class PlanEntries(InFiles):
    """The plans of orchestration.md and its archive."""

    name, verb = "plans", "orchestration"

    def located(self, snapshot: Snapshot, ref: str) -> Record:
        """Return the record of a plan."""
        from memory.files.plans.model import find_plan
        from memory.search.records import plan_record

        return plan_record(find_plan(snapshot, ref, archived=True))

    def added(self, snapshot: Snapshot, title: str, fields: Mapping[str, Any], text: str | None, now: datetime) -> Edit:
        """Add a plan to Active Plans; text is what stands below its fields, such as its table of tasks."""
        from memory.files.plans.edits import add_plan

        return add_plan(snapshot, title, texts_of(fields), text or "", now=now)

    def edited(self, snapshot: Snapshot, record: Record, ref: str, changes: Changes, now: datetime) -> Edit:
        """Set and unset fields, which moves the plan where `section` is one of them, or replace its source."""
        from memory.files.plans.edits import edit_plan, replace_plan_text

        if (source := sent_source(record, changes)) is not None:
            return replace_plan_text(snapshot, ref, source, now=now)
        return edit_plan(snapshot, ref, texts_of(changes.set), changes.unset, now=now)

    def removed(self, snapshot: Snapshot, ref: str, now: datetime) -> Edit:
        """Remove a plan."""
        from memory.files.plans.edits import remove_plan

        return remove_plan(snapshot, ref, now=now)
