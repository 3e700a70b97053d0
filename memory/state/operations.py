"""What makes and renews a bundle: init, update, edit, and the settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memory.errors import ConfigError, MemdeckError, NotFoundError, RefusedError, UsageError
from memory.state.analysis.focus import without_first_run

from .diff import Digest, changed_sections
from .files import schema
from .files.archive import MOST_CHECKPOINTS, put_batch
from .files.canonical import canonical_bytes, ordered_bytes
from .files.config import DEFAULT_BYTES, DEFAULTS, read_config, with_setting, written_config
from .files.json_text import load
from .files.model import ANALYSED, ARCHIVE, CHECKPOINTS, CONFIG, EVENTS, KEYS, PROVIDERS, SOURCES, STATE, Json, plural
from .files.reading import StateFiles
from .files.store import StateStore, StateWriting, refuse
from .recall.new_analysis import take_in

if TYPE_CHECKING:
    from memory.storage import Change


@dataclass(frozen=True, slots=True)
class StateChange:
    """What a command wrote: its change (None: nothing was to be written), the state after it, and what it says."""

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
    """Return what an init would find: the files of the format, and the folders of checkpoints and archive with
    anything in them.
    """
    files = [path for path in (STATE, EVENTS, SOURCES, CONFIG) if store.files.read(path).exists]
    return files + [folder for folder in (CHECKPOINTS, ARCHIVE) if store.names(folder)]


def init(
    store: StateStore,
    analysed: Callable[[], Json],
    *,
    provider: str = PROVIDERS[1],
    actor: str,
    now: datetime,
    force: bool = False,
) -> StateChange:
    """Make the project state from what the repository itself says (`analysed`, a bundle).

    RefusedError `state.exists`, with the list, where anything of it is there; with `force` that is put into the
    archive first, settings and sources stay where they can be read, and ids go on. UsageError `state.provider`.
    """
    if provider not in PROVIDERS:
        raise UsageError("state.provider", f"{provider[:60]!r} is no provider", f"one of {', '.join(PROVIDERS)}")
    found = existing(store)
    if found and not force:
        raise RefusedError(
            "state.exists",
            f"there is {', '.join(found)} already",
            "`memdeck state update` renews it; --force puts it into the archive and begins again",
            files=found,
        )
    bundle = analysed()
    if force:
        _archive_older(store, actor=actor, now=now)

    def build(writing: StateWriting) -> StateChange:
        memory = writing.memory
        batch = _archive_all(writing) if existing(store) else None
        if _unreadable(lambda: memory.config) or not writing.transaction.read(CONFIG).exists:
            writing.put(CONFIG, DEFAULT_BYTES)
        if _unreadable(lambda: memory.sources):
            writing.put(SOURCES, canonical_bytes([]))
            memory.__dict__["sources"] = []
        elif not writing.transaction.read(SOURCES).exists:
            writing.put(SOURCES, canonical_bytes([]))
        who = {"name": provider, "binary": provider, "model": None, "sessionId": None}
        focus: str = bundle["currentFocus"]["summary"]
        state = writing.persist("init", bundle, focus, state=None, provider=who, anew=True)
        writing.put(ANALYSED, canonical_bytes(bundle))
        summary = f"made the state of {bundle['project']['name']}"
        return StateChange(writing.commit(summary), state, summary, batch)

    return store.change("state.init", build, actor=actor, now=now)


def _archive_older(store: StateStore, *, actor: str, now: datetime) -> None:
    """Put checkpoints into the archive as long as there are more than go in one change; the newest stay for last."""

    def build(writing: StateWriting) -> bool:
        ids = writing.memory.checkpoint_ids
        if len(ids) <= MOST_CHECKPOINTS:
            return False
        put_batch(writing, "init", DEFAULTS, checkpoints=ids[:MOST_CHECKPOINTS])
        writing.commit(f"archived {plural(MOST_CHECKPOINTS, 'checkpoint')}")
        return True

    while store.change("state.init", build, actor=actor, now=now):
        pass


def _archive_all(writing: StateWriting) -> str:
    """Plan that everything there is goes into a batch; the files themselves are replaced by the caller."""
    memory, read = writing.memory, writing.transaction.read
    names = {STATE: "state.json", EVENTS: "events.jsonl", SOURCES: "sources.json", CONFIG: "config.json"}
    files = [(name, data) for path, name in names.items() if (data := read(path).base) is not None]
    events = memory.found_events.items if read(EVENTS).exists else ()
    ids = memory.checkpoint_ids
    batch = put_batch(writing, "init", DEFAULTS, events=events, checkpoints=ids, files=files)
    return f"{ARCHIVE}/{batch}"


def _unreadable(read: Callable[[], object]) -> bool:
    try:
        read()
    except MemdeckError:
        return True
    return False


def update(store: StateStore, analysed: Callable[[], Json], *, actor: str, now: datetime) -> StateChange:
    """Renew the bundle from the repository as it is; what recall and people put into it stays (see `three_way`).

    One event and one checkpoint more, also where nothing changed.
    """
    _ = store.memory().state  # said before the repository is read through
    fresh = analysed()

    def build(writing: StateWriting) -> StateChange:
        state = writing.memory.state
        bundle = take_in(_analysed_before(writing.memory), state["bundle"], fresh)
        state = writing.persist("update", bundle, bundle["currentFocus"]["summary"], state=state)
        writing.put(ANALYSED, canonical_bytes(fresh))
        summary = f"renewed the state of {bundle['project']['name']}"
        return StateChange(writing.commit(summary), state, summary)

    return store.change("state.update", build, actor=actor, now=now)


def _analysed_before(memory: StateFiles) -> Json | None:
    """Return what the last analysis said; None where that is not known any more, so that nothing is taken for its."""
    stored = memory.read(ANALYSED)
    if not stored.exists:
        return None
    try:
        bundle: Json = load(stored.data, ANALYSED, "state.analysis.json")
    except MemdeckError:
        return None
    return None if schema.faults_of(schema.BUNDLE, bundle) else bundle


def edit(store: StateStore, section: str, value: Any, *, base: Any = None, actor: str, now: datetime) -> StateChange:
    """Give a section of the bundle another value; one event and one checkpoint more, none where it is the same.

    `base` is what the person started from: ConflictError `document.conflict` where the section is another by now.
    NotFoundError `state.section`, RefusedError `state.refused` for a value that has not the section's shape.
    """
    key = key_of(section)

    def build(writing: StateWriting) -> StateChange:
        state = writing.memory.state
        if base is not None and state["bundle"][key] != base:
            from memory.errors import ConflictError

            raise ConflictError(
                "document.conflict", f"{section} was changed meanwhile", "look at it again", files=[STATE]
            )
        bundle = {**state["bundle"], key: value}
        refuse(schema.BUNDLE, bundle)
        if bundle == state["bundle"]:
            return StateChange(None, state, f"{section} is as it was")
        summary = f"edited {section}"
        state = writing.persist(
            "edit", bundle, summary, state=state, diff=Digest(changed_sections(state["bundle"], bundle))
        )
        return StateChange(writing.commit(summary), state, summary)

    return store.change("state.edit", build, actor=actor, now=now)


def key_of(section: str) -> str:
    """Return the key of a section in the bundle; NotFoundError `state.section`."""
    if section not in KEYS:
        raise NotFoundError("state.section", f"there is no section {section[:60]!r}", f"one of {', '.join(KEYS)}")
    return KEYS[section]


def record_validation(
    store: StateStore, results: list[Mapping[str, str]], *, actor: str, now: datetime, validated_at: str
) -> StateChange:
    """Note how the validation commands ended, in the bundle's snapshot; one event and one checkpoint more."""
    ended = {result["status"] for result in results}
    status = "passed" if ended == {"passed"} else "failed" if "passed" not in ended else "mixed"
    passed = sum(result["status"] == "passed" for result in results)
    summary = f"{passed} of {plural(len(results), 'validation command')} passed"

    def build(writing: StateWriting) -> StateChange:
        state = writing.memory.state
        snapshot = {
            "status": status,
            "validatedAt": validated_at,
            "summary": summary,
            "results": [dict(result) for result in results],
        }
        focus = without_first_run({**state["bundle"]["currentFocus"], "validationSnapshot": snapshot})
        bundle = {**state["bundle"], "currentFocus": focus}
        new = writing.persist("validate", bundle, summary, state=state, diff=Digest(("current-focus",)))
        return StateChange(writing.commit(summary), new, summary)

    return store.change("state.validate", build, actor=actor, now=now)


def set_config(store: StateStore, key: str, value: str, *, actor: str, now: datetime) -> Change:
    """Change one setting of config.json, the others and their order stay; ConfigError `state.config.*`."""

    def build(writing: StateWriting) -> Change:
        data = writing.transaction.read(CONFIG).data or DEFAULT_BYTES
        read_config(data)
        written = written_config(data)
        if not isinstance(written, dict):  # read_config has refused it
            raise ConfigError("state.config.schema", f"{CONFIG}: the file is not an object", "mend it there")
        writing.put(CONFIG, ordered_bytes(with_setting(written, key, value)))
        return writing.commit(f"set {key} to {value[:60]}")

    return store.change("state.config", build, actor=actor, now=now)
