"""Ad-hoc notes: `_system/ad_hoc/<date>_<slug>.md`, one file each, never recalled by themselves."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from memory.base.clock import format_utc
from memory.base.tries import again
from memory.curated.files.names import slug as slug_of
from memory.curated.model import Json, Root
from memory.errors import MemdeckError, UsageError

from .scan import scan

if TYPE_CHECKING:
    from memory.curated.curated import Curated

FOLDER = "_system/ad_hoc"


@dataclass(frozen=True, slots=True)
class WrittenNote:
    """One note that was written: its path from the folder of memories on."""

    path: str
    created_at: str

    def json(self) -> Json:
        """Return it for programs."""
        return {"path": self.path, "accepted": True, "created_at": self.created_at}


def write_note(
    curated: Curated, root: Root, content: str, slug: str | None, tags: list[str], *, actor: str, now: datetime
) -> WrittenNote:
    """Write a note; MemdeckError `memory.rejected` for one that the policy or the content scan does not let in."""
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
    name = f"{now.astimezone(UTC):%Y-%m-%d}_{slug_of(slug or ' '.join(content.split()[:6]))}"
    text = content.strip() + "\n"
    if tags:
        text = f"<!-- tags: {', '.join(slug_of(tag) for tag in tags)} -->\n{text}"

    def attempt() -> str:
        with side.store.transaction("curated.note", actor=actor, now=now) as transaction:
            number = 1
            while True:
                path = f"{FOLDER}/{name}{'' if number == 1 else f'-{number}'}.md"
                if not transaction.read(f"{root.folder}/{path}").exists:
                    break
                number += 1
            transaction.write(f"{root.folder}/{path}", text.encode(), base=None)
            transaction.commit(f"noted {path} ({root.label})")
            return path

    path = again(attempt)
    side.records.event("memory.write.committed", now, root=root, target_id=path, operation="note")
    return WrittenNote(path, format_utc(now))
