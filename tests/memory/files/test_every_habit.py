"""Ninety habits of writing a field, in each of the eight kinds of files: each is understood or told, none is silent."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import pytest

from memory.files.check import check_files, write_plainly
from memory.files.snapshot import Snapshot
from tests.memory_files import snapshot_of

HABITS = [
    *("- {k}: {v}", "- **{k}:** {v}", "- **{k}**: {v}", "* {k}: {v}", "+ {k}: {v}", "1. {k}: {v}", "2) {k}: {v}"),
    *("- [ ] {k}: {v}", "- [x] {k}: {v}", "-\t{k}: {v}", "-\u00a0{k}: {v}", "-\u3000{k}: {v}", "- {k}\uff1a{v}"),
    *("- {K}: {v}", "- {U}: {v}", "- `{k}`: {v}", "- *{k}*: {v}", "- _{k}_: {v}", "{k}: {v}", "{K}: {v}"),
    *("**{K}:** {v}", "- {k}:{v}", "- {k} = {v}", "-{k}: {v}", "  - {k}: {v}", "\u2022 {k}: {v}", "\u2013 {k}: {v}"),
    *("- {k} : {v}", "- {k}:: {v}", "- ***{k}***: {v}", "- __{k}__: {v}", "* **{K}**: {v}", "> - {k}: {v}"),
    *("> {k}: {v}", '- "{k}": {v}', '"{k}": "{v}",', '{{ "{k}": "{v}" }}', "| {k} | {v} |", "- {k} {v}"),
    *("- {k} -> {v}", "- {k} \u2192 {v}", "@{k}({v})", "#### {k}: {v}", "\t- {k}: {v}", "    {k}: {v}"),
    *("- - {k}: {v}", "1) **{K}** - {v}", "- {k} \u2013 {v}", "- {k} \u2014 {v}", "[{k}:: {v}]", "- [{k}:: {v}]"),
    *("({k}: {v})", "- ({k}: {v})", "<!-- {k}: {v} -->", "```\n{k}: {v}\n```", "```yaml\n- {k}: {v}\n```"),
    *("~~~\n- {k}: {v}\n~~~", "<div>- {k}: {v}</div>", "- \u2705 {k}: {v}", "- ~~{k}: {v}~~", "- {k}; {v}"),
    *("- {k}|{v}", "--{k}={v}", "{k}={v}", "export {k}={v}", ":{k}: {v}", "- :{k}: {v}", "# {k}: {v}"),
    *("- {k}:\n  {v}", "- {k}:\n  - {v}", "{k}:\n- {v}", "- {k}\n  {v}", "**{K}**\n{v}", "###### {k}\n{v}"),
    *("- <b>{k}</b>: {v}", "- [{k}]: {v}", "- #{k} {v}", '- {k}: "{v}"', "- {k}: `{v}`", "- {k}: **{v}**"),
    *("- {k}:\u200b {v}", "\ufeff- {k}: {v}", "- {k}\u200b: {v}", "+ [ ] **{k}**: {v}", "\u2023 {k}: {v}"),
    *("\u25e6 {k}: {v}", "\u00b7 {k}: {v}", "a) {k}: {v}", "i. {k}: {v}"),
]
REMARKS = ("({k}: {v})", "<!-- {k}: {v} -->", "#### {k}: {v}", "###### {k}\n{v}", "# {k}: {v}")
"""Remarks, comments and headings: between the items of a list they are prose, not one of its items."""


class Place(NamedTuple):
    """Where a habit is tried: a field with a value in a file, and what is no field there."""

    file: str
    key: str
    value: str
    text: str
    prose: tuple[str, ...] = ()


DATE, TASK = "2026-02-01", "### [HIGH] Fix\n{}\n"
PLACES = [
    Place("tasks.md", "due", DATE, f"## Pending\n\n{TASK}"),
    Place("archive/tasks-2026-01.md", "due", DATE, f"## Completed\n\n{TASK}"),
    Place("journal.md", "note", DATE, "## 2026-01-15\n\n### 10:30 — Deploy\n{}\n", ("# {k}: {v}",)),
    Place("knowledge.md", "port", "8080", "## Technical Facts\n\n{}\n", REMARKS),
    Place("contacts.md", "bob", "on call", "## People\n\n{}\n", REMARKS),
    Place("orchestration.md", "status", "running", "## Active Plans\n\n### Move\n{}\n"),
    Place("monitors.md", "interval", "*/5 * * * *", "## Monitors\n\n### Disk\n- type: command\n- command: df\n{}\n"),
    Place("config.md", "pruneJournalAfterDays", "60", "## Memory Maintenance\n\n{}\n"),
]


def read(snapshot: Snapshot, place: Place) -> str | None:
    """Return what the list of the file says of the field, or where it is text all that it says."""
    first: Any
    match place.file:
        case "tasks.md":
            first = snapshot.tasks.items
        case "archive/tasks-2026-01.md":
            first = snapshot.archived_tasks()[0].items
        case "journal.md" | "knowledge.md" | "contacts.md":
            parts = (snapshot.journal.entries(), snapshot.knowledge.items, snapshot.contacts.people)
            return json.dumps([one.json() for part in parts for one in part], ensure_ascii=False)
        case "orchestration.md":
            first = snapshot.plans.items
        case "monitors.md":
            first = snapshot.monitors.items
        case _:
            return snapshot.config.get(place.key)
    found: str | None = first[0].json()[place.key] if first else None
    return found


@pytest.mark.parametrize("place", PLACES, ids=[one.file for one in PLACES])
def test_each_habit_is_understood_or_told(place: Place) -> None:
    """The value is in the list, or a line of the entry is a finding; no byte changes, and a fix is made once."""
    silent = []
    key = place.key
    for habit in HABITS:
        line = habit.format(k=key, K=key[0].upper() + key[1:], U=key.upper(), v=place.value)
        data = place.text.format(line).encode()
        snapshot = snapshot_of({place.file: data})
        begins = place.text.partition("{}")[0].count("\n")
        found = [one for one in check_files(snapshot, [place.file]) if one.line > begins - 1 and one.level != "note"]
        if place.value not in (read(snapshot, place) or "") and not found and habit not in place.prose:
            silent.append(line)
        assert snapshot.document(place.file).dump() == data
        plain = write_plainly(snapshot, [place.file]).documents.get(place.file)
        if plain is not None:
            assert write_plainly(snapshot_of({place.file: plain.dump()}), [place.file]).documents == {}
    assert silent == []


def test_there_are_enough() -> None:
    """No habit is there twice."""
    assert len(set(HABITS)) == len(HABITS) >= 80
