"""Commands that make and renew a bundle: init, update, edit, and the settings."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memory.base.safe_text import plural
from memory.errors import ConflictError, MemdeckError, NotFoundError, RefusedError, UsageError
from memory.storage import Change

from .files import model
from .files.model import KEYS, SECTIONS, Json, canonical, canonical_bytes, load, ordered_bytes, stamp, without_gone
from .files.reading import StateFiles, checked
from .files.schema import DEFAULT_BYTES, read_config, with_setting
from .files.store import StateStore, StateWriting, fresh_parts, refuse
from .projections import refuse_foreign
from .retention import put_batch

_FILES = (model.STATE, model.EVENTS, model.SOURCES, model.CONFIG)


@dataclass(frozen=True, slots=True)
class StateChange:
    """The result of a command: its change (None: nothing was written), the state after it, and a summary."""

    change: Change | None
    state: Json
    summary: str
    archived: str | None = None

    def json(self) -> Json:
        """Return it for programs."""
        maintenance = self.state["maintenance"]
        return {
            "bundleHash": self.state["bundleHash"],
            "checkpointId": maintenance["latestCheckpointId"],
            "events": maintenance["historyEventCount"],
            "archived": self.archived,
            "change": None if self.change is None else self.change.id,
            "summary": self.summary,
        }


def existing(store: StateStore) -> list[str]:
    """Return what an init would replace: files of the format, and folders of checkpoints and archive unless empty."""
    files = [path for path in _FILES if store.files.read(path).exists]
    return files + [folder for folder in (model.CHECKPOINTS, model.ARCHIVE) if store.names(folder)]


def init(
    store: StateStore, bundle: Json, *, provider: str = "claude", actor: str, now: datetime, force: bool = False
) -> StateChange:
    """Make the project state from the analysis of the repository, a bundle.

    RefusedError `state.exists`, with the list, where any of its files exist. With `force` these are archived first,
    readable settings and sources are kept, and ids continue; files of a person where projections go are refused even
    then. UsageError `state.provider`.
    """
    if provider not in model.PROVIDERS:
        raise UsageError(
            "state.provider", f"{provider[:60]!r} is not a provider", f"one of {', '.join(model.PROVIDERS)}"
        )
    refuse_foreign(store.files.read)

    def build(writing: StateWriting) -> StateChange:
        memory, read = writing.memory, writing.transaction.read
        # Looked at under the lock: another process may have made one a moment ago.
        found = existing(store)
        if found and not force:
            renewal = "" if _unreadable(lambda: store.memory().state) else "`memdeck state update` updates it; "
            hint = f"{renewal}`memdeck state init --force` archives it and starts again"
            raise RefusedError("state.exists", f"there is {', '.join(found)} already", hint, files=found)
        batch = _archive_all(writing) if found else None
        if _unreadable(lambda: memory.config) or not read(model.CONFIG).exists:
            writing.put(model.CONFIG, DEFAULT_BYTES)
        if _unreadable(lambda: memory.sources) or not read(model.SOURCES).exists:
            writing.put(model.SOURCES, canonical_bytes([]))
            memory.__dict__["sources"] = []
        focus: str = bundle["currentFocus"]["summary"]
        state = writing.persist("init", bundle, focus, state=fresh_parts(provider))
        writing.put(model.ANALYSED, canonical_bytes(bundle))
        summary = f"created the state of {bundle['project']['name']}"
        return StateChange(writing.commit(summary), state, summary, batch)

    return store.change("state.init", build, actor=actor, now=now)


def _archive_all(writing: StateWriting) -> str:
    """Plan that everything that exists goes into a batch; the caller replaces the files themselves."""
    memory, read = writing.memory, writing.transaction.read
    files = [(path.rpartition("/")[2], data) for path in _FILES if (data := read(path).base) is not None]
    events = memory.found_events.items if read(model.EVENTS).exists else ()
    ids = memory.checkpoint_ids
    batch = put_batch(writing, "init", events=events, checkpoints=ids, files=files)
    return f"{model.ARCHIVE}/{batch}"


def _unreadable(read: Callable[[], object]) -> bool:
    try:
        read()
    except MemdeckError:
        return True
    return False


def update(store: StateStore, fresh: Json, *, actor: str, now: datetime) -> StateChange:
    """Renew the bundle from a new analysis of the repository; what recall and people added stays (see `take_in`),
    except paths that are gone.

    Adds one event and one checkpoint, even where nothing changed.
    """

    def build(writing: StateWriting) -> StateChange:
        state = writing.memory.state
        merged = take_in(_analysed_before(writing.memory), state["bundle"], fresh)
        bundle = without_gone(merged, writing.memory.has)
        state = writing.persist("update", bundle, bundle["currentFocus"]["summary"], state=state)
        writing.put(model.ANALYSED, canonical_bytes(fresh))
        summary = f"updated the state of {bundle['project']['name']}"
        return StateChange(writing.commit(summary), state, summary)

    return store.change("state.update", build, actor=actor, now=now)


def _analysed_before(memory: StateFiles) -> Json | None:
    """Return the last analysis; None where it is unknown, so that nothing is taken for part of it."""
    with suppress(MemdeckError):
        analysed: Json = checked(memory.read(model.ANALYSED).data, model.ANALYSED, "bundle", "state.analysis.json")
        return analysed
    return None


def edit(store: StateStore, section: str, value: Any, *, base: Any = None, actor: str, now: datetime) -> StateChange:
    """Replace a section of the bundle; adds one event and one checkpoint, none where the value is the same.

    `base` is the value that the person started from: ConflictError `document.conflict` where the section has changed
    since. NotFoundError `state.section`, RefusedError `state.refused` for a value without the section's shape.
    """
    key = key_of(section)

    def build(writing: StateWriting) -> StateChange:
        state = writing.memory.state
        if base is not None and state["bundle"][key] != base:
            raise ConflictError(
                "document.conflict", f"{section} changed meanwhile", "look at it again", files=[model.STATE]
            )
        bundle = {**state["bundle"], key: value}
        refuse("bundle", bundle)
        if bundle == state["bundle"]:
            return StateChange(None, state, f"{section} is unchanged")
        summary, changed = f"edited {section}", effect(state["bundle"], bundle)
        state = writing.persist("edit", bundle, summary, state=state, diff=changed)
        return StateChange(writing.commit(summary), state, summary)

    return store.change("state.edit", build, actor=actor, now=now)


def key_of(section: str) -> str:
    """Return the key of a section in the bundle; NotFoundError `state.section`."""
    if section not in model.KEYS:
        raise NotFoundError("state.section", f"there is no section {section[:60]!r}", f"one of {', '.join(model.KEYS)}")
    return model.KEYS[section]


def record_validation(store: StateStore, results: list[Mapping[str, str]], *, actor: str, now: datetime) -> StateChange:
    """Record the results of the validation commands in the bundle's snapshot; adds one event and one checkpoint."""
    ended = {result["status"] for result in results}
    status = "passed" if ended == {"passed"} else "failed" if "passed" not in ended else "mixed"
    passed = sum(result["status"] == "passed" for result in results)
    summary = f"{passed} of {plural(len(results), 'validation command')} passed"

    def build(writing: StateWriting) -> StateChange:
        state = writing.memory.state
        snapshot = {"status": status, "validatedAt": stamp(now), "summary": summary, "results": [*map(dict, results)]}
        focus = {**state["bundle"]["currentFocus"], "validationSnapshot": snapshot}
        bundle = {**state["bundle"], "currentFocus": focus}
        new = writing.persist("validate", bundle, summary, state=state, diff=effect(state["bundle"], bundle))
        return StateChange(writing.commit(summary), new, summary)

    return store.change("state.validate", build, actor=actor, now=now)


