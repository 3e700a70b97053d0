"""Recall: events that were not recalled yet are merged into the bundle, shown first and applied in one transaction."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from memory.base.safe_text import plural
from memory.errors import ConflictError, UsageError
from memory.state.bundles import StateChange, diff_bundles, effect, effect_text
from memory.state.files.model import KEYS, POLICIES, SCOPES, SECTIONS, SIGNALS, Json, number_of, stamp
from memory.state.files.reading import StateFiles
from memory.state.files.store import StateStore, StateWriting
from memory.state.recall.consolidate import BundleProposal, consolidate, halves, plain_words

SHOWN_LINES = 80
MOST_EVENTS = 5000
"""How many events one recall takes; the others wait for the next one."""

Engine = Callable[[Json, Sequence[Json], str], tuple[Json | None, str]]
"""May replace the deterministic engine: (bundle, events, section) → bundle and engine name, or None and the reason."""


class Scope(NamedTuple):
    """The scope of a recall: the source of events, the section that may change, the policy, the protected sections."""

    source: str
    section: str
    policy: str

    @property
    def protected(self) -> tuple[str, ...]:
        """The sections that the policy keeps unchanged."""
        guards = self.policy == "project-map-protected" and self.section != "project-map"
        return ("project-map",) if guards else ()

    def takes(self, section: str) -> bool:
        """Return whether a section may change."""
        return self.section in ("all", section) and section not in self.protected


def scope_of_recall(
    config: Json, *, source: str | None = None, section: str | None = None, policy: str | None = None
) -> Scope:
    """Return the scope of a recall; arguments that are None are taken from the configuration.

    Without a source, a policy of imports-only or local-only determines it, wherever the policy comes from.
    """
    for what, value, known in (
        ("source", source, SCOPES), ("section", section, ("all", *SECTIONS)), ("policy", policy, POLICIES),
    ):  # fmt: skip
        if value is not None and value not in known:
            raise UsageError(f"state.recall.{what}", f"{value[:60]!r} is no {what}", f"one of {', '.join(known)}")
    policy = str(policy or config["recall.policy"])
    if source is None:
        source = {"imports-only": "imports", "local-only": "local"}.get(policy, config["recall.defaultSource"])
    return Scope(str(source), str(section or config["recall.defaultSection"]), policy)


class RecallPreview(NamedTuple):
    """What a recall would do; nothing is written. `after` is the new bundle.

    `document` is the form for programs. Its `left` are the sections that would also change but are outside of the
    scope: then the events do not count as recalled afterwards. `engine` names the engine that made the bundle, `note`
    says why it was not the requested one. `waiting` counts the events that wait for the next recall. `replaced` and
    `closed` are as in `BundleProposal`.
    """

    before: Json
    after: Json
    events: tuple[Json, ...]
    document: Json

    @property
    def settles(self) -> bool:
        """Whether the events count as recalled afterwards."""
        return not self.document["left"]

    @property
    def summary(self) -> str:
        """The effect on one line."""
        return effect_text(self.document["summary"])

    def told(self) -> list[str]:
        """Return sentences about the statements that later ones replace, and the steps that are closed."""
        said = [f"“{one['text']}” replaces “{one['replaces']}”" for one in self.document["replaced"]]
        for one in self.document["closed"]:
            what = f"closes the step “{one['step']}”" if one["step"] else "is done and closes no step"
            said.append(f"“{one['done']}” {what}")
        return said

    def diff(self) -> list[Json]:
        """Return the sections that change, each with its diff."""
        return [one for one in diff_bundles(self.before, self.after) if one["changed"]]


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
    after = {**before, **{key: proposal.bundle[key] for section, key in KEYS.items() if scope.takes(section)}}
    others = (section for section in SECTIONS if scope.section not in ("all", section))
    document = {
        **scope._asdict(),
        "unrecalled": len(events),
        "waiting": waiting,
        "events": [event["id"] for event in events],
        **groups_of(events),
        "summary": effect(before, after, selected=scope.section, protected=scope.protected),
        "replaced": [one for one in proposal.replaced if scope.takes(one["section"])],
        "closed": proposal.closed if scope.takes("next-steps") else [],
        "left": [section for section in others if proposal.bundle[KEYS[section]] != before[KEYS[section]]],
        "engine": name,
        "note": words or None,
        "changes": before != after,
    }
    return RecallPreview(before, after, events, document)


def _keep_run(before: Json, proposed: Json) -> Json:
    """Return a proposed bundle with what no engine may set: results of validation commands, and the entry file."""
    snapshot, entry = before["currentFocus"]["validationSnapshot"], before["project"]["recommendedEntryFile"]
    return {
        **proposed,
        "project": {**proposed["project"], "recommendedEntryFile": entry},
        "currentFocus": {**proposed["currentFocus"], "validationSnapshot": snapshot},
        "validationCommands": before["validationCommands"],
    }


def apply(store: StateStore, shown: RecallPreview, *, actor: str, now: datetime) -> StateChange:
    """Apply a preview: state, event, checkpoint, projections and entry block in one transaction.

    A recall that changes nothing only moves the cursor. One of a single section leaves the cursor where it is while the
    events have more to say; where that section does not change either, nothing is written. ConflictError
    `state.recall.stale` where the bundle or the events have changed since the preview.
    """
    source, changes = shown.document["source"], shown.document["changes"]

    def build(writing: StateWriting) -> StateChange:
        memory = writing.memory
        state = memory.state
        events, _ = next_events(memory, source)
        if state["bundle"] != shown.before or events != shown.events:
            raise ConflictError(
                "state.recall.stale", "the state or its events changed since the preview", "look at a new one"
            )
        if not events or not (changes or shown.settles):
            return StateChange(None, state, "nothing to recall")
        maintenance = moved(state, source, shown.events, writing.now) if shown.settles else {}
        if not changes:
            writing.put_maintenance(**maintenance)
            told = f", which {'says' if len(events) == 1 else 'say'} nothing new"
        else:
            diff, told = shown.document["summary"], f": {shown.summary}"
            state = writing.persist("recall", shown.after, shown.summary, state=state, diff=diff, **maintenance)
        summary = f"recalled {plural(len(events), 'event')}{told}"
        return StateChange(writing.commit(summary), state, summary)

    return store.change("state.recall", build, actor=actor, now=now)


def moved(state: Json, source: str, events: Sequence[Json], now: datetime) -> Json:
    """Return the values of the maintenance part that a recall of some events changes.

    Moves the cursor of the source, never back; for `all` also the cursors of both kinds and the overall one.
    """
    last = max(events, key=lambda event: number_of(event["id"]))["id"]
    cursor = {"lastRecalledAt": stamp(now), "lastRecalledEventId": last}
    cursors: dict[str, Any] = dict(state["maintenance"]["recallCursors"])
    for scope in SCOPES if source == "all" else (source,):
        if number_of(cursors[scope]["lastRecalledEventId"]) <= number_of(last):
            cursors[scope] = {**cursors[scope], **cursor}
    return {"recallCursors": cursors, **(cursor if source == "all" else {})}


SHOWN_GROUPS = 5
_PREFIX = re.compile(r"\s*(?:NEXT|DONE|DECISION|GOTCHA|PATH|VALIDATION):")


def topic(text: str) -> str:
    """Return the subject of a gotcha or a hint: its title, without a marker, in plain words."""
    return plain_words(halves(_PREFIX.sub("", text, count=1))[0])


def groups_of(events: Sequence[Json]) -> Json:
    """Return the groups of events about the same subject in the form for programs: the newest ones, and how many.

    Events belong together that share the topic of a gotcha or of a next step, or a key path where each also has a
    decision or a validation; a path alone groups nothing.
    """
    groups: dict[object, list[Json]] = {}
    for event in events:
        keys = set(_keys(event))
        shared = {id(groups[key]): groups[key] for key in keys if key in groups}
        largest, *others = sorted(shared.values(), key=len, reverse=True) or [[]]
        for other in others:
            largest += other
            groups |= {key: largest for one in other for key in _keys(one)}
        largest.append(event)
        groups |= dict.fromkeys(keys, largest)
    found = {id(group): sorted(group, key=_when) for group in groups.values()}
    ordered = sorted(found.values(), key=lambda group: _when(group[-1]), reverse=True)
    return {"groups": [_group(one) for one in ordered[:SHOWN_GROUPS]], "groupCount": len(ordered)}


def _group(events: list[Json]) -> Json:
    told = {kind: dict.fromkeys(text for event in events for text in event["signals"][kind]) for kind in SIGNALS}
    return {
        "eventIds": [event["id"] for event in events],
        "sourceIds": sorted({event["sourceId"] for event in events}),
        "summary": max((event["summary"] for event in events), key=len),
        "signals": {kind: list(texts) for kind, texts in told.items()},
    }


def _keys(event: Json) -> Iterator[object]:
    """Yield the keys that events of one group share, and its own."""
    signals = event["signals"]
    yield event["id"]
    for kind in ("gotchas", "nextStepHints"):
        yield from ((kind, about) for text in signals[kind] if (about := topic(text)))
    if signals["decisions"] or signals["validationObservations"]:
        yield from (("keyPaths", path) for path in signals["keyPaths"])


def _when(event: Json) -> tuple[str, int]:
    """Return the sort key of an event: its time, whose form sorts as text, then the number of its id."""
    return event["createdAt"], number_of(event["id"])
