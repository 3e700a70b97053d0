"""The tab of project state: status, sections, events to recall and recalled, sources of sessions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

from memory.base.safe_text import plural
from memory.errors import ConflictError, MemdeckError, UsageError
from memory.state.files.model import KEYS, NO_FOCUS, canonical
from memory.state.status import StateLook, status_of
from memory.state.system import ProjectState
from memory.systems.acts import act
from memory.workspace import Outcome
from widgets.chrome.keys import with_keys
from widgets.input.fields import FieldSpec
from widgets.list.rows import Heading
from widgets.pane.base import Badge, Build, FormPlan, Removal
from widgets.pane.offers import question
from widgets.pane.operation_form import form_of, operation_of
from widgets.pane.records import Record, RecordPane, plain_label
from widgets.text.styled_text import Piece

if TYPE_CHECKING:
    from memory.files.snapshot import Snapshot

Json = dict[str, Any]

TITLES = {
    "project": "Project",
    "project-map": "Project map",
    "validation-commands": "Commands",
    "current-focus": "Current focus",
    "next-steps": "Next steps",
    "gotchas": "Gotchas",
}
"""The sections in words: what the project is, then where the work is."""
HEADINGS = {"project": "WHAT IT IS", "current-focus": "WHAT IS GOING ON"}
"""The headings above the first sections of a kind."""
DOES = {
    "recall": "{new} to recall: {{memory.next|R}} previews it",
    "sync": "Sessions could not be read: {{memory.next|R}} tries again",
    "prune": "Old events can go: {{memory.next|R}} archives them",
    "update": "Edited by hand: {{memory.next|R}} reads the repository",
    "validate": "Damaged: {{memory.next|R}} shows the repair",
}
"""What the verb that the status suggests is for."""
LABELS = {
    "correctPath": "do instead", "start": "start at", "done": "done when", "primaryEcosystem": "ecosystem",
    "packageManager": "packages", "workspaceManager": "workspaces", "recommendedEntryFile": "read first", "summary": "",
}  # fmt: skip
"""The labels of fields that differ from their names."""
NOTHING_TO_DO = (
    "Agents read this as their session starts. What they decide, find and leave to do comes from their sessions, once"
    " their folder is added."
)
LISTS = {"gotchas": "gotcha", "next-steps": "next step"}
"""The sections that are lists of titled entries, with the noun for one entry."""
FIELDS = {"gotchas": ("symptom", "cause", "correctPath"), "next-steps": ("why", "start", "done")}
"""The fields of a gotcha and of a next step after the title."""
SHORT = ("name", "title", "primaryEcosystem", "packageManager", "workspaceManager", "recommendedEntryFile")
"""The fields that fit in one line."""


class StatePane(RecordPane):
    """A project's state as an outline; `R` does what the status suggests, and shows it first."""

    pane_id: ClassVar[str] = "state"
    title: ClassVar[str] = "State"
    files: ClassVar[tuple[str, ...]] = (".agent-memory/state.json",)
    purpose: ClassVar[str] = "Project status, sent as each session starts."
    empty: ClassVar[str] = (
        "What this repository is, the current work, its traps and next steps, kept for people and agents. Agent "
        "sessions are imported as events, and a recall updates the state from them.\n\n"
        "Press {memory.next|R} to create it from the repository: manifests, README, tree, test commands, git. "
        "No command is run. `memdeck state init` does the same."
    )
    filter_fields: ClassVar[tuple[str, ...]] = ("part", "source")

    def __init__(self) -> None:
        super().__init__()
        self._status: Json | None = None
        """The status as it was last read."""

    def _look(self) -> StateLook | None:
        return None if self.snapshot is None else self.snapshot.of("state", StateLook)

    @property
    def next_call(self) -> str:
        """The operation that the status suggests now; to make the state where there is none."""
        look, status = self._look(), self._status
        if status is not None:
            return str(status["next"]["command"] or "memdeck state recall").removeprefix("memdeck ")
        broken = look is not None and look.problem is not None and look.problem.code != "state.missing"
        return "state validate" if broken else "state init"

    def records(self, snapshot: Snapshot, now: datetime) -> Iterator[Any]:
        """Yield all rows. Unreadable parts are left out, and the first row says why; none where nothing exists yet."""
        look, status = snapshot.of("state", StateLook), None
        problem = None if look is None else look.problem
        if look is not None and problem is None:
            with suppress(MemdeckError):
                status = status_of(look.memory, now, work=True)
        self._status = status
        missing = problem is not None and problem.code == "state.missing"
        if look is None or (missing and not (look.events or look.sources or look.memory.checkpoint_ids)):
            return
        if problem is not None:
            yield Record("state#status", problem.message, sign="alert", tone="alert", values={"part": "status"},
                         words=problem.hint)  # fmt: skip
        elif status is not None:
            waits = bool(status["next"]["command"])
            yield Record("state#status", self._says(status), sign="right" if waits else "check",
                         tone="accent" if waits else "good",
                         values={"part": "status"}, thing=status)  # fmt: skip
        if look.bundle is not None:
            yield from _bundle(look.bundle)
        waiting = {event["id"] for event in look.backlog}
        recalled = [event for event in reversed(look.events) if event["id"] not in waiting]
        for title, rows in (
            ("NEW FROM SESSIONS", [_event(one, "backlog") for one in reversed(look.backlog)]),
            ("HISTORY", [_event(one, "history") for one in recalled]),
            ("SESSIONS COME FROM", [_source(one) for one in look.sources]),
        ):
            if rows:
                yield Heading(title, f"{len(rows):,}")
                yield from rows

    def remark(self, snapshot: Snapshot, now: datetime) -> str:  # noqa: ARG002
        """Return how many events wait for a recall."""
        look = snapshot.of("state", StateLook)
        return f"{len(look.backlog):,} to recall" if look is not None and look.backlog else ""

    @classmethod
    def badge(cls, snapshot: Snapshot, now: datetime) -> Badge:  # noqa: ARG003
        """Return no number: events are not entries. An unreadable state or a failed source needs attention."""
        look = snapshot.of("state", StateLook)
        if look is None or (look.bundle is None and not look.events):
            return Badge(None, look is not None and look.problem is not None and look.problem.code != "state.missing")
        failed = any(source["lastSyncStatus"] == "failed" for source in look.sources)
        return Badge(None, look.problem is not None or failed)

    def told(self, item: Record) -> Mapping[str, Any]:
        """Return a section, an entry, an event or a source by its fields; the status in words."""
        part, thing, section = item.values["part"], item.thing, item.values.get("section", "")
        if part == "status":
            return {"": item.words} if thing is None else self._standing(thing)
        if isinstance(thing, list):
            return {"": "\n".join(f"- {one.get('title') or one.get('label')}" for one in thing) or "None yet."}
        if part == "sources":
            synced = f"{thing['lastSyncStatus']}, {thing['lastImportedCount'] or 0} new"
            return {"folder": thing["path"], "type": thing["type"], "last sync": thing["lastSyncedAt"] or "never",
                    "result": thing["lastSyncError"] or synced}  # fmt: skip
        if part in ("backlog", "history"):
            told = "" if item.title == thing["summary"] else thing["summary"]
            file = thing["sourceRef"] if item.about else ""
            return {"": told, **thing["signals"], "from": item.about or "memdeck", "at": thing["createdAt"],
                    "file": file, "event": thing["id"]}  # fmt: skip
        fields = FIELDS.get(section) or sorted(thing, key=lambda key: key != "summary")
        return {LABELS.get(key, key): thing[key] for key in fields}

    def _says(self, status: Json) -> str:
        """Return what to do next, or that nothing is to be done, in one line."""
        verb = self.next_call.removeprefix("state ").partition(" ")[0]
        if status["next"]["command"]:
            return with_keys(DOES[verb].format(new=plural(status["unrecalled"]["all"], "new event")), self.app)
        return (
            "Up to date"
            if status["sources"]
            else with_keys("Up to date; {entry.add|a} imports agents' sessions", self.app)
        )

    def _standing(self, status: Json) -> Json:
        work, drift = status["work"], status["drift"]
        changed = ", ".join(TITLES[one] for one in drift["changedSections"])
        waits = status["next"]["command"]
        why = operation_of(self.next_call.partition(" --")[0]).sentence if waits else NOTHING_TO_DO
        removes = status["retention"]["events"] or status["retention"]["checkpoints"] or status["retention"]["expired"]
        return {
            "": with_keys(f"{{memory.next|R}}: {why}" if waits else why, self.app),
            "branch": work and (work["branch"] or "none"),
            "last commits": work["commits"] if work else "",
            "updated": status["generatedAt"],
            "last recall": status["lastRecalledAt"] or "",
            "events": f"{status['events']['all']:,}, {status['unrecalled']['all']:,} to recall",
            "checkpoints": f"{status['checkpoints']:,}",
            "edited since": (drift["problem"] and Piece(drift["problem"], "warn")) or changed,
            "to archive": status["retention"]["text"] if removes else "",
        }

    # What can be done

    def adding(self, now: datetime) -> FormPlan | None:  # noqa: ARG002
        """Return the form of a gotcha or next step if the cursor is in that section, else of a source of sessions."""
        look, item = self._look(), self.current()
        if look is None or look.bundle is None:
            return None
        section = "" if item is None else item.values.get("section", "")
        if section not in LISTS:
            return form_of("state add", "New source of sessions", {"path": "~/.claude"}, focus="path")
        titles = {str(one["title"]).casefold() for one in look.bundle[KEYS[section]]}

        def build(_changed: dict[str, str], values: dict[str, str], now: datetime) -> Build:  # noqa: ARG001
            new = {key: text.strip() for key, text in values.items()}
            return _edit(section, [(None, new)], f"added {new['title']}", f"state#{section}:{new['title']}")

        def check(values: dict[str, str]) -> dict[str, str]:
            taken = values["title"].strip().casefold() in titles
            return {"title": f"a {LISTS[section]} with that title exists"} if taken else {}

        blank = dict.fromkeys(("title", *FIELDS[section]), "")
        return FormPlan(f"New {LISTS[section]}", _fields(blank), build, "state.edit", focus="title", check=check)

    def editing(self, item: Record, now: datetime) -> FormPlan | None:  # noqa: ARG002
        """Return the form of a gotcha, a next step, or a section of plain values; `E` edits the others as JSON."""
        section, base = item.values.get("section", ""), item.thing
        if not section or not isinstance(base, dict):
            return None
        fields = _fields({key: value for key, value in base.items() if _has_form(value)})

        def build(changed: dict[str, str], _values: dict[str, str], now: datetime) -> Build:  # noqa: ARG001
            new = {
                key: text.strip().split("\n") if isinstance(base[key], list) else text.strip()
                for key, text in changed.items()
            }
            ref = f"state#{section}:{new.get('title', base['title'])}" if section in LISTS else item.ref
            return _edit(section, [(base, {**base, **new})], f"edited {item.title}", ref)

        return FormPlan(f"Edit {item.title}", fields, build, "state.edit") if fields else None

    def removing(self, items: Sequence[Record]) -> Removal | None:
        """Remove gotchas or next steps of one section, all in one change."""
        sections = {item.values.get("section", "") for item in items}
        section = next(iter(sections), "")
        if len(sections) != 1 or section not in LISTS or any(isinstance(item.thing, list) for item in items):
            return None
        titles = [item.title for item in items]
        words = f"removed {titles[0] if len(titles) == 1 else f'{len(titles)} {section}'}"
        gone = [(item.thing, None) for item in items]
        return Removal(*question(LISTS[section], titles), lambda _now: _edit(section, gone, words), "state.edit")

    def source_text(self, item: Record) -> str | None:
        """Return a section or an entry of it as JSON."""
        return canonical(item.thing) + "\n" if item.values.get("section") else None

    def from_source(self, item: Record, text: str, now: datetime) -> Build | None:  # noqa: ARG002
        """Return the edit of a section or of one of its entries by JSON; other rows are not edited."""
        section = item.values.get("section", "")
        return _edit(section, [(item.thing, text)], f"edited {item.title}") if section else None


