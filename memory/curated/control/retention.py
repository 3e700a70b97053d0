"""How long decisions are kept."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from memory.curated.index.records import add_event, milliseconds
from memory.curated.places.settings import CuratedSettings

from .decision import Decision, select

if TYPE_CHECKING:
    import sqlite3

    from memory.curated.sides import Side

_DAY = 86_400_000
# The newest decision on a file tells the next one apart from it, and is the one that people take back.
_OLD = (
    "applied_at < ? AND seq NOT IN (SELECT max(seq) FROM memory_decisions WHERE op IN ('add', 'update', 'delete')"
    " GROUP BY scope, agent_name, agent_tier, target_filename) ORDER BY seq"
)


def prune(side: Side, settings: CuratedSettings, now: datetime, *, dry_run: bool) -> tuple[int, list[Decision]]:
    """Let decisions go that were carried out before the limit; return how many there were, and those that went."""
    days = settings["decisions.prune_after_applied_days"]
    limit = milliseconds(now) - days * _DAY
    before = side.records.look(lambda db: int(db.execute("SELECT count(*) FROM memory_decisions").fetchone()[0]), 0)
    gone = [] if not days else side.records.look(lambda db: select(db, _OLD, [limit]), list[Decision]())
    if not gone or dry_run:
        return before, gone

    def write(db: sqlite3.Connection) -> None:
        if settings["decisions.keep_audit_summary"]:
            counts: dict[str, int] = {}
            for one in gone:
                counts[one.op] = counts.get(one.op, 0) + 1
            first, last = gone[0].decided_at, gone[-1].decided_at
            facts = {"counts": counts, "first": first, "last": last}
            add_event(db, side.records.workspace_id, "memory.decisions.audit_summarized", now, None, facts)
        for one in gone:
            db.execute("DELETE FROM memory_decisions WHERE id = ?", (one.id,))
        add_event(db, side.records.workspace_id, "memory.decisions.pruned", now, None, {"count": len(gone)})

    side.records.run(write)
    return before, gone
