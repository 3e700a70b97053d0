"""How the change log reads the files of the project state."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from memory.document.model import BOM
from memory.state.files.model import ANALYSED, ARCHIVE, ENTRY_FILES, EXPIRED, FOLDER, PRIVATE, PROJECTIONS, STATE
from memory.storage.changes import PlainReading

if TYPE_CHECKING:
    from memory.document import Document

_OWN = re.compile(
    rf"{re.escape(FOLDER)}/(?:(?:state|sources|config|analysis)\.json|history/(?:events\.jsonl|checkpoints/chk-\d+\.json))"
    rf"|{re.escape(EXPIRED)}|{re.escape(ARCHIVE)}/[^/]+/(?:[a-z]+\.jsonl?|damaged/[^/]+|checkpoints/chk-\d+\.json)"
)


class StateReading(PlainReading):
    """Reads the files of the format: an undo restores them whole, except events.jsonl, which it restores by line."""

    def knows(self, path: str) -> bool:
        """Return whether a path is a file of the format, a projection or an entry file."""
        if path.startswith(PRIVATE):
            return False
        if path in ENTRY_FILES or _OWN.fullmatch(path):
            return True
        folder, _, name = path.rpartition("/")
        return folder == PROJECTIONS and name.endswith(".md")

    def authored(self, path: str, data: bytes) -> bytes:
        """Return what people and agents wrote in a file: the bundle, and an entry file without the entry block."""
        if path.startswith(f"{PROJECTIONS}/") or path == ANALYSED:
            return b""
        if path == STATE:
            return _bundle(data)
        if path in ENTRY_FILES:
            from memory.state.projections.entry_block import without_blocks

            return without_blocks(data)
        return data

    def document(self, path: str, data: bytes) -> Document | None:  # noqa: ARG002
        """Return None: these files are never restored entry by entry."""
        return None

    def line(self, path: str, line: bytes) -> tuple[str | None, str]:  # noqa: ARG002
        """Return the ref and the summary of an event; a line without an event has no ref."""
        from memory.state.files.reading import read_events

        found = read_events(line.rstrip(b"\n"))
        if not found.items:
            return None, "a line that is no event"
        event = found.items[0]
        return ref_of(event["id"]), f"{event['id']} {event['summary']}"


def ref_of(name: str) -> str:
    """Return the ref of an event, a checkpoint, or an item of the bundle: `state#evt-000001`."""
    return f"state#{name}"


def _bundle(data: bytes) -> bytes:
    """Return the bundle of a state without the outcome of the last validation; bytes without a bundle unchanged."""
    try:
        bundle = json.loads(data.removeprefix(BOM))["bundle"]
        bundle["currentFocus"].pop("validationSnapshot", None)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return data
    return json.dumps(bundle).encode()