def _bundle(bundle: Json) -> Iterator[Any]:
    for name, title in TITLES.items():
        if name in HEADINGS:
            yield Heading(HEADINGS[name])
        value = bundle[KEYS[name]]
        mark, folds = canonical(value), name in LISTS and bool(value)
        values = {"part": "bundle", "section": name}
        about = _about(name, value)
        yield Record(f"state#{name}", title, about, values=values, words=mark, folds=folds, mark=mark, thing=value)
        for number, one in enumerate(value if folds else (), 1):
            words, text = str(one["title"]), canonical(one)
            named = {**values, "ref": f"state#{LISTS[name].replace(' ', '-')}-{number}"}
            yield Record(f"state#{name}:{words}", words, depth=1, values=named, words=text, mark=text, thing=one)


def _about(name: str, value: Any) -> str:
    """Return what a section holds, in a few words."""
    if name in LISTS:
        return f"{len(value):,}" if value else "none"
    if name == "validation-commands":
        return ", ".join(" ".join(one["command"]) for one in value) or "none"
    if name == "project-map":
        parts = [str(one["name"]) for one in value["modules"]]
        return f"{plural(len(parts), 'part')}: {', '.join(parts)}" if parts else "none"
    summary = str(value["summary"])
    return "not set" if summary.startswith(NO_FOCUS) else summary


