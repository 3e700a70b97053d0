"""Dreaming: the gates of a run, the run with its artefact and its proposal to the controller, and the operations.

The last gate is how many memories may be promoted, by their score: how often, how well, how recently and since when
they were recalled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

from memory.base.clock import say_span
from memory.base.safe_text import plural
from memory.base.scan import rejecting
from memory.curated.control.decision import Candidate
from memory.curated.control.propose import propose
from memory.curated.curated import Curated
from memory.curated.dreaming.runs import begin, find_run, finish, is_at_work, key_of, new_run, runs, shown
from memory.curated.files import free_path, read_file
from memory.curated.model import DREAM, Header, Json, Memory, OperationCall, Root
from memory.curated.model import FOLDER as MEMORY
from memory.curated.records import milliseconds, utc_day
from memory.curated.sessions import ended_since
from memory.curated.settings import CuratedSettings, ModelError, read_value
from memory.curated.sides import Side
from memory.errors import MemdeckError, RefusedError
from memory.storage.transaction import Transaction

MOST = 20
"""How many memories one run promotes at most."""
ENOUGH = 2
"""How many recalls count as often."""
_HOUR, _DAY = 3_600_000, 86_400_000
_SESSIONS = (
    "SELECT session_id FROM memory_events WHERE session_id IS NOT NULL AND ts_ms > ?1"
    " UNION SELECT session_id FROM memory_recall_traces WHERE executed_at > ?1"
    " UNION SELECT session_id FROM memory_snapshots WHERE captured_at > ?1"
)
_ROWS = (
    "SELECT chunk_id, recall_count, recall_score, last_recalled_at, freshness_started_at, promotion_run_id"
    " FROM memory_recall_signals WHERE recall_count > 0"
)
_TERMS = ("frequency", "relevance", "recency", "freshness")


class Weighed(NamedTuple):
    """A memory that was not promoted yet: how often it was recalled, and its score with the terms of the sum."""

    memory: Memory
    recalls: int
    score: float
    terms: tuple[tuple[str, float], ...]

    def json(self) -> Json:
        """Return it for programs, without its text."""
        memory = self.memory
        return {
            "id": memory.id, "filename": memory.filename, "name": memory.header.name, **memory.root.json(),
            "recall_count": self.recalls, "score": round(self.score, 4),
            "terms": {name: round(value, 4) for name, value in self.terms},
        }  # fmt: skip


def weighed(curated: Curated, side: Side, now: datetime, *, force: bool = False) -> list[Weighed]:
    """Return the memories of a side that were recalled and not promoted yet, the best first.

    Memories that dreaming wrote itself, or that another memory has replaced, are left out. With `force`, memories count
    again whose dream was deleted or taken back.
    """
    free: set[str | None] = {None}
    if force:
        folder = side.store.root / MEMORY
        done = runs(side, "status = 'completed'")
        free |= {one["id"] for one in done if not (folder / str(one["target_filename"])).exists()}
    found_rows = side.records.look(lambda db: db.execute(_ROWS).fetchall(), list[Any]())
    rows = {row[0]: row[1:5] for row in found_rows if row[5] in free}
    settings = curated.settings
    at, half = milliseconds(now), settings["dream.scoring.recency_half_life_days"] * _DAY
    found = []
    for memory in curated.memories([root for root in curated.all_roots() if root.side == side.name]) if rows else ():
        if memory.id not in rows or memory.is_dream or memory.header.provenance.superseded_by:
            continue
        count, signal, last, first = rows[memory.id]
        values = (
            min(1.0, count / ENOUGH),
            min(max(signal, 0.0), 1.0),
            0.5 ** (max(at - (last or at), 0) / half),
            0.5 ** (max(at - (first or at), 0) / half),
        )
        weights = (settings[f"dream.scoring.weights.{name}"] for name in _TERMS)
        terms = tuple((name, one * value) for name, one, value in zip(_TERMS, weights, values, strict=True))
        found.append(Weighed(memory, count, sum(value for _, value in terms), terms))
    return sorted(found, key=lambda one: (-one.score, one.memory.id))


_HELD = ("enabled", "lock")
"""The gates that `--force` does not open."""


def _gate(name: str, is_open: bool, have: float, need: float, words: str) -> Json:
    """Return one gate for programs: its progress, also in words such as `2 of 3 sessions`."""
    return {"gate": name, "open": is_open, "have": have, "need": need, "words": words}


class Gates(NamedTuple):
    """All gates of one side at one time, the waiting memories, and the last completed run."""

    side: str
    all: tuple[Json, ...]
    waiting: tuple[Weighed, ...]
    last: Json | None

    def closed(self, *, force: bool = False) -> list[str]:
        """Return the words of the closed gates; with `force` only those that nothing opens."""
        return [gate["words"] for gate in self.all if not gate["open"] and not (force and gate["gate"] not in _HELD)]

    def json(self) -> Json:
        """Return them for programs."""
        return {
            "scope": self.side,
            "open": not self.closed(),
            "reason": "; ".join(self.closed()),
            "gates": list(self.all),
            "candidates": [one.json() for one in self.waiting],
            "last": None if self.last is None else shown(self.last),
        }


def gates_of(curated: Curated, side: Side, now: datetime, *, force: bool = False) -> Gates:
    """Return the gates of a side; nothing is written.

    With `force` all memories that were recalled and not promoted yet are waiting.
    """
    settings = curated.settings
    last = next(iter(runs(side, "status = 'completed'", limit=1)), None)
    # A run that failed is not repeated at once by maintenance, either.
    latest = next(iter(runs(side, "status <> 'running'", limit=1)), None)
    since = 0 if latest is None else latest["at"]
    hours, need = (milliseconds(now) - since) / _HOUR, settings["dream.min_hours"]
    span = say_span(max(hours, 0) * 3600)
    ran = "no run yet" if latest is None else f"last run {f'{span} ago' if span else 'just now'} ({need} h are needed)"
    seen, most = len(sessions_since(curated, since)), settings["dream.min_sessions"]
    found = weighed(curated, side, now, force=force)
    count, least = settings["dream.gates.min_recall_count"], settings["dream.gates.min_score"]
    good = [one for one in found if one.recalls >= count and one.score >= least]
    enough = settings["dream.gates.min_unpromoted"]
    other = next((one for one in runs(side, "status = 'running'") if is_at_work(one, now)), None)
    free = other is None
    held = "the lock is free" if other is None else f"process {other['pid']} is dreaming"
    enabled = settings["dream.enabled"] and settings["enabled"]
    return Gates(
        side.name,
        (
            _gate("enabled", enabled, int(enabled), 1, "dreaming is on" if enabled else "dreaming is off"),
            _gate("time", latest is None or hours >= need, round(min(hours, need), 2), need, ran),
            _gate("sessions", seen >= most, seen, most, f"{seen} of {most} sessions"),
            _gate("lock", free, int(free), 1, held),
            _gate(
                "candidates",
                len(good) >= enough,
                len(good),
                enough,
                f"{len(good)} of {enough} memories recalled often enough",
            ),
        ),
        tuple((found if force else good)[:MOST]),
        last,
    )


def sessions_since(curated: Curated, since: int) -> set[str]:
    """Return the sessions in which memory was used since a time in milliseconds: by recalls, snapshots and ledgers."""
    found: set[str] = set()
    for side in curated.sides.values():
        rows = side.records.look(lambda db: db.execute(_SESSIONS, (since,)).fetchall(), list[tuple[str]]())
        found |= {row[0] for row in rows}
    return found | ended_since(curated, datetime.fromtimestamp(since / 1000, UTC))


FOLDER = "_system/dreaming"
PROMPT_VERSION = "dream.v1"
LONGEST = 220
"""How many characters of one memory go into a synthesis."""
INTRO = "What was recalled most, gathered from single memories; they stay as they are."
_HEAD = 200
"""Characters of the head of a synthesis at most."""


class Dreamt(NamedTuple):
    """The result of a trigger: the run, or why there was none."""

    gates: Gates
    run: Json | None
    reason: str

    def json(self) -> Json:
        """Return it for programs."""
        run = None if self.run is None else shown(self.run)
        return {**self.gates.json(), "triggered": run is not None, "reason": self.reason, "dream": run}


def dream(
    curated: Curated,
    side: Side,
    call: OperationCall,
    *,
    force: bool = False,
    retries: Json | None = None,
    dry_run: bool = False,
) -> Dreamt:
    """Dream on one side if its gates are open; `force` opens all but the lock, `dry_run` only checks.

    `retries` is a failed run: its gates were open, and its memories are gathered again. A run that fails is recorded
    and returned; MemdeckError where it cannot be recorded.
    """
    forced = force or retries is not None
    wanted = None if retries is None else {one["id"] for one in retries["candidates"]}
    gates = gates_of(curated, side, call.now, force=forced)
    found = [one for one in gates.waiting if wanted is None or one.memory.id in wanted]
    reason = "; ".join(gates.closed(force=forced))
    if not found:
        reason = reason or "every recalled memory is already promoted"
    if reason or dry_run:
        return Dreamt(gates, None, reason or f"would gather {plural(len(found), 'memory')}")
    side.prepare(actor=call.actor, now=call.now)
    made = _run(curated, side, found, gates.last, call, forced, retries)
    return Dreamt(gates, made, "" if made is not None else "another process was dreaming meanwhile")


def _run(
    curated: Curated,
    side: Side,
    waiting: list[Weighed],
    last: Json | None,
    call: OperationCall,
    forced: bool,
    retries: Json | None,
) -> Json | None:
    """Return the ended run; None where another one is at work, or ended since `last`."""
    root, settings, now = curated.root(side.name), curated.settings, call.now
    day = utc_day(now)
    target = f"{DREAM}{day}.md"
    known = read_file(side.store, root, target)
    there = {one.header.name for one in curated.memories([one for one in curated.all_roots() if one.side == side.name])}
    room = settings["controller.policy.max_content_chars"] - _HEAD
    made = gather(waiting, known.body if isinstance(known, Memory) else "", there, settings, room)
    artefact = free_path(
        f"{FOLDER}/{day}-dreaming-curator",
        lambda path: side.store.read(f"{root.folder}/{path}").exists,
    )
    run = new_run(
        side, now, input_count=len(waiting), candidates=[one.json() for one in waiting],
        promotes=[one.memory.id for one in made.taken], left_out=made.left_out, forced=forced,
        prompt_version=PROMPT_VERSION, target_filename=target, artifact_path=artefact,
        retries=None if retries is None else retries["id"],
    )  # fmt: skip
    if begin(side, run, now, last) is not None:
        return None
    try:
        if not made.taken:
            raise MemdeckError("memory.dream.nothing", "the content scan rejects all of them", "see `dream show`")
        written, asked = _written(curated, made, room, now)
        run |= asked
        body = _body(run["id"], artefact.rpartition("/")[2], made.lines, written)
        _keep(side, root, artefact, _artefact(run, made), call)
        header = Header(f"Dreaming {day}", f"What was recalled most until {day}", "project", root.scope)
        metadata = {"target_filename": target, "run_id": run["id"], "artifact_path": artefact}
        candidate = Candidate(root, "dreaming", header, body, "dreaming synthesis", day, metadata, key_of(run))
        propose(curated, candidate, call)
    except MemdeckError as error:
        finish(side, run, now, f"{error.code}: {error.message}"[:1000])
    else:
        # Where this cannot be recorded now, the run has not failed: the next command ends it by its decision.
        finish(side, run, now)
    return runs(side, "id = ?", [run["id"]])[0]


def _written(curated: Curated, made: Gathered, room: int, now: datetime) -> tuple[str, Json]:
    """Return the model's text and notes about it; the text is empty without a model or an answer."""
    model, settings = curated.models.get("dream"), curated.settings
    if model is None:
        return "", {"source": "rule"}
    limit = room - sum(len(line) + 1 for line in made.lines) - 2
    question: Json = {
        "version": PROMPT_VERSION,
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
        if rejecting((text,), settings["controller.scan_profile"]):
            raise ModelError("the content scan rejects the text")
    except ModelError as error:
        return "", {"source": "rule", "llm_error": str(error)[:240]}
    return text.strip(), {"source": "llm"}


def _keep(side: Side, root: Root, path: str, text: str, call: OperationCall) -> None:
    """Write a new file of the system folder."""

    def plan(transaction: Transaction) -> str:
        transaction.write(f"{root.folder}/{path}", text.encode("utf-8", "replace"), base=None)
        return f"wrote the dream report of {utc_day(call.now)} ({root.label})"

    side.change("curated.dream", plan, actor=call.actor, now=call.now)


# -- texts ----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Gathered:
    """The content of a synthesis: its lines, the memories they come from, and those left out with the reason."""

    lines: list[str] = field(default_factory=list)
    taken: list[Weighed] = field(default_factory=list)
    left_out: list[Json] = field(default_factory=list)


def gather(found: Sequence[Weighed], earlier: str, names: set[str], settings: CuratedSettings, room: int) -> Gathered:
    """Return the lines of a synthesis in at most `room` characters.

    The lines of the `earlier` one of the day come first whose memories still exist, by their names. What the content
    scan rejects is left out with its rules; what does not fit waits for the next run.
    """
    starts = tuple(f"- {name}: " for name in names)
    made = Gathered([line for line in earlier.splitlines() if line.startswith(starts)])
    used = sum(len(line) + 1 for line in made.lines)
    for one in found:
        memory = one.memory
        text = " ".join(memory.body.split())
        rules = rejecting((memory.header.name, text), settings["controller.scan_profile"])
        text = text if len(text) <= LONGEST else text[: LONGEST - 1].rstrip() + "…"
        line = f"- {memory.header.name}: {text}"
        if rules or used + len(line) + 1 > room:
            reason = ", ".join(f"memory_scan.{one}" for one in rules) or "left for the next run"
            made.left_out.append({"filename": memory.filename, "reason": reason})
            continue
        used += len(line) + 1
        made.lines.append(line)
        made.taken.append(one)
    return made


def _body(run_id: str, artefact: str, lines: Sequence[str], written: str) -> str:
    """Return the body of the memory that a run proposes; `written` is the text of a model, if one wrote it."""
    head = f"{INTRO}\n\nRun: {run_id}\nArtifact: {artefact}\n\n"
    return head + (f"{written.strip()}\n\n" if written else "") + "\n".join(lines) + "\n"


def _artefact(run: Json, made: Gathered) -> str:
    """Return the report of a run in Markdown: its facts, and the memories that it gathered with their scores."""
    keys = ("run_id", "scope", "workspace_id", "prompt_version", "source", "started_at", "forced", "target_filename")
    facts = [f"- {key}: {'' if run[key] is None else run[key]}" for key in keys]
    found = [f"- {one.memory.header.name}: {one.score:.3f}" for one in made.taken]
    return "\n".join([f"# Dream of {run['started_at'][:10]}", "", *facts, "", "## Candidates", "", *found, ""])


# -- operations -------------------------------------------------------------------------------------


def _sides(curated: Curated, args: Json) -> list[Side]:
    """Return the sides that a call means, the workspace first."""
    return curated.sides_of(args.get("scope"))[::-1]


def _runs(curated: Curated, args: Json) -> list[Json]:
    """Return the newest runs of each side that a call means, the newest first."""
    found = [run for side in _sides(curated, args) for run in runs(side)]
    return sorted(found, key=lambda run: (run["at"], run["id"]), reverse=True)


def _raise_failed(done: Dreamt) -> None:
    if done.run is not None and done.run["status"] == "failed":
        words, hint = f"the dream failed: {done.run['error']}", "`memdeck curated dream retry` tries again"
        raise MemdeckError("memory.dream.failed", words, hint, dream=shown(done.run))


def trigger(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Gather what was recalled most into one memory, if the gates of dreaming are open."""
    curated.refuse_disabled()
    dry, force = args.get("dry_run", False), args.get("force", False)
    made = [dream(curated, side, call, force=force, dry_run=dry) for side in _sides(curated, args)]
    for one in made:
        _raise_failed(one)
    best = next((one for one in made if one.run is not None), made[0]).json()
    shown = {key: best[key] for key in ("dream", "triggered", "reason")}
    return {**shown, "dry_run": dry, "scopes": [one.json() for one in made]}


def retry(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Gather the memories of a failed run again."""
    curated.refuse_disabled()
    side, run = find_run(curated.sides.values(), args["run_id"])
    if run["state"] == "running":
        raise RefusedError("memory.dream.running", f"{run['id']} is still running", "wait for its end")
    if run["state"] == "promoted" and not args.get("force"):
        words, hint = f"{run['id']} promoted its memories", "`dream trigger` makes a new run"
        raise RefusedError("memory.dream.not_failed", words, hint)
    done = dream(curated, side, call, retries=run)
    _raise_failed(done)
    made = done.json()
    return {"dream": made["dream"], "retried": made["triggered"], "reason": done.reason}


def status(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Show the state of each gate of dreaming."""
    found = [gates_of(curated, side, call.now) for side in _sides(curated, args)]
    return {
        "enabled": curated.settings["dream.enabled"],
        "open": any(not one.closed() for one in found),
        "scopes": [one.json() for one in found],
        "dreams": [*map(shown, _runs(curated, args)[:5])],
    }


def dreams(curated: Curated, args: Json, call: OperationCall) -> Json:  # noqa: ARG001
    """List the runs of dreaming, the newest first."""
    rows = [shown(run) for run in _runs(curated, args) if args.get("state") in (None, run["state"])]
    return {"dreams": rows[: min(args.get("limit", 25), 200)]}


def show(curated: Curated, args: Json, call: OperationCall) -> Json:  # noqa: ARG001
    """Show a run of dreaming with its artefact."""
    side, run = find_run(curated.sides.values(), args["run_id"])
    path, artefact = run["artifact_path"], ""
    if path:
        artefact = side.store.read(f"{curated.root(side.name).folder}/{path}").data.decode("utf-8", "replace")
    return {"dream": {**shown(run), "artifact": artefact or None}}
