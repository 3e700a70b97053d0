"""Project state as entries: the parts of the bundle can be edited, its events and archive are read-only."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from typing import Any

from memory.errors import NotFoundError, RefusedError, UsageError
from memory.search.records import Record
from memory.state.bundles import edit, key_of
from memory.state.files.model import NOT_SAID
from memory.state.system import ProjectState
from memory.systems import system_of
from memory.systems.entry_kinds import (
    Changes,
    Check,
    EntryCall,
    EntryKind,
    Made,
    item_of,
    list_of,
    passes,
    refuse_unknown,
    text_of,
)

_NUMBERED = re.compile(r"state#(gotcha|next-step)-(\d{1,6})")
_WHOLE = ("project", "project-map", "current-focus")
_TEXTS = {"gotchas": ("title", "symptom", "cause", "correctPath"), "next-steps": ("title", "why", "start", "done")}
"""The lists that take entries, and the fields of these."""
_MAIN = {"gotchas": "cause", "next-steps": "start"}
"""The field of an entry that takes its text when it is added, and what is appended later."""


class StateParts:
    """Entries of the kind `state`: the parts of the project state, which can be edited, and its events."""

    compact = False
    filters = ("section",)

    def find(self, call: EntryCall, ref: str) -> Record:
        """Return the record of a part or an event."""
        for record in _system(call).records():
            if record.ref == ref:
                return record
        raise NotFoundError(
            "state.not_found", f"the project state has no entry with the ref {ref[:60]!r}", "list state"
        )

    def list(self, call: EntryCall, filter: Mapping[str, Any]) -> Iterator[Record]:  # noqa: A002
        """Yield the parts, then the events, the newest first; archived ones if `section` selects them."""
        rest = dict(filter)
        section = str(rest.pop("section", "")).casefold()
        parts = (*_TEXTS, *_WHOLE)
        if section and section not in (*parts, "archived", "all"):
            known = f"use {', '.join(parts)} or all"
            raise UsageError("state.section", f"there is no section {section[:40]!r}", known)
        begin = f"state#{section.removesuffix('s')}" if section in parts else ""
        for record in _system(call).records():
            chosen = "/archive/" not in record.file or section in ("archived", "all")
            if chosen and (record.ref or "").startswith(begin) and passes(record, rest):
                yield record

    def add(self, call: EntryCall, title: str, fields: Mapping[str, Any], text: str | None) -> Made:
        """Add a gotcha or a next step, as the field `section` says, at the end of its list."""
        section = str(fields.get("section", ""))
        if section not in _TEXTS:
            hint = "add kind=gotchas or kind=next-steps"
            raise UsageError("state.section", f"{section[:40]!r} takes no entries", hint)
        values = {"title": title, **({_MAIN[section]: text.strip()} if text and text.strip() else {}), **fields}
        refuse_unknown(values, ("section", *_TEXTS[section]), section)
        new = {key: text_of(key, values.get(key, NOT_SAID)) for key in _TEXTS[section]}
        before = _system(call).store.memory().bundle[key_of(section)]
        ref = f"state#{section.removesuffix('s')}-{len(before) + 1}"
        return self._write(call, ref, section, before, [*before, new])

    def edit(self, call: EntryCall, ref: str, changes: Changes, check: Check) -> Made:
        """Set fields of a part, or append to its main text; a field that is a list takes a list."""
        if changes.text is not None:
            raise UsageError("entry.arguments", "a part of the project state has no text of its own", "set its fields")
        section, number, before = self._section(call, ref, check)
        value = copy.deepcopy(before)
        part = value if number is None else value[number]
        refuse_unknown(changes.values, tuple(part), ref)
        if changes.append is not None:
            key = _MAIN.get(section, "summary")
            known = part.get(key, "")
            part[key] = changes.append if known in ("", "-", NOT_SAID) else f"{known}; {changes.append}"
        for key, given in changes.values.items():
            texts = isinstance(part[key], list) and all(isinstance(one, str) for one in part[key])
            part[key] = list_of(key, given or []) if texts else given
        return self._write(call, ref, section, before, value)

    def remove(self, call: EntryCall, ref: str, check: Check) -> Made:
        """Remove a gotcha or a next step; the numbers of those after it decrease."""
        section, number, before = self._section(call, ref, check)
        if number is None:
            raise RefusedError("state.fixed", f"{ref} is a part of every project state", "edit it instead")
        return self._write(call, ref, section, before, [*before[:number], *before[number + 1 :]])

    def _section(self, call: EntryCall, ref: str, check: Check) -> tuple[str, int | None, Any]:
        """Return the section of a part, its position in it, and the current value of the section."""
        found, name = _NUMBERED.fullmatch(ref), ref.removeprefix("state#")
        # Read before the check: if the section has another value when it is written, that is a conflict.
        bundle = _system(call).store.memory().bundle
        item = item_of(self.find(call, ref))
        if found is None and name not in _WHOLE:
            raise RefusedError("state.read_only", f"{ref} is history, which is read-only", "edit the state itself")
        check(item)
        section = f"{found[1]}s" if found else name
        return section, int(found[2]) - 1 if found else None, bundle[key_of(section)]

    def _write(self, call: EntryCall, ref: str, section: str, before: Any, value: Any) -> Made:
        """Write a section; ConflictError if it was changed since it was read."""
        done = edit(_system(call).store, section, value, base=before, actor=call.actor, now=call.now)
        there = not isinstance(value, list) or len(value) >= len(before)
        item = item_of(self.find(call, ref)) if there else None
        return Made(item, None if done.change is None else done.change.id, done.summary)


def _system(call: EntryCall) -> ProjectState:
    return system_of(call.workspace, "state", ProjectState)


KINDS: dict[str, EntryKind] = {"state": StateParts()}
"""The kinds of entries of project state."""