_DID = {"init": "Created from the repository", "update": "Updated from the repository"}


def _event(event: Json, part: str) -> Record:
    imported, title = event["kind"] == "imported_session", str(event["summary"])
    source = f"{'imports' if imported else 'local'} {event['sourceId']}"
    if not imported:
        # Of `changed gotchas, next-steps: 1 gotcha added` the part that says what was added.
        verb = event["sourceRef"].partition(":")[2]
        title = f"{verb.capitalize()}: {title.partition(': ')[2] or title.removeprefix(f'{verb} ')}"
        title = _DID.get(verb, title)
    signals = " ".join(text for texts in event["signals"].values() for text in texts)
    values = {"part": part, "source": source, "event": event["id"]}
    return Record(f"state#{event['id']}", title, event["sourceId"] if imported else "", event["createdAt"],
                  values=values, words=signals, mark=part, thing=event)  # fmt: skip


def _source(one: Json) -> Record:
    failed = one["lastSyncStatus"] == "failed"
    values = {"part": "sources", "source": str(one["id"])}
    shown: dict[str, Any] = {"sign": "alert", "tone": "alert"} if failed else {}
    ref, title = f"state#source:{one['id']}", str(one["id"])
    return Record(ref, title, str(one.get("path", "")), values=values, mark=canonical(one), thing=one, **shown)


