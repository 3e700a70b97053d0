"""Ad-hoc notes: `_system/ad_hoc/<date>_<slug>.md`, one file each, never recalled by themselves."""

from __future__ import annotations

from datetime import datetime

from memory.base.clock import format_utc
from memory.base.scan import scan
from memory.curated.curated import Curated
from memory.curated.files.names import free_path
from memory.curated.files.names import slug as slug_of
from memory.curated.index.records import utc_day
from memory.curated.model import Json, Root
from memory.errors import MemdeckError, UsageError
from memory.storage.transaction import Transaction

FOLDER = "_system/ad_hoc"


def write_note(
    curated: Curated, root: Root, content: str, slug: str | None, tags: list[str], *, actor: str, now: datetime
) -> Json:
    """Write a note and return it for programs, with its path relative to the folder of memories.

    MemdeckError `memory.rejected` for one that the policy or the content scan does not let in.
    """
    curated.refuse_disabled()
    settings = curated.settings
    if not content.strip():
        raise UsageError("memory.validation", "the note is empty", field="content")
    most = settings["controller.policy.max_content_chars"]
    rules = ["controller.policy.max_content_chars"] if len(content) > most else []
    hits = scan((content, slug or "", *tags), settings["controller.scan_profile"])
    rules += [f"memory_scan.{hit.rule}" for hit in hits if hit.action == "reject"]
    if rules:
        raise MemdeckError("memory.rejected", f"the note is rejected: {', '.join(rules)}", rules=rules)
    side = curated.side_of(root)
    side.prepare(actor=actor, now=now)
    name = f"{utc_day(now)}_{slug_of(slug or ' '.join(content.split()[:6]))}"
    text = content.strip() + "\n"
    if tags:
        text = f"<!-- tags: {', '.join(slug_of(tag) for tag in tags)} -->\n{text}"
    path = ""

    def plan(transaction: Transaction) -> str:
        nonlocal path
        path = free_path(f"{FOLDER}/{name}", lambda one: transaction.read(f"{root.folder}/{one}").exists)
        transaction.write(f"{root.folder}/{path}", text.encode(), base=None)
        return f"noted {path} ({root.label})"

    side.change("curated.note", plan, actor=actor, now=now)
    side.records.event("memory.write.committed", now, root=root, target_id=path, operation="note")
    return {"path": path, "accepted": True, "created_at": format_utc(now)}
