"""The record of an agent's session between its hooks: when it began, and what was asked."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from hashlib import blake2b
from typing import Any

from memory.errors import MemdeckError
from memory.workspace import Workspace

_SESSIONS, _FAILURES = "hook-sessions.json", "hook-failures.json"
_MOST = 64
"""How many sessions and agents are remembered."""
_MOST_CHANGES = 200
_MOST_FAILURES = 8


class HookSession:
    """One session of an agent in a workspace; without an id nothing is stored."""

    def __init__(self, workspace: Workspace, session_id: str, actor: str) -> None:
        """`actor` is the actor of changes by the agent's server."""
        self._workspace = workspace
        self._id = session_id[:200]
        self._actor = actor
        self._folder = workspace.state.folder

    def _known(self) -> dict[str, Any]:
        found = self._folder.read_json(_SESSIONS).get(self._id) if self._id else None
        return found if isinstance(found, dict) else {}

    def _keep(self, values: dict[str, Any] | str, name: str = "") -> None:
        """Store the record of the session, or of another name, as the newest; errors are ignored."""
        if self._id:
            every = self._folder.read_json(_SESSIONS)
            every.pop(name or self._id, None)
            every[name or self._id] = values
            with suppress(MemdeckError):
                self._folder.put_json(_SESSIONS, dict(list(every.items())[-_MOST:]))

    def begin(self, now: datetime) -> str:
        """Store when the session began, and return when the agent's session before it did, as `brief` takes it.

        A session that continues after a compaction, or is resumed, keeps the latter.
        """
        known = self._known()
        if "since" not in known:
            known = {"before": self.last_begun, **known, "since": now.isoformat(), "asked": False}
            self._keep(known)
            self._keep(f"{now.astimezone(self._workspace.zone):%Y-%m-%d %H:%M}", self._actor)
        before = known.get("before")
        return before if isinstance(before, str) else ""

    @property
    def last_begun(self) -> str:
        """When the newest session of the agent began, in the workspace's zone; empty if that is not known."""
        return str(self._folder.read_json(_SESSIONS).get(self._actor, ""))

    def next_turn(self) -> int | None:
        """Return the number of the next message of the session, from 1; None if nothing is stored."""
        if not self._id:
            return None
        known = self._known()
        before = known.get("turn")
        turn = before + 1 if isinstance(before, int) else 1
        self._keep({**known, "turn": turn})
        return turn

    def ask_once(self) -> bool:
        """Return True the first time only."""
        known = self._known()
        if not known or known.get("asked"):
            return False
        self._keep({**known, "asked": True})
        return True

    def was_told(self, text: str) -> bool:
        """Return whether a text is what the session was told last, and store it as that."""
        known = self._known()
        told = blake2b(text.encode(), digest_size=8).hexdigest()
        if known:
            self._keep({**known, "told": told})
        return bool(known.get("told") == told)

    def end(self) -> None:
        """Forget the session, but what it was told: it may be resumed."""
        if known := self._known():
            self._keep({key: known[key] for key in ("told", "before") if key in known})

    def changes(self, now: datetime) -> list[dict[str, Any]]:
        """Return rows of what the agent changed since the session began, the newest first; empty if that is unknown."""
        since = self._known().get("since")
        if not isinstance(since, str):
            return []
        from memory.history.changes import row

        self._workspace.notice(now)
        found = self._workspace.store.history.list(
            limit=_MOST_CHANGES, actor=self._actor, since=datetime.fromisoformat(since)
        )
        return [row(one) for one in found]


def note_failure(workspace: Workspace, event: str, client: str, error: Exception, now: datetime) -> None:
    """Record why a hook returned nothing, for `doctor`; the newest reason of each event and client."""
    folder = workspace.state.folder
    why = f"{getattr(error, 'code', type(error).__name__)}: {error}"[:300]
    every = {name: value for name, value in folder.read_json(_FAILURES).items() if name != f"{event} {client}"}
    kept = dict(list(every.items())[-_MOST_FAILURES:])
    with suppress(MemdeckError):
        folder.put_json(
            _FAILURES, {**kept, f"{event} {client}": {"time": now.isoformat(timespec="seconds"), "why": why}}
        )


def failures(workspace: Workspace) -> list[tuple[str, str, str]]:
    """Return the hooks that failed last (event and client), when, and why."""
    found = workspace.state.folder.read_json(_FAILURES)
    return [
        (name, str(value.get("time", "")), str(value.get("why", "")))
        for name, value in found.items()
        if isinstance(value, dict)
    ]