def _has_form(value: Any) -> bool:
    """Return whether a value has a field: a text, or texts of one line each."""
    return isinstance(value, str) or (
        isinstance(value, list) and all(isinstance(one, str) and "\n" not in one for one in value)
    )


def _fields(base: Mapping[str, Any]) -> list[FieldSpec]:
    """Return the fields of texts; a list of texts has a line for each."""
    return [
        FieldSpec(
            key,
            plain_label(key),
            "text" if key in SHORT else "multiline",
            "\n".join(value) if isinstance(value, list) else str(value),
            placeholder="one per line" if isinstance(value, list) else "",
            required=not isinstance(value, list),
        )
        for key, value in base.items()
    ]


def _edit(section: str, changes: Sequence[tuple[Any, Any]], words: str, ref: str | None = None) -> Build:
    """Return the change of a section as it is at the time of writing: of entries, or of the whole section.

    Each of `changes` is an entry (or the section) as the user saw it, None for a new one, and what replaces it, None
    for nothing; a text is read as JSON. ConflictError where one was changed since, which a form merges field by field.
    """

    def do(system: ProjectState, actor: str, now: datetime) -> Outcome:
        before = current = system.store.memory().bundle[KEYS[section]]
        for seen, wanted in changes:
            new = _json(wanted) if isinstance(wanted, str) else wanted
            if isinstance(current, list) and not isinstance(seen, list) and (seen is None or seen in current):
                current = [new if one == seen else one for one in current] if seen is not None else [*current, new]
                current = [one for one in current if one is not None]
            elif current == seen:
                current = new
            else:
                title = seen["title"] if section in LISTS and isinstance(seen, dict) else TITLES[section]
                raise ConflictError("document.conflict", f"{title} changed meanwhile", "look at it again")
        done: Outcome = system.edit(section, current, before, actor=actor, now=now)
        return Outcome(done.change, words, ref)

    return act("state", ProjectState, do)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError("state.json", f"this is not JSON: {error}", "correct it and try again") from None
