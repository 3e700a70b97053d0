"""One run of dreaming: gates, lock, artefact, proposal through the controller, promotion marks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from memory.base.tries import again
from memory.curated.control.apply import propose
from memory.curated.control.candidate import Candidate
from memory.curated.daily.logs import days_before
from memory.curated.files.listing import read_file
from memory.curated.files.names import slug
from memory.curated.index.records import milliseconds
from memory.curated.model import Header, Json, Memory, Root
from memory.curated.models import ModelError, read_object
from memory.errors import MemdeckError

from .gates import Gates, gates_of
from .lock import give, take
from .runs import FAILURES, DreamRun, begin, fail, runs
from .score import Weighed
from .settle import finish
from .text import Gathered, artefact_of, body_of, day_of, failure_of, gather

if TYPE_CHECKING:
    import sqlite3

    from memory.curated.curated import Curated
    from memory.curated.sides import Side

FOLDER = "_system/dreaming"
_HEAD = 200
"""Characters that the head of a synthesis takes at most."""


@dataclass(frozen=True, slots=True)
class Dreamt:
    """What came of a trigger: the run, or why there was none."""

    gates: Gates
    run: DreamRun | None
    reason: str

    @property
    def triggered(self) -> bool:
        """Whether a run was made."""
        return self.run is not None


def root_of(curated: Curated, side: Side) -> Root:
    """Return the folder that a side dreams in."""
    return curated.root(side.name)


def dream(
    curated: Curated, side: Side, *, actor: str, now: datetime, force: bool = False, retries: DreamRun | None = None,
    dry_run: bool = False,
) -> Dreamt:  # fmt: skip
    """Dream on one side if its gates are open; `force` opens all but the lock, `dry_run` only looks.

    `retries` is a run that failed: its gates were open, and its memories are gathered again. A run that fails is
    recorded and returned; MemdeckError where nothing can be recorded.
    """
    forced = force or retries is not None
    if not dry_run:
        side.records.queue.count()
    found = gates_of(curated, side, now, force=forced)
    if closed := found.closed(force=forced):
        return Dreamt(found, None, "; ".join(gate.words for gate in closed))
    if not _waiting(found, retries):
        return Dreamt(found, None, "no memory was recalled that is not promoted yet")
    if dry_run:
        return Dreamt(found, None, f"would gather {len(_waiting(found, retries))} memories")
    from memory.storage.changes import new_id

    side.prepare(actor=actor, now=now)
    run_id = f"dream-{new_id(now)}"
    other = take(side, run_id, now)
    if other is not None:
        return Dreamt(found, None, f"process {other['pid']} dreams")
    try:
        # A run that a crash interrupted may have left a file of the name that this one would choose.
        side.store.recover()
        # Another process may have dreamed between the look and the lock.
        found = gates_of(curated, side, now, own=run_id, force=forced)
        waiting = _waiting(found, retries)
        if (closed := found.closed(force=forced)) or not waiting:
            words = "; ".join(gate.words for gate in closed)
            return Dreamt(found, None, words or "no memory was recalled that is not promoted yet")
        return Dreamt(found, _run(curated, side, run_id, waiting, actor, now, forced, retries), "")
    finally:
        give(side, run_id, now)


def _waiting(found: Gates, retries: DreamRun | None) -> list[Weighed]:
    if retries is None:
        return list(found.waiting)
    wanted = {one["id"] for one in retries.facts.get("candidates", [])}
    return [one for one in found.waiting if one.memory.id in wanted]


def _run(
    curated: Curated, side: Side, run_id: str, waiting: list[Weighed], actor: str, now: datetime, forced: bool,
    retries: DreamRun | None,
) -> DreamRun:  # fmt: skip
    root = root_of(curated, side)
    settings = curated.settings
    target = f"project_dreaming-{day_of(now)}.md"
    known = read_file(side.store, root, target)
    earlier = known.body if isinstance(known, Memory) else ""
    room = settings["controller.policy.max_content_chars"] - _HEAD
    made = gather(waiting, earlier, settings["controller.scan_profile"], room)
    artefact = _free_name(side, root, f"{day_of(now)}-{slug(settings['dream.agent'])}")
    facts: Json = {
        "candidates": [one.json() for one in waiting], "promotes": [one.memory.id for one in made.taken],
        "left_out": made.left_out, "forced": forced, "prompt_version": f"dream.{settings['dream.prompt_version']}",
        "target_filename": target, "artifact_path": artefact, "retries": None if retries is None else retries.id,
    }  # fmt: skip
    run = DreamRun(
        run_id, side.workspace_id, side.name, milliseconds(now), None, "running", len(waiting), 0, None, facts
    )
    begin(side, run, root, now)
    try:
        if not made.taken:
            raise MemdeckError("memory.dream.nothing", "the content scan rejects all of them", "see `dream show`")
        written, asked = _written(curated, made, room, now)
        run = run._replace(facts={**run.facts, **asked})
        days = days_before(side, now, settings["daily.dreaming_window"])
        body = body_of(run_id, artefact.rpartition("/")[2], made.lines, written)
        _keep(side, root, artefact, artefact_of(run.json(), waiting, made, body, days), actor, now)
        candidate = Candidate(
            root, "dreaming",
            Header(f"Dreaming {day_of(now)}", f"What was recalled most until {day_of(now)}", "project", root.scope),
            body, "dreaming synthesis", day_of(now),
            {"target_filename": target, "run_id": run_id, "artifact_path": artefact}, run.key,
        )  # fmt: skip
        propose(curated, candidate, actor=actor, now=now)
    except MemdeckError as error:
        return _failed(side, root, run, error, actor, now)
    finish(side, run, root, now)
    return runs(side, "id = ?", [run_id])[0]


def _written(curated: Curated, made: Gathered, room: int, now: datetime) -> tuple[str, Json]:
    """Return the text of the model and what is noted of it; empty where there is none or it gave no answer."""
    model = curated.models.get("dream")
    if model is None:
        return "", {"source": "rule"}
    from memory.curated.control.scan import scan

    settings = curated.settings
    limit = room - sum(len(line) + 1 for line in made.lines) - 2
    question: Json = {
        "version": settings["dream.prompt_version"],
        "task": "Say in a few sentences what these memories have in common and what follows from them.",
        "memories": [
            {"id": one.memory.id, "title": one.memory.header.name, "type": one.memory.header.type,
             "description": one.memory.header.description, "text": one.memory.body[:1000]}
            for one in made.taken
        ],
        "answer": {"text": f"at most {limit} characters"},
    }  # fmt: skip
    try:
        if limit < 1:
            raise ModelError("the memories themselves fill the synthesis")
        answer = model.ask(question, seconds=settings.seconds("dream.timeout"), limit=limit * 4 + 64, now=now)
        text = read_object(answer, frozenset({"text"}), limit * 4 + 64)["text"]
        if not isinstance(text, str) or not text.strip() or len(text.strip()) > limit:
            raise ModelError(f"the text is empty or longer than {limit} characters")
        if any(hit.action == "reject" for hit in scan((text,), settings["controller.scan_profile"])):
            raise ModelError("the content scan rejects the text")
    except ModelError as error:
        return "", {"source": "rule", "llm_error": str(error)[:240]}
    return text.strip(), {"source": "llm"}


def _free_name(side: Side, root: Root, stem: str) -> str:
    number = 1
    while True:
        path = f"{FOLDER}/{stem}{'' if number == 1 else f'-{number}'}.md"
        if not side.store.read(f"{root.folder}/{path}").exists:
            return path
        number += 1


def _keep(side: Side, root: Root, path: str, text: str, actor: str, now: datetime) -> None:
    """Write a file of the system folder that is not there yet."""

    def attempt() -> None:
        with side.store.transaction("curated.dream", actor=actor, now=now) as transaction:
            transaction.write(f"{root.folder}/{path}", text.encode("utf-8", "replace"), base=None)
            transaction.commit(f"wrote {path} ({root.label})")

    again(attempt)


def _failed(side: Side, root: Root, run: DreamRun, error: MemdeckError, actor: str, now: datetime) -> DreamRun:
    """Note that a run has failed, in the record and as a file, and return it."""
    words = f"{error.code}: {error.message}"[:1000]
    path: str | None = f"{FAILURES}/{run.id}.json"
    text = json.dumps(failure_of(run.json(), words, now), ensure_ascii=False, indent=2) + "\n"
    try:
        _keep(side, root, path or "", text, actor, now)
    except MemdeckError:
        path = None
    fail(side, run, words, {"failure_path": path}, root, now)
    return runs(side, "id = ?", [run.id])[0]


def failed_lately(curated: Curated, side: Side, now: datetime) -> Sequence[DreamRun]:
    """Return the runs that failed so short ago that maintenance waits (`dream.debounce`)."""
    since = milliseconds(now) - round(curated.settings.seconds("dream.debounce") * 1000)
    return runs(side, "status = 'failed' AND started_at > ?", [since], limit=1)


def is_looked_at(curated: Curated, side: Side, now: datetime, *, dry_run: bool = False) -> bool:
    """Tell whether maintenance looks at the gates of a side again (`dream.check_interval`), and note that it does."""
    at, interval = milliseconds(now), round(curated.settings.seconds("dream.check_interval") * 1000)

    def look(db: sqlite3.Connection) -> bool:
        row = db.execute("SELECT value FROM memory_about WHERE key = 'dream_checked'").fetchone()
        if row is not None and 0 <= at - int(row[0]) < interval:
            return False
        if not dry_run:
            db.execute("INSERT OR REPLACE INTO memory_about VALUES ('dream_checked', ?)", (str(at),))
        return True

    return side.records.look(look, True)