def set_config(store: StateStore, key: str, value: str, *, actor: str, now: datetime) -> Change:
    """Change one setting of config.json; the others and their order stay. ConfigError `state.config.*`."""

    def build(writing: StateWriting) -> Change:
        data = writing.transaction.read(model.CONFIG).data or DEFAULT_BYTES
        read_config(data)
        written = load(data, model.CONFIG, "state.config.json")
        writing.put(model.CONFIG, ordered_bytes(with_setting(written, key, value)))
        return writing.commit(f"set {key} to {value[:60]}")

    return store.change("state.config", build, actor=actor, now=now)


# -- a new analysis beside what recall and people changed since the last one -----------------------------------
# A three-way merge: `base` is the last analysis, `ours` the bundle, `theirs` the new analysis. What differs from the
# base on our side was added by an author and stays; everything else follows the repository.


def take_in(base: Json | None, ours: Json, theirs: Json) -> Json:
    """Return the bundle after a new analysis; without a base, lists keep everything that the bundle has.

    A run of the validation commands (`validationSnapshot`) is never thrown away by an analysis, which runs nothing.
    """
    merged: Json = _merge(base or {}, ours, theirs, known=base is not None)
    snapshot, commands = ours["currentFocus"]["validationSnapshot"], "validationCommands"
    if snapshot["status"] != "not-run":
        merged["currentFocus"] = {**merged["currentFocus"], "validationSnapshot": snapshot}
    # At most two: they are chosen as a whole, by a person or by the analysis.
    chosen = base is not None and ours[commands] != base.get(commands)
    merged[commands] = ours[commands] if chosen else theirs[commands]
    return merged


