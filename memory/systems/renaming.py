"""Another word in place of one, in all entries of the memory files, as one change."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from memory.document import parse
from memory.document.lines import decode, encode
from memory.errors import NotFoundError, UsageError
from memory.files import MEMORY_FILES
from memory.files.edit import Edit

if TYPE_CHECKING:
    from datetime import datetime

    from memory.files.snapshot import Snapshot
    from memory.workspace import Outcome, Workspace


_KEPT = re.compile(r"##? .*|- [A-Za-z]+:(?=\s)")
"""What stays of a line: the heading of a section, and the name of a field."""


def rename_word(workspace: Workspace, words: Mapping[str, Any], *, actor: str, now: datetime) -> Outcome:
    """Replace a word or a phrase in all entries of the memory files, whole words only; the archive stays as it is.

    UsageError `entry.rename` for other values than `from` and `to`, NotFoundError `entry.no_word`.
    """
    old, new = str(words.get("from", "")).strip(), str(words.get("to", "")).strip()
    if set(words) != {"from", "to"} or not old or not new or "\n" in old + new:
        raise UsageError("entry.rename", "rename takes from and to", 'send {"from": "Acme", "to": "Globex"}')
    found = re.compile(rf"(?<!\w){re.escape(old)}(?!\w)")

    def changed(line: str) -> tuple[str, int]:
        place = _KEPT.match(line)
        kept = place.end() if place else 0
        text, times = found.subn(lambda _: new, line[kept:])
        return line[:kept] + text, times

    def build(snapshot: Snapshot) -> Edit:
        documents, count = {}, 0
        for name in (file for file in MEMORY_FILES if file != "config.md"):
            document = snapshot.document(name)
            data, front = document.dump(), len(document.bom) + len(document.front_raw)
            lines = [changed(line) for line in decode(data[front:]).splitlines(keepends=True)]
            if times := sum(times for _, times in lines):
                documents[name] = parse(data[:front] + encode("".join(line for line, _ in lines)))
                count += times
        if not documents:
            raise NotFoundError("entry.no_word", f"no memory file has the word {old[:60]!r}", "search for it first")
        return Edit(documents, f"renamed {old[:40]} to {new[:40]} in {count} places")

    return workspace.change("files.rename", build, actor=actor, now=now)
