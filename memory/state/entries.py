"""Project state as entries: the parts of the bundle can be edited, its events and archive are read-only."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from typing import Any

from memory.errors import ConflictError, NotFoundError, RefusedError, UsageError
from memory.search.entries import Changes, Check, EntryCall, EntryKind, Made, item_of, list_of, passes, text_of
from memory.search.records import Record
from memory.state.bundles import edit, key_of
from memory.state.files.model import NOT_SAID
from memory.state.files.store import StateStore
from memory.state.system import ProjectState
from memory.systems import system_of

_NUMBERED = re.compile(r"state#(gotcha|next-step)-(\d{1,6})")
_WHOLE = ("project", "project-map", "current-focus")
_MAIN = {"gotchas": "cause", "next-steps": "start"}
"""The field that the text of a new entry fills, as a line of a session does."""
_TEXTS = {"gotchas": ("title", "symptom", "cause", "correctPath"), "next-steps": ("title", "why", "start", "done")}


class StateParts:
    """The parts of the bundle and the events of `.agent-memory`."""

    compact = False
    filters = ("section",)

    def find(self, call: EntryCall, ref: str) -> Record:
        """Return the record of a part or an event."""
        for record in _system(call).records():
            if record.ref == ref:
                return record
        raise NotFoundError("state.not_found", f"nothing in the project state has the ref {ref[:60]!r}", "list state")

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
        values = dict(fields)
        section = str(values.pop("section", ""))
        if section not in _TEXTS:
            raise UsageError(
                "state.section", f"{section[:40]!r} takes no entries", "add kind=gotchas or kind=next-steps"
            )
        if text and text.strip():
            values.setdefault(_MAIN[section], text.strip())
        new = {key: text_of(key, values.pop(key, title if key == "title" else NOT_SAID)) for key in _TEXTS[section]}
        if values:
            raise UsageError(
                "entry.field",
                f"{section} have no field {next(iter(values))[:40]!r}",
                f"use {', '.join(_TEXTS[section][1:])}",
            )
        before = _store(call).memory().bundle[key_of(section)]
        made = self._write(call, section, before, [*before, new])
        return self._told(call, f"state#{section.removesuffix('s')}-{len(before) + 1}", made)

    def edit(self, call: EntryCall, ref: str, changes: Changes, check: Check) -> Made:
        """Set values of a part; lists of texts are passed as lists."""
        if changes.text is not None:
            raise UsageError("entry.arguments", "a part of the project state has no text of its own", "set its fields")
        section, number, before = self._section(call, ref, check)
        value = copy.deepcopy(before)
        part = value if number is None else value[number]
        if changes.append is not None:
            key = _MAIN.get(section, "summary")
            known = part.get(key, "")
            part[key] = changes.append if known in ("", "-", NOT_SAID) else f"{known}; {changes.append}"
        for key, given in changes.values.items():
            if key not in part:
                raise UsageError("entry.field", f"{ref} has no field {key[:40]!r}", f"use {', '.join(part)}")
            if isinstance(part[key], list) and all(isinstance(one, str) for one in part[key]):
                part[key] = [] if given is None else given if isinstance(given, list) else list_of(key, given)
            else:
                part[key] = given
        return self._told(call, ref, self._checked(call, ref, check, section, before, value))

    def remove(self, call: EntryCall, ref: str, check: Check) -> Made:
        """Remove a gotcha or a next step; the numbers of those after it decrease."""
        section, number, before = self._section(call, ref, check)
        if number is None:
            raise RefusedError("state.fixed", f"{ref} is a part of every project state", "edit it instead")
        return self._checked(call, ref, check, section, before, [*before[:number], *before[number + 1 :]])

    def _section(self, call: EntryCall, ref: str, check: Check) -> tuple[str, int | None, Any]:
        """Return the section of a part, its position in it, and the current value of the section."""
        found = _NUMBERED.fullmatch(ref)
        name = ref.removeprefix("state#")
        if found is None and name not in _WHOLE:
            self.find(call, ref)
            raise RefusedError("state.read_only", f"{ref} is history, which is only read", "edit the state itself")
        section = f"{found[1]}s" if found else name
        # The change is based on the value that is checked: a difference under the lock is a conflict.
        bundle = _store(call).memory().bundle
        check(item_of(self.find(call, ref)))
        return section, int(found[2]) - 1 if found else None, bundle[key_of(section)]

    def _checked(self, call: EntryCall, ref: str, check: Check, section: str, before: Any, value: Any) -> Made:
        """Write a section; if it was changed since the check, the part is checked again to report what changed."""
        try:
            return self._write(call, section, before, value)
        except ConflictError:
            check(item_of(self.find(call, ref)))
            raise

    def _write(self, call: EntryCall, section: str, before: Any, value: Any) -> Made:
        done = edit(_store(call), section, value, base=before, actor=call.actor, now=call.now)
        return Made(None, None if done.change is None else done.change.id, done.summary)

    def _told(self, call: EntryCall, ref: str, made: Made) -> Made:
        return Made(item_of(self.find(call, ref)), made.change, made.summary)


def _store(call: EntryCall) -> StateStore:
    return _system(call).store


def _system(call: EntryCall) -> ProjectState:
    return system_of(call.workspace, "state", ProjectState)


KINDS: dict[str, EntryKind] = {"state": StateParts()}
"""The kinds of entries of project state."""