def _merge(base: Any, ours: Any, theirs: Any, *, known: bool) -> Any:
    """Return a merged value; without a known base the author of plain values is unknown: the new analysis counts."""
    if ours is None:
        return theirs
    if isinstance(theirs, dict) and isinstance(ours, dict):
        before = base if isinstance(base, dict) else {}
        merged = {
            key: _merge(before.get(key), ours.get(key), value, known=known and key in before)
            for key, value in theirs.items()
        }
        return merged | {key: value for key, value in ours.items() if key not in theirs}
    if not (isinstance(theirs, list) and isinstance(ours, list)):
        return ours if known and ours != base else theirs
    # Lists go by the names of their entries: those of the analysis in its order, then those that were added.
    old, mine, new = ({name_of(one): one for one in side or ()} for side in (base, ours, theirs))
    both = {name: value for name, value in new.items() if name in mine and isinstance(value, dict)}
    both = {name: _merge(old.get(name), mine[name], value, known=name in old) for name, value in both.items()}
    kept = [both.get(name, value) for name, value in new.items() if name in mine or name not in old]
    # Added entries stay; what the last analysis had and the new one lacks is removed.
    return kept + [value for name, value in mine.items() if name not in new and old.get(name) != value]


# -- differences of two bundles, and a summary of them -----------------------------------------------------------------

_NAMES = ("title", "path", "label")
_TITLED, _DONE = {"gotchas": "gotcha", "nextSteps": "next step"}, ("added", "removed", "edited")
"""The lists of titled entries with the noun for one, and the actions of a recall on them."""


def diff_bundles(before: Json, after: Json) -> list[Json]:
    """Return for each section in the order of the bundle its name, whether it changed, and its diff line by line."""
    found = []
    for name in SECTIONS:
        old, new = (canonical(bundle[KEYS[name]]).split("\n") for bundle in (before, after))
        lines = [*difflib.unified_diff(old, new, fromfile="before", tofile="after", lineterm="", n=2)]
        found.append({"section": name, "changed": bool(lines), "diff": lines})
    return found


def name_of(item: Any) -> str:
    """Return the title, path or label of an entry; a line is its own name."""
    if isinstance(item, dict):
        return str(next((item[key] for key in _NAMES if key in item), None) or canonical(item))
    return str(item)


def effect(before: Json, after: Json, *, selected: str = "all", protected: Sequence[str] = ()) -> Json:
    """Return what a recall or an edit changes: the sections, and the titles of gotchas and next steps by what was done.

    It is in the form for programs, and its hash is in the event.
    """
    changed = [name for name in SECTIONS if before[KEYS[name]] != after[KEYS[name]]]
    titles: dict[str, dict[str, list[str]]] = {}
    for key in _TITLED:
        old, new = ({entry["title"]: entry for entry in bundle[key]} for bundle in (before, after))
        edited = [one for one in new if one in old and new[one] != old[one]]
        kinds = [one for one in new if one not in old], [one for one in old if one not in new], edited
        titles[key] = dict(zip(_DONE, kinds, strict=True))
    return {
        "changedSections": changed,
        "selectedSection": selected,
        "protectedSections": list(protected),
        **titles,
        "currentFocusChanged": "current-focus" in changed,
        "validationChanged": "validation-commands" in changed,
    }


def titles_of(effect: Json) -> Iterator[tuple[str, str, list[str]]]:
    """Yield what was done to which titles: the noun, the verb, and the titles, unless there are none."""
    for key, noun in _TITLED.items():
        yield from ((noun, verb, titles) for verb, titles in effect[key].items() if titles)


def effect_text(effect: Json) -> str:
    """Return an effect on one line: `changed gotchas and next-steps: 2 gotchas added, 1 next step removed`."""
    if not effect["changedSections"]:
        return "changed nothing"
    said = [f"{plural(len(titles), noun)} {verb}" for noun, verb, titles in titles_of(effect)]
    return f"changed {', '.join(effect['changedSections'])}" + (f": {', '.join(said)}" if said else "")
