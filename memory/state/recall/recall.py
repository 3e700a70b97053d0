"""Recall: events that were not recalled yet are merged into the bundle, shown first and applied in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memory.errors import ConflictError, UsageError
from memory.state.diff import Digest, SectionDiff, diff_bundles, digest_of
from memory.state.files.model import KEYS, POLICIES, SCOPES, SECTIONS, Json, number_of, plural, stamp
from memory.state.files.reading import StateFiles
from memory.state.files.store import StateStore, StateWriting
from memory.storage import Change

from .consolidate import BundleProposal, Closed, consolidate
from .grouping import group_events
from .statements import Replaced

SHOWN_GROUPS = 5
SHOWN_LINES = 80
MOST_EVENTS = 5000
"""How many events one recall takes; the others wait for the next one."""

Engine = Callable[[Json, Sequence[Json], str], tuple[Json | None, str]]
"""May replace the deterministic engine: (bundle, events, section) → bundle and engine name, or None and the reason."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The scope of a recall: the source of events, the section that may change, the policy, the protected sections."""

    source: str
    section: str
    policy: str

    @property
    def protected(self) -> tuple[str, ...]:
        """The sections that the policy keeps unchanged."""
        if self.policy == "project-map-protected" and self.section != "project-map":
            return ("project-map",)
        return ()

    def takes(self, section: str) -> bool:
        """Return whether a section may change."""
        return self.section in ("all", section) and section not in self.protected


def scope_of_recall(
    config: Json, *, source: str | None = None, section: str | None = None, policy: str | None = None
) -> Scope:
    """Return the scope of a recall; arguments that are None are taken from the configuration.

    Without a source, a policy of imports-only or local-only determines it, wherever the policy comes from.
    """
    recall = config["recall"]
    for what, value, known in (
        ("source", source, SCOPES), ("section", section, ("all", *SECTIONS)), ("policy", policy, POLICIES),
    ):  # fmt: skip
        if value is not None and value not in known:
            raise UsageError(f"state.recall.{what}", f"{value[:60]!r} is no {what}", f"one of {', '.join(known)}")
    policy = policy or recall["policy"]
    if source is None:
        source = {"imports-only": "imports", "local-only": "local"}.get(policy, recall["defaultSource"])
    return Scope(source, section or recall["defaultSection"], policy)


@dataclass(frozen=True, slots=True)
class RecallPreview:
    """What a recall would do; nothing is written. `after` is the new bundle, `digest` what changes in it.

    `replaced` are earlier statements that later ones replace, `closed` what was said to be done. `left` are the
    sections that would also change but are outside of the scope. `engine` names the engine that made the bundle; `note`
    says why it was not the requested one. `waiting` counts the events that wait for the next recall.
    """

    scope: Scope
    before: Json
    after: Json
    events: tuple[Json, ...]
    groups: list[Json]
    digest: Digest
    replaced: list[Replaced]
    closed: list[Closed]
    left: list[str]
    engine: str
    note: str
    waiting: int

    @property
    def changes(self) -> bool:
        """Whether the bundle changes."""
        return self.before != self.after

    @property
    def settles(self) -> bool:
        """Whether the events count as recalled afterwards: not where one section alone takes from them."""
        return not self.left

    def told(self) -> list[str]:
        """Return sentences about what was replaced and closed."""
        replaced = [f"“{one.text}” replaces “{one.earlier}”" for one in self.replaced]
        closed = [
            f"“{one.done}” closes the step “{one.step}”" if one.step else f"“{one.done}” is done and closes no step"
            for one in self.closed
        ]
        return [*replaced, *closed]

    def diff(self) -> tuple[SectionDiff, ...]:
        """Return the sections that change, each with its diff."""
        return tuple(one for one in diff_bundles(self.before, self.after) if one.changed)

    def json(self, *, diff: bool = False) -> Json:
        """Return it for programs: only the newest groups, and the diffs where requested."""
        answer: Json = {
            "source": self.scope.source,
            "section": self.scope.section,
            "policy": self.scope.policy,
            "unrecalled": len(self.events),
            "waiting": self.waiting,
            "events": [event["id"] for event in self.events],
            "groups": self.groups[:SHOWN_GROUPS],
            "groupCount": len(self.groups),
            "summary": self.digest.json(),
            "replaced": [{"section": one.section, "text": one.text, "replaces": one.earlier} for one in self.replaced],
            "closed": [{"done": one.done, "step": one.step or None} for one in self.closed],
            "left": self.left,
            "engine": self.engine,
            "note": self.note or None,
            "changes": self.changes,
        }
        if diff:
            answer["diff"] = [one.json() for one in self.diff()]
        return answer


def next_events(memory: StateFiles, source: str = "all") -> tuple[tuple[Json, ...], int]:
    """Return the events that the next recall takes, the oldest ones, and how many wait after them."""
    found = memory.unrecalled(source)
    if len(found) > MOST_EVENTS:
        found.sort(key=lambda event: number_of(event["id"]))
    return tuple(found[:MOST_EVENTS]), max(len(found) - MOST_EVENTS, 0)


