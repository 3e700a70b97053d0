"""What the change log asks about the files of the project state."""

from __future__ import annotations

import re

from memory.document import Document
from memory.state.files.model import ARCHIVE, ENTRY_FILES, FOLDER, PRIVATE, PROJECTIONS
from memory.storage.log.records import PlainReading

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
