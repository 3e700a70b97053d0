"""One run of dreaming: gates, lock, artefact, proposal through the controller, promotion marks."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memory.base.scan import scan
from memory.curated.control.candidate import Candidate
from memory.curated.control.propose import propose
from memory.curated.curated import Curated
from memory.curated.daily import days_before
from memory.curated.files.listing import read_file
from memory.curated.files.names import free_path, slug
from memory.curated.index.records import milliseconds, read_number, utc_day, write_number
from memory.curated.model import DREAM, Header, Json, Memory, Root
from memory.curated.models import ModelError, read_value
from memory.curated.sides import Side
from memory.errors import MemdeckError
from memory.storage.changes import new_id
from memory.storage.transaction import Transaction

from .gates import Gates, Weighed, gates_of
from .lock import give, take
from .runs import FAILURES, DreamRun, begin, fail, finish, runs
from .text import Gathered, artefact_of, body_of, failure_of, gather, lines_of

FOLDER = "_system/dreaming"
_HEAD = 200
"""Characters of the head of a synthesis at most."""


@dataclass(frozen=True, slots=True)
class Dreamt:
    """The result of a trigger: the run, or why there was none."""

    gates: Gates
    run: DreamRun | None
    reason: str

    @property
    def triggered(self) -> bool:
        """Whether there was a run."""
        return self.run is not None


def dream(
    curated: Curated, side: Side, *, actor: str, now: datetime, force: bool = False, retries: DreamRun | None = None,
    dry_run: bool = False,
) -> Dreamt:  # fmt: skip
    """Dream on one side if its gates are open; `force` opens all but the lock, `dry_run` only checks.

    `retries` is a failed run: its gates were open, and its memories are gathered again. A run that fails is recorded
    and returned; MemdeckError where it cannot be recorded.
    """
    forced = force or retries is not None
    found = gates_of(curated, side, now, force=forced)
    if reason := _closed(found, forced, retries):
        return Dreamt(found, None, reason)
    if dry_run:
        return Dreamt(found, None, f"would gather {len(_waiting(found, retries))} memories")

    side.prepare(actor=actor, now=now)
    run_id = f"dream-{new_id(now)}"
    other = take(side, run_id, now)
    if other is not None:
        return Dreamt(found, None, f"process {other['pid']} dreams")
    try:
        # A run interrupted by a crash may have left a file with the name that this one would choose.
        side.store.recover()
        # Another process may have dreamed between the check and the lock.
        found = gates_of(curated, side, now, own=run_id, force=forced)
        if reason := _closed(found, forced, retries):
            return Dreamt(found, None, reason)
        run = _run(curated, side, run_id, _waiting(found, retries), actor, now, forced, retries)
        return Dreamt(found, run, "")
    finally:
        give(side, run_id, now)


def _closed(found: Gates, forced: bool, retries: DreamRun | None) -> str:
    """Return why a run may not begin, empty where it may."""
    if closed := found.closed(force=forced):
        return "; ".join(gate.words for gate in closed)
    return "" if _waiting(found, retries) else "no memory was recalled that is not promoted yet"


def _waiting(found: Gates, retries: DreamRun | None) -> list[Weighed]:
    if retries is None:
        return list(found.waiting)
    wanted = {one["id"] for one in retries.facts.get("candidates", [])}
    return [one for one in found.waiting if one.memory.id in wanted]


def _run(
    curated: Curated, side: Side, run_id: str, waiting: list[Weighed], actor: str, now: datetime, forced: bool,
    retries: DreamRun | None,
) -> DreamRun:  # fmt: skip
    root = curated.root(side.name)
    settings = curated.settings
    target = f"{DREAM}{utc_day(now)}.md"
    known = read_file(side.store, root, target)
    there = {one.header.name for one in curated.memories([one for one in curated.all_roots() if one.side == side.name])}
    earlier = lines_of(known.body, there) if isinstance(known, Memory) else []
    room = settings["controller.policy.max_content_chars"] - _HEAD
    made = gather(waiting, earlier, settings["controller.scan_profile"], room)
    stem = f"{FOLDER}/{utc_day(now)}-{slug(settings['dream.agent'])}"
    artefact = free_path(stem, lambda path: side.store.read(f"{root.folder}/{path}").exists)
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
            Header(f"Dreaming {utc_day(now)}", f"What was recalled most until {utc_day(now)}", "project", root.scope),
            body, "dreaming synthesis", utc_day(now),
            {"target_filename": target, "run_id": run_id, "artifact_path": artefact}, run.key,
        )  # fmt: skip
        propose(curated, candidate, actor=actor, now=now)
    except MemdeckError as error:
        return _failed(side, root, run, error, actor, now)
    finish(side, run, root, now)
    return runs(side, "id = ?", [run_id])[0]


def _written(curated: Curated, made: Gathered, room: int, now: datetime) -> tuple[str, Json]:
    """Return the model's text and notes about it; the text is empty without a model or an answer."""
    model = curated.models.get("dream")
    if model is None:
        return "", {"source": "rule"}

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
        text = read_value(answer, "text", limit * 4 + 64)
        if not isinstance(text, str) or not text.strip() or len(text.strip()) > limit:
            raise ModelError(f"the text is empty or longer than {limit} characters")
        if any(hit.action == "reject" for hit in scan((text,), settings["controller.scan_profile"])):
            raise ModelError("the content scan rejects the text")
    except ModelError as error:
        return "", {"source": "rule", "llm_error": str(error)[:240]}
    return text.strip(), {"source": "llm"}


def _keep(side: Side, root: Root, path: str, text: str, actor: str, now: datetime) -> None:
    """Write a new file of the system folder."""

    def plan(transaction: Transaction) -> str:
        transaction.write(f"{root.folder}/{path}", text.encode("utf-8", "replace"), base=None)
        return f"wrote {path} ({root.label})"

    side.change("curated.dream", plan, actor=actor, now=now)


def _failed(side: Side, root: Root, run: DreamRun, error: MemdeckError, actor: str, now: datetime) -> DreamRun:
    """Record that a run has failed, in the records and as a file, and return it."""
    words = f"{error.code}: {error.message}"[:1000]
    path = f"{FAILURES}/{run.id}.json"
    facts: Json = {"failure_path": path}
    text = json.dumps(failure_of(run.json(), words, now), ensure_ascii=False, indent=2) + "\n"
    try:
        _keep(side, root, path, text, actor, now)
    except MemdeckError:
        facts = {"failure_path": None}
    fail(side, run, words, facts, root, now)
    return runs(side, "id = ?", [run.id])[0]


def failed_lately(curated: Curated, side: Side, now: datetime) -> Sequence[DreamRun]:
    """Return the runs that failed so recently that maintenance waits (`dream.debounce`)."""
    since = milliseconds(now) - round(curated.settings.seconds("dream.debounce") * 1000)
    return runs(side, "status = 'failed' AND started_at > ?", [since], limit=1)


def is_looked_at(curated: Curated, side: Side, now: datetime, *, dry_run: bool = False) -> bool:
    """Return whether the gates of a side are due for a check (`dream.check_interval`), and record the check."""
    at, interval = milliseconds(now), round(curated.settings.seconds("dream.check_interval") * 1000)

    def look(db: sqlite3.Connection) -> bool:
        last = read_number(db, "dream_checked")
        due = last is None or not 0 <= at - last < interval
        if due and not dry_run:
            write_number(db, "dream_checked", at)
        return due

    return side.records.look(look, True)
