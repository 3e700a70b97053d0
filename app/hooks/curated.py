"""Hooks for curated memory: they tell a session the known memories, and save what the user and the agent said."""

from __future__ import annotations

import hashlib
import os
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Literal

from memory.base.secrets import mask
from memory.curated.curated import Curated
from memory.curated.extract.turns import take_turn
from memory.curated.files import is_segment
from memory.curated.model import OperationCall
from memory.curated.providers import ask, safe_text
from memory.curated.recall.recall import RecallOptions, capture, recall
from memory.curated.sessions import EVENTS, LEDGER, append, end, place_of, read
from memory.curated.system import CuratedMemory
from memory.prompts.compose import safe_line
from memory.storage.own_folders import config_home
from memory.systems import system_of, trust_of
from memory.workspace import Workspace

LONGEST = 20_000
"""Characters of a message that are saved."""
NOTES = 4096
"""Characters of a provider's notes that must survive the compaction of a session."""
SECONDS = 6.0
"""Seconds that one event may take: clients wait ten seconds, and starting takes part of that."""
_LINE = re.compile(r"- \[.+?\]\([A-Za-z0-9._-]+\.md\)")
"""The beginning of the line of a memory in an index."""
_QUERY = 500
_ID = 100
"""Characters of a session's id; a resumed session has a number after it."""


class HookTimeoutError(Exception):
    """The time of a hook is over."""


@contextmanager
def in_time(seconds: float = SECONDS) -> Iterator[None]:
    """Raise HookTimeoutError in work that takes longer; in a thread nothing can interrupt, so there is no limit."""

    def over(*_: object) -> None:
        raise HookTimeoutError(f"it took longer than {seconds:g} s")

    try:
        before = signal.signal(signal.SIGALRM, over)
    except ValueError:  # in a thread
        yield
        return
    # Repeatedly, because some code ignores errors of what it calls.
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.5)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class CuratedSession:
    """A session of an agent in a workspace with curated memory; without an id nothing of it is saved."""

    def __init__(self, workspace: Workspace, session_id: str, client: str, now: datetime) -> None:
        """`session_id` is the client's name of the session; one that cannot name a folder is replaced by its hash."""
        system = system_of(workspace, "curated", CuratedMemory)
        self._curated = system.curated
        self._client = client
        # Not the actor of the agent's own changes: what a hook saves is not a change made by the session.
        self._call, self._now = OperationCall(now, f"hook:{client}"), now
        self._begun = False
        self._id = _safe_id(session_id)
        self._on = "workspace" in self._curated.sides and self._curated.settings["enabled"]
        if self._on and self._curated.settings.names_commands:
            system.entrust(trust_of(workspace, config_home(os.environ)), os.environ)

    def _begin(self) -> Curated:
        """Return the memories, after finishing what a crash interrupted.

        The functions behind the operations are called directly, each imported where it is used: a hook has no time to
        import the registry with everything that memdeck can do.
        """
        if not self._begun:
            self._curated.finish_interrupted(self._now)
            self._begun = True
        return self._curated

    def snapshot(self) -> str:
        """Capture the frozen snapshot of the session, and return what people wrote into its indexes and what a provider
        adds: the memories themselves are told by the brief.
        """
        if not self._on or not self._id:
            return ""
        return _besides(capture(self._begin(), self._id, now=self._now)["text"])

    def recall(self, message: str, turn: int | None) -> str:
        """Record that the memories which a message is about were recalled, and return what a provider adds to them."""
        query = mask(message)[:_QUERY]
        if not self._on or not query.strip():
            return ""

        curated = self._begin()
        options = RecallOptions(session=self._id or None, turn=turn)
        found = recall(curated, query, curated.visible(), options, now=self._now).provided
        return "\n".join(safe_line(f"- {one['title']} ({one['body']}; provider {one['provider']})") for one in found)

    def keep(self, role: Literal["user", "assistant"], text: str, turn: int | None) -> None:
        """Add a message, its secrets masked, to the ledger of the session, and give it to the extractor."""
        said = mask(text)[:LONGEST]
        if not self._on or not self._id or not said.strip():
            return
        try:
            if self._curated.settings["extractor.enabled"]:
                take_turn(self._begin(), self._id, role, said, turn, self._call)
        finally:
            self._append(f"{role}_message", said, turn)

    def compacted(self) -> str:
        """Record that the session is compacted, and return what a provider wants to keep."""
        name = self._running()
        if not self._on or not name:
            return ""
        place = place_of(self._curated, name)

        events = read(place.data(EVENTS) or b"").events
        if events:
            self._append("session_compacted", None, None)
        said = "\n".join(f"{one['event_type']}: {one['content']}" for one in events if one.get("content"))
        notes = ask(self._begin(), "pre_compress", self._now, self._id, said[-LONGEST:])
        return safe_text(self._curated, notes, NOTES)

    def end(self) -> None:
        """Create the ledger of the session, if anything of it was saved."""
        name = self._running()
        if self._on and name and place_of(self._curated, name).data(EVENTS) is not None:
            end(self._begin(), {"session_id": name}, self._call)

    def _append(self, kind: str, text: str | None, turn: int | None) -> None:

        event = {"event_type": kind, "content": text, "turn_id": None if turn is None else str(turn)}
        event = {key: value for key, value in event.items() if value is not None}
        given = {"session_id": self._running(), "events": [event], "agent_name": self._client}
        append(self._begin(), given, self._call)

    def _running(self) -> str:
        """Return the current name of the session: one that is resumed after its end has a number."""
        if not self._on or not self._id:
            return ""
        number = 1
        while True:
            name = self._id if number == 1 else f"{self._id}.{number}"
            place = place_of(self._curated, name)
            if not os.path.lexists(place.side.store.root / place.path(LEDGER)):
                return name
            number += 1


def _besides(snapshot: str) -> str:
    """Return what a snapshot has besides the lines of memories, which the brief tells; empty where that is nothing."""
    parts = snapshot.partition("\n## Memory Taxonomy")[0].split("\n## ")[1:]
    kept = []
    for part in parts:
        heading, *lines = part.splitlines()
        lines = [line for line in lines if not _LINE.match(line)]
        if any(line.strip() and not line.startswith("*") for line in lines):  # more than a note about the index
            kept.append("\n".join([f"## {heading}", *lines]))
    return "\n".join(kept)


def _safe_id(session_id: str) -> str:
    if not session_id or (is_segment(session_id) and len(session_id) <= _ID):
        return session_id

    return hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]
