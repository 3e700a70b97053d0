"""The texts of a run: the memory that it proposes, and the artefact that documents its origin."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from memory.base.clock import format_utc
from memory.base.scan import scan
from memory.curated.model import Json

from .gates import Weighed

LONGEST = 220
"""How many characters of one memory go into a synthesis."""
INTRO = "What was recalled most, gathered from single memories; they stay as they are."
_BULLET = "- "


@dataclass(slots=True)
class Gathered:
    """The content of a synthesis: its lines, the memories they come from, and those left out with the reason."""

    lines: list[str] = field(default_factory=list)
    taken: list[Weighed] = field(default_factory=list)
    left_out: list[Json] = field(default_factory=list)


def lines_of(body: str, names: Collection[str]) -> list[str]:
    """Return the lines of a synthesis whose memories still exist, by their names."""
    starts = tuple(f"{_BULLET}{name}: " for name in names)
    return [line for line in body.splitlines() if line.startswith(starts)]


def gather(found: Sequence[Weighed], earlier: Sequence[str], profile: str, room: int) -> Gathered:
    """Return the lines of a synthesis in at most `room` characters; the `earlier` ones of the day come first.

    What the content scan rejects is left out with its rules; what does not fit waits for the next run.
    """
    made = Gathered(list(earlier))
    used = sum(len(line) + 1 for line in made.lines)
    for one in found:
        memory = one.memory
        text = " ".join(memory.body.split())
        hits = scan((memory.header.name, text), profile)
        rules = sorted({f"memory_scan.{hit.rule}" for hit in hits if hit.action == "reject"})
        if rules:
            made.left_out.append({"filename": memory.filename, "reason": ", ".join(rules)})
            continue
        if len(text) > LONGEST:
            text = text[: LONGEST - 1].rstrip() + "…"
        line = f"{_BULLET}{memory.header.name}: {text}"
        if used + len(line) + 1 > room:
            made.left_out.append({"filename": memory.filename, "reason": "no room: it waits for the next run"})
            continue
        used += len(line) + 1
        made.lines.append(line)
        made.taken.append(one)
    return made


def body_of(run_id: str, artefact: str, lines: Sequence[str], written: str = "") -> str:
    """Return the body of the memory that a run proposes; `written` is the text of a model, if one wrote it."""
    head = f"{INTRO}\n\nRun: {run_id}\nArtifact: {artefact}\n\n"
    return head + (f"{written.strip()}\n\n" if written else "") + "\n".join(lines) + "\n"


def artefact_of(run: Json, found: Sequence[Weighed], made: Gathered, body: str, days: Sequence[str]) -> str:
    """Return the artefact of a run in Markdown; `days` are lines about recent changes to memory."""
    lines = [f"# Dream of {run['started_at'][:10]}", ""]
    for key in ("run_id", "scope", "workspace_id", "prompt_version", "source", "started_at", "forced"):
        lines.append(f"- {key}: {'' if run[key] is None else run[key]}")
    lines += ["", "## Candidates", ""]
    out = {one["filename"]: one["reason"] for one in made.left_out}
    for one in found:
        terms = " + ".join(f"{name} {value:.3f}" for name, value in one.terms)
        name = one.memory.filename if one.memory.filename in out else one.memory.header.name
        lines.append(f"- {name}: {one.score:.3f} = {terms}; recalled {one.count} times")
    if made.left_out:
        lines += ["", "## Left out", ""]
        lines += [f"- {name}: {reason}" for name, reason in out.items()]
    if days:
        lines += ["", "## Days before", "", *days]
    return "\n".join([*lines, "", "## Synthesis", "", body.rstrip(), ""])


def failure_of(run: Json, error: str, now: datetime) -> Json:
    """Return the record of a run that failed."""
    return {
        "run_id": run["run_id"], "workspace_id": run["workspace_id"], "prompt_version": run["prompt_version"],
        "failed_at": format_utc(now), "error": error, "candidate_count": run["input_count"],
        "candidate_ids": [one["id"] for one in run["candidates"]],
    }  # fmt: skip