def preview(memory: StateFiles, scope: Scope, engine: Engine | None = None) -> RecallPreview:
    """Return what a recall would do now; without events everything in it is empty."""
    before = memory.bundle
    events, waiting = next_events(memory, scope.source)
    bundle, words = engine(before, events, scope.section) if engine is not None and events else (None, "")
    if bundle is not None:
        proposal, name, words = BundleProposal(_keep_run(before, bundle)), words, ""
    else:
        proposal, name = consolidate(before, events, memory.has), "deterministic"
    after = {**before, **{key: proposal.bundle[key] for name, key in KEYS.items() if scope.takes(name)}}
    others = (name for name in SECTIONS if scope.section not in ("all", name))
    return RecallPreview(
        scope=scope,
        before=before,
        after=after,
        events=events,
        groups=group_events(events),
        digest=digest_of(before, after, selected=scope.section, protected=scope.protected),
        replaced=[one for one in proposal.replaced if scope.takes(one.section)],
        closed=proposal.closed if scope.takes("next-steps") else [],
        left=[name for name in others if proposal.bundle[KEYS[name]] != before[KEYS[name]]],
        engine=name,
        note=words,
        waiting=waiting,
    )


def _keep_run(before: Json, proposed: Json) -> Json:
    """Return a proposed bundle with what no engine may set: results of validation commands, and the entry file."""
    snapshot, entry = before["currentFocus"]["validationSnapshot"], before["project"]["recommendedEntryFile"]
    return {
        **proposed,
        "project": {**proposed["project"], "recommendedEntryFile": entry},
        "currentFocus": {**proposed["currentFocus"], "validationSnapshot": snapshot},
        "validationCommands": before["validationCommands"],
    }


@dataclass(frozen=True, slots=True)
class Recalled:
    """The result of an applied recall: the change (None: nothing to recall) and the state after it."""

    preview: RecallPreview
    change: Change | None
    state: Json

    @property
    def outcome(self) -> str:
        """`nothing` to recall, `noop` (only the cursor moved), or `applied`."""
        if self.change is None:
            return "nothing"
        return "applied" if self.preview.changes else "noop"

    def json(self, *, diff: bool = False) -> Json:
        """Return it for programs."""
        return {
            **self.preview.json(diff=diff),
            "outcome": self.outcome,
            "bundleHash": self.state["bundleHash"],
            "checkpointId": self.state["maintenance"]["latestCheckpointId"],
            "change": None if self.change is None else self.change.id,
        }


def apply(store: StateStore, shown: RecallPreview, *, actor: str, now: datetime) -> Recalled:
    """Apply a preview: state, event, checkpoint, projections and entry block in one transaction.

    A recall that changes nothing only moves the cursor. One of a single section leaves the cursor where it is while the
    events have more to say; where that section does not change either, nothing is written. ConflictError
    `state.recall.stale` where the bundle or the events have changed since the preview.
    """

    def build(writing: StateWriting) -> Recalled:
        memory = writing.memory
        state = memory.state
        events, _ = next_events(memory, shown.scope.source)
        if state["bundle"] != shown.before or events != shown.events:
            raise ConflictError(
                "state.recall.stale", "the state or its events changed since the preview", "look at a new one"
            )
        if not events or not (shown.changes or shown.settles):
            return Recalled(shown, None, state)
        maintenance = moved(state, shown.scope.source, shown.events, writing.now) if shown.settles else {}
        if not shown.changes:
            state = {**state, "maintenance": maintenance}
            writing.put_state(state)
            told = f", which {'says' if len(events) == 1 else 'say'} nothing new"
        else:
            words = shown.digest.text()
            state = writing.persist("recall", shown.after, words, state=state, diff=shown.digest, **maintenance)
            told = f": {words}"
        return Recalled(shown, writing.commit(f"recalled {plural(len(events), 'event')}{told}"), state)

    return store.change("state.recall", build, actor=actor, now=now)


def moved(state: Json, source: str, events: Sequence[Json], now: datetime) -> Json:
    """Return the maintenance part after a recall of some events.

    Moves the cursor of the source, never back; for `all` also the cursors of both kinds and the overall one.
    """
    maintenance = state["maintenance"]
    last = max(events, key=lambda event: number_of(event["id"]))["id"]
    cursor = {"lastRecalledAt": stamp(now), "lastRecalledEventId": last}
    cursors: dict[str, Any] = dict(maintenance["recallCursors"])
    for scope in SCOPES if source == "all" else (source,):
        if number_of(cursors[scope]["lastRecalledEventId"]) <= number_of(last):
            cursors[scope] = {**cursors[scope], **cursor}
    after = {**maintenance, "recallCursors": cursors}
    return {**after, **cursor} if source == "all" else after
