"""What the change log asks about the files of the project state."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from memory.state.files.model import ANALYSED, ARCHIVE, ENTRY_FILES, FOLDER, PRIVATE, PROJECTIONS, STATE
from memory.storage.log.records import PlainReading

if TYPE_CHECKING:
    from memory.document import Document

_OWN = re.compile(
    rf"{re.escape(FOLDER)}/(?:(?:state|sources|config|analysis)\.json|history/(?:events\.jsonl|checkpoints/chk-\d+\.json))"
    rf"|{re.escape(ARCHIVE)}/[^/]+/(?:[a-z]+\.jsonl?|damaged/[^/]+|checkpoints/chk-\d+\.json)"
)


class StateReading(PlainReading):
    """Reads the files of the format: each goes back whole but events.jsonl, of which lines go back."""

    def knows(self, path: str) -> bool:
        """Take the files of the format, the projections and the entry files."""
        if path.startswith(PRIVATE):
            return False
        if path in ENTRY_FILES or _OWN.fullmatch(path):
            return True
        folder, _, name = path.rpartition("/")
        return folder == PROJECTIONS and name.endswith(".md")

    def authored(self, path: str, data: bytes) -> bytes:
        """Return what people and agents wrote of a file: the bundle, and all of an entry file but the entry block."""
        if path.startswith(f"{PROJECTIONS}/") or path == ANALYSED:
            return b""
        if path == STATE:
            return _bundle(data)
        if path in ENTRY_FILES:
            from memory.state.projections.entry_block import find_blocks

            for block in reversed(find_blocks(data)):
                data = data[: block.start] + data[block.end :]
        return data

    def document(self, path: str, data: bytes) -> Document | None:  # noqa: ARG002
        """Return none: nothing in these files goes back entry by entry."""
        return None

    def line(self, path: str, line: bytes) -> tuple[str | None, str]:  # noqa: ARG002
        """Return the ref and the summary of an event; a line that holds none has no ref."""
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
    """Return the bundle of a state without the outcome of the last validation; bytes that hold none as they are."""
    try:
        bundle = json.loads(data)["bundle"]
        bundle["currentFocus"].pop("validationSnapshot", None)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return data
    return json.dumps(bundle).encode()
