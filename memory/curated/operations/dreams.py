"""The operations on dreams: trigger, retry, status, list, show."""

from __future__ import annotations

from memory.curated.curated import Curated
from memory.curated.dreaming.gates import gates_of
from memory.curated.dreaming.run import Dreamt, dream
from memory.curated.dreaming.runs import DreamRun, find_run, runs
from memory.curated.model import Json
from memory.curated.sides import Side
from memory.errors import MemdeckError, RefusedError

from .operation import OperationCall


def _sides(curated: Curated, args: Json) -> list[Side]:
    """Return the sides that a call means, the workspace first."""
    return curated.sides_of(args.get("scope"))[::-1]


def _runs(curated: Curated, args: Json, limit: int = 200) -> list[DreamRun]:
    """Return the newest runs of each side that a call means, the newest first."""
    found = [run for side in _sides(curated, args) for run in runs(side, limit=limit)]
    return sorted(found, key=lambda run: (run.started_at, run.id), reverse=True)


def _raise_failed(done: Dreamt) -> None:
    if done.run is not None and done.run.status == "failed":
        raise MemdeckError(
            "memory.dream.failed", f"the dream failed: {done.run.error}", "`memdeck curated dream retry` tries again",
            dream=done.run.json(),
        )  # fmt: skip


def trigger(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Dream on each side whose gates are open, and return for the others why not."""
    curated.refuse_disabled()
    made = [
        dream(curated, side, actor=call.actor, now=call.now, force=args.get("force", False),
              dry_run=args.get("dry_run", False))
        for side in _sides(curated, args)
    ]  # fmt: skip
    for one in made:
        _raise_failed(one)
    best = next((one for one in made if one.triggered), made[0])
    return {
        "dream": None if best.run is None else best.run.json(),
        "triggered": best.triggered,
        "reason": best.reason,
        "dry_run": args.get("dry_run", False),
        "scopes": [
            {**one.gates.json(), "triggered": one.triggered, "reason": one.reason,
             "dream": None if one.run is None else one.run.json()}
            for one in made
        ],
    }  # fmt: skip


def retry(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Gather the memories of a run that failed or promoted nothing again; `force` also allows another one."""
    curated.refuse_disabled()
    side, run = find_run(curated.sides.values(), args["run_id"])
    if run.state == "running":
        raise RefusedError("memory.dream.running", f"{run.id} is still at work", "wait for its end")
    if run.state == "promoted" and not args.get("force"):
        raise RefusedError(
            "memory.dream.not_failed", f"{run.id} promoted its memories", "`dream trigger` makes a new run"
        )
    done = dream(curated, side, actor=call.actor, now=call.now, retries=run)
    _raise_failed(done)
    return {
        "dream": None if done.run is None else done.run.json(), "retried": done.triggered, "reason": done.reason
    }  # fmt: skip


def status(curated: Curated, args: Json, call: OperationCall) -> Json:
    """Return the gates of each side, and the last runs."""
    found = [gates_of(curated, side, call.now) for side in _sides(curated, args)]
    return {
        "enabled": curated.settings["dream.enabled"],
        "open": any(not one.closed() for one in found),
        "scopes": [one.json() for one in found],
        "dreams": [run.json() for run in _runs(curated, args, 5)[:5]],
    }


def dreams(curated: Curated, args: Json, call: OperationCall) -> Json:  # noqa: ARG001
    """Return the runs, the newest first."""
    rows = [run for run in _runs(curated, args) if args.get("state") in (None, run.state)]
    return {"dreams": [run.json() for run in rows[: min(args.get("limit", 25), 200)]]}


def show(curated: Curated, args: Json, call: OperationCall) -> Json:  # noqa: ARG001
    """Return one run with its artefact, by its id or its day."""
    side, run = find_run(curated.sides.values(), args["run_id"])
    path, artefact = run.facts.get("artifact_path"), ""
    if path:
        artefact = side.store.read(f"{curated.root(side.name).folder}/{path}").data.decode("utf-8", "replace")
    return {"dream": {**run.json(), "artifact": artefact or None}}
