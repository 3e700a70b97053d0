"""The curated memory of the sample workspace: written, recalled and dreamt by the real controller, weeks ago."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from memory.curated.curated import Curated
from memory.curated.extract.inbox import put, stamp
from memory.curated.operations.registry import BY_NAME, OperationCall
from memory.curated.system import CuratedMemory
from memory.errors import MemdeckError
from memory.systems import system_of
from memory.workspace import Workspace

ACTOR = "sample"
"""The actor of the sample: no one else's undo reverts its changes."""
_SAMPLE = Path(__file__).parent / "sample" / "curated.json"


def add_curated(workspace: Workspace, now: datetime) -> None:
    """Write curated memory into a sample workspace by the clock `now` (aware): files, decisions, recalls, one dream.

    The user's own memory is neither read nor written. If the workspace already has an identity, nothing is created.
    """
    system = system_of(workspace, "curated", CuratedMemory)
    if system.present():
        return
    state = workspace.state.folder.home
    sample = json.loads(_SAMPLE.read_text("utf-8"))
    own = Curated(system.curated.sides["workspace"].store, None, state_home=state)
    try:
        _do_all(own, sample["beginning"], now)
        _ask(own, sample["questions"], (24, 22, 20, 18), now)
        _do(own, "dream trigger", {"scope": "workspace", "force": True}, _days_ago(now, 16))
        _do_all(own, sample["lately"], now)
        _listen(own, "support-4411", 3, sample["heard"], now)
        _do(own, "extractor drain", {}, _days_ago(now, 3))
        _ask(own, sample["late_questions"], (3, 2), now)
        _listen(own, "support-4417", 0.1, sample["waiting"], now)
    finally:
        own.close()


def _do_all(curated: Curated, steps: Sequence[Mapping[str, Any]], now: datetime) -> None:
    """Call the operations of the sample, each so many days ago."""
    for one in steps:
        _do(curated, one["operation"], one["values"], _days_ago(now, one["days"]), one["origin"])


def _do(curated: Curated, name: str, values: Mapping[str, Any], at: datetime, origin: str = "cli") -> None:
    """Call an operation; a rejection is a decision, too."""
    try:
        BY_NAME[name].work(curated, dict(values), OperationCall(at, actor=ACTOR, origin=origin))
    except MemdeckError as error:
        if error.code != "memory.rejected":
            raise


def _days_ago(now: datetime, days: float) -> datetime:
    return now - timedelta(days=days)


def _ask(curated: Curated, questions: Sequence[str], days: tuple[float, ...], now: datetime) -> None:
    """Recall each question on each day, in one session."""
    for number, ago in enumerate(days):
        for turn, text in enumerate(questions, number * len(questions) + 1):
            values = {"query_text": text, "session_id": f"sample-{days[0]}", "turn_seq": turn, "top_k": 1}
            _do(curated, "search", values, _days_ago(now, ago))


def _listen(curated: Curated, session: str, days: float, heard: Sequence[dict[str, Any]], now: datetime) -> None:
    """Put candidates of a session into the inbox."""
    at = _days_ago(now, days)
    side = curated.sides["workspace"]
    put(side, session, f"{stamp(at)}-1.jsonl", heard, OperationCall(at, ACTOR))
