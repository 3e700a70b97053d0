"""What the state pane edits: forms of sections and their entries, new sources, and JSON from an editor.

Each edit of a section is refused if another writer changed the same in the meantime.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memory.errors import ConflictError, NotFoundError, RefusedError, UsageError
from memory.state.files.model import ENTRY_FILES, KEYS, SOURCE_TYPES
from memory.state.sources import add_source
from memory.state.system import ProjectState
from memory.systems.acts import act
from memory.workspace import Outcome
from widgets.input.fields import FieldSpec
from widgets.pane.base import Build, FormPlan, Removal
from widgets.panes.edit_chain import question

from .detail import FIELDS
from .rows import LISTS, EntryRow, SectionRow, entry_ref

if TYPE_CHECKING:
    pass

Json = dict[str, Any]

SIMPLE = {
    "project": (
        ("name", "name"),
        ("summary", "summary"),
        ("primaryEcosystem", "ecosystem"),
        ("packageManager", "packages"),
        ("workspaceManager", "workspaces"),
        ("recommendedEntryFile", "entry file"),
        ("keyPaths", "key paths"),
    ),
    "current-focus": (
        ("summary", "summary"),
        ("currentState", "state"),
        ("knownRisks", "known risks"),
        ("suggestedNextActions", "do next"),
    ),
}
"""The sections that have a form, with their fields and labels."""
MULTILINE = ("summary", "symptom", "cause", "correctPath", "why", "start", "done")


# -- entries of lists -------------------------------------------------------------------------------------------


def new_entry(section: str, bundle: Json) -> FormPlan:
    """The form of a new gotcha or next step; a title that already exists is refused."""
    titles = {str(one["title"]).casefold() for one in bundle[_key(section)]}
    fields = _entry_fields(section, {})

    def build(_changed: dict[str, str], values: dict[str, str], now: datetime) -> Build:  # noqa: ARG001
        new = _entry(section, values)

        def add(entries: list[Json]) -> list[Json]:
            return [*entries, new]

        return _edit(section, add, f"added {LISTS[section]} {new['title']}", entry_ref(section, new["title"]))

    def check(values: dict[str, str]) -> dict[str, str]:
        taken = values["title"].strip().casefold() in titles
        return {"title": f"there is a {LISTS[section]} of that title"} if taken else {}

    return FormPlan(f"New {LISTS[section]}", fields, build, "state.edit", focus="title", check=check)


def edit_entry(item: EntryRow) -> FormPlan:
    """The form of a gotcha or a next step."""
    section, base = item.section, item.value

    def build(_changed: dict[str, str], values: dict[str, str], now: datetime) -> Build:  # noqa: ARG001
        new = {**base, **_entry(section, values)}
        words = f"edited {LISTS[section]} {new['title']}"
        return _edit(section, _replaced(section, base, new), words, entry_ref(section, new["title"]))

    return FormPlan(f"Edit {LISTS[section]}", _entry_fields(section, base), build, "state.edit")


def removal(items: Sequence[EntryRow]) -> Removal | None:
    """Remove gotchas or next steps of one section; None if they are of several sections."""
    if len({item.section for item in items}) != 1:
        return None
    section, gone = items[0].section, [item.value for item in items]

    def build(_now: datetime) -> Build:
        def take(entries: list[Json]) -> list[Json]:
            for one in gone:
                if one not in entries:
                    raise NotFoundError("state.entry.not_found", "somebody else changed or removed it meanwhile")
            return [one for one in entries if one not in gone]

        words = f"removed {LISTS[section]} {gone[0]['title']}" if len(gone) == 1 else f"removed {len(gone)} {section}"
        return _edit(section, take, words)

    return Removal(*question(LISTS[section], [item.title for item in items]), build, "state.edit")


def _entry_fields(section: str, base: Json) -> list[FieldSpec]:
    fields = (("title", "title"), *FIELDS[section])
    return [
        FieldSpec(key, label, "multiline" if key in MULTILINE else "text", str(base.get(key, "")), required=True)
        for key, label in fields
    ]


def _entry(section: str, values: dict[str, str]) -> Json:
    return {key: values[key].strip() for key in ("title", *(key for key, _ in FIELDS[section]))}


def _replaced(section: str, base: Json, new: Json) -> Callable[[list[Json]], list[Json]]:
    """A function that replaces an entry, if it is still as it was when the person began to edit."""

    def replace(entries: list[Json]) -> list[Json]:
        if base in entries:
            place = entries.index(base)
            return [*entries[:place], new, *entries[place + 1 :]]
        if any(one["title"] == base["title"] for one in entries):
            raise ConflictError("document.conflict", f"{base['title']} was changed meanwhile", "look at it again")
        noun = LISTS[section]
        raise NotFoundError("state.entry.not_found", f"the {noun} {base['title']} is not there any more")

    return replace


# -- sections ---------------------------------------------------------------------------------------------------


def edit_section(item: SectionRow) -> FormPlan | None:
    """The form of the project or the current focus; None for the others, whose entries have forms."""
    section, base = item.name, item.value
    if section not in SIMPLE:
        return None
    fields: list[FieldSpec] = []
    for key, label in SIMPLE[section]:
        value = base[key]
        if isinstance(value, list):
            # A value with several lines cannot be edited as one line.
            if not any("\n" in one for one in value):
                fields.append(FieldSpec(key, label, "multiline", "\n".join(value), placeholder="one a line"))
        elif key == "recommendedEntryFile":
            options = tuple(dict.fromkeys((*ENTRY_FILES, value)))
            fields.append(FieldSpec(key, label, "choice", value, options=options))
        else:
            fields.append(FieldSpec(key, label, "multiline" if key in MULTILINE else "text", value, required=True))

    def build(changed: dict[str, str], _values: dict[str, str], now: datetime) -> Build:  # noqa: ARG001
        new = {key: _lines(text) if isinstance(base[key], list) else text.strip() for key, text in changed.items()}

        def put(current: Json) -> Json:
            if any(current[key] != base[key] for key in new):
                raise ConflictError("document.conflict", f"{item.title} was changed meanwhile", "look at it again")
            return {**current, **new}

        return _edit(section, put, f"edited {item.title.lower()}", item.ref)

    return FormPlan(f"Edit {item.title.lower()}", fields, build, "state.edit")


def from_source(item: SectionRow | EntryRow, text: str) -> Build:
    """The edit that replaces a section, or an entry in it, by JSON that a person wrote."""
    section, base = (item.name, item.value) if isinstance(item, SectionRow) else (item.section, item.value)

    def change(current: Any) -> Any:
        new = _json(text)
        if isinstance(item, EntryRow):
            try:
                return _replaced(section, base, new)(current)
            except ConflictError as error:
                raise _stale(error.message) from None
        if current != base:
            raise _stale(f"{item.title} was changed meanwhile")
        return new

    return _edit(section, change, f"edited {item.title}")


def _stale(words: str) -> RefusedError:
    # Not a conflict to resolve field by field: only a person can merge two versions of JSON.
    return RefusedError(
        "state.changed", words, "leave it: your text is in the clipboard then, and E opens what is there"
    )


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError("state.json", f"this is not JSON: {error}", "mend it and try again") from None


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if line.strip()]


def _key(section: str) -> str:
    return KEYS[section]


def _edit(section: str, change: Callable[[Any], Any], words: str, ref: str | None = None) -> Build:
    """Return the build that changes a section as it is at the time of writing."""

    def do(system: ProjectState, actor: str, now: datetime) -> Outcome:
        current = system.store.memory().bundle[_key(section)]
        done: Outcome = system.edit(section, change(current), current, actor=actor, now=now)
        return Outcome(done.change, words, ref)

    return act("state", ProjectState, do)


# -- sources ----------------------------------------------------------------------------------------------------


def new_source() -> FormPlan:
    """The form of a new source of sessions."""
    fields = [
        FieldSpec("type", "type", "choice", SOURCE_TYPES[0], options=SOURCE_TYPES),
        FieldSpec(
            "path",
            "path",
            suggestions=("~/.claude", "~/.codex"),
            placeholder="~/.claude",
            required=True,
            about="The folder of the agent, or one file with a session.",
        ),
        FieldSpec("name", "name", placeholder="by its type and path"),
    ]

    def build(_changed: dict[str, str], values: dict[str, str], now: datetime) -> Build:  # noqa: ARG001

        kind, path, name = values["type"], values["path"].strip(), values["name"].strip() or None

        def do(system: ProjectState, actor: str, at: datetime) -> Outcome:
            folder = str(system.store.root)
            source, change = add_source(
                system.store, kind, path, name=name, home=system.home, folder=folder, actor=actor, now=at
            )
            # Adding a source by hand gives consent to read it.
            system.unattended.take([source], at)
            return Outcome(change, change.summary, f"state#source:{source['id']}")

        return act("state", ProjectState, do)

    return FormPlan("New source of sessions", fields, build, "state.add", focus="path")
