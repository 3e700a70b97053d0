"""Another program saves an older copy with work of its own in it, at the very place of ours: both are to be had.

Its save stands and is one change from outside. The log names what of ours it took back, `revert` brings that back
beside what it wrote, and so does the next look where config.md says `reapplyUndone: true`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from memory.document import parse
from memory.files import config, monitors
from memory.files.contacts import model as contacts
from memory.files.edit import Edit
from memory.files.journal import edits as journal_edits
from memory.files.knowledge import model as knowledge
from memory.files.snapshot import Snapshot
from memory.files.tasks import edits as task_edits
from memory.history.stale_saves import bring_back_chosen, revert_change, undone_changes
from memory.storage.changes import OUTSIDE
from tests.crash.kill import Tally
from tests.crash.operations import NOW, Place, changed, sample

Build = Callable[[Snapshot], Edit]
Saved = Callable[[bytes], bytes]


def _put(file: str, old: bytes, new: bytes) -> Build:
    """Change some bytes of a file that no verb edits so."""

    def build(snapshot: Snapshot) -> Edit:
        data = snapshot.document(file).dump()
        assert old in data
        return Edit({file: parse(data.replace(old, new, 1))}, "ours")

    return build


def _behind(old: bytes, new: bytes) -> Saved:
    """Put lines of its own behind a line."""
    return _instead(old, old + new)


def _instead(old: bytes, new: bytes) -> Saved:
    def save(data: bytes) -> bytes:
        assert old in data
        return data.replace(old, new, 1)

    return save


def _moved(first: bytes, last: bytes, behind: bytes) -> Saved:
    """Move the entry from its first words up to those of the next one behind a line."""

    def save(data: bytes) -> bytes:
        start = data.index(first)
        end = data.index(last, start + 1)
        rest = data[:start] + data[end:]
        return rest.replace(behind, behind + data[start:end], 1)

    return save


class Case(NamedTuple):
    """A change of ours: the file, what it makes of the bytes (`ours` is there, `gone` is not), and others' saves."""

    file: str
    build: Build
    ours: bytes
    gone: bytes
    saves: dict[str, tuple[Saved, bytes]]


_TASKS = {
    "adds": (_behind(b"## Pending\n", b"### [NORMAL] Theirs\n- created: 2024-01-16 10:00\n"), b"Theirs"),
    "edits": (_instead(b"- assigned: user\n", b"- assigned: theirs\n"), b"- assigned: theirs"),
    "moves": (_moved(b"### [LOW] Update", b"## In Progress", b"## In Progress\n"), b"## In Progress\n### [LOW] Update"),
}
_JOURNAL = {
    "adds": (_behind(b"---\n", b"## 2024-01-16\n### 10:00 \xe2\x80\x94 Theirs\n- other words\n"), b"Theirs"),
    "edits": (_instead(b"- 2 pending tasks found\n", b"- 3 pending tasks found\n"), b"- 3 pending"),
    "moves": (_moved(b"### 10:45", b"### 11:00", b"- Sent progress notification to Telegram\n"), b"### 10:45"),
}
_KNOWLEDGE = {
    "adds": (_behind(b"- Database backup runs at 2 AM daily\n", b"- Theirs is new\n"), b"- Theirs is new"),
    "edits": (_instead(b"- CMS: Contentful\n", b"- CMS: Sanity\n"), b"- CMS: Sanity"),
    "moves": (_moved(b"### Marketing Site", b"## Technical Facts", b"## Project Knowledge\n"), b"### Marketing Site"),
}
_CONTACTS = {
    "adds": (
        _behind(b"| DingTalk Team | channel-ghi789 | webhook | connected |\n", b"| T | c-t | im | on |\n"),
        b"| T |",
    ),
    "edits": (_instead(b"on-call weekdays", b"on-call at night"), b"on-call at night"),
    "moves": (_moved(b"- **Alice**", b"- **Bob**", b"responds within 1 hour\n"), b"- **Alice**"),
}
_PLANS = {
    "adds": (
        _behind(b"## Active Plans\n", b"### Theirs\n- planId: orch-111111\n- status: planning\n\n"),
        b"orch-111111",
    ),
    "edits": (_instead(b"### Marketing Site relaunch\n", b"### Marketing Site relaunch 2\n"), b"relaunch 2"),
    "moves": (_moved(b"### Marketing Site", b"## Nothing", b"## Active Plans\n"), b"## Active Plans\n### Marketing"),
}
_MONITORS = {
    "adds": (_behind(b"## Monitors\n", b"### Theirs\n- type: http\n- url: https://theirs.example\n"), b"### Theirs"),
    "edits": (_instead(b"- lastStatus: healthy (72% used)\n", b"- lastStatus: healthy (80% used)\n"), b"(80% used)"),
    "moves": (_moved(b"### Database Connection", b"### Disk Space", b"(72% used)\n"), b"### Database Connection"),
}
_CONFIG = {
    "adds": (_behind(b"- pruneJournalAfterDays: 30\n", b"- theirs: yes\n"), b"- theirs: yes"),
    "edits": (_instead(b"- priority: normal\n", b"- priority: high\n"), b"- priority: high"),
    "moves": (_moved(b"- maxJournalEntries", b"## Nothing", b"## Memory Maintenance\n"), b"- maxJournalEntries"),
}

CASES: dict[str, Case] = {
    "tasks, add": Case(
        "tasks.md", lambda s: task_edits.add_task(s, "Ours", now=NOW), b"### [NORMAL] Ours\n", b"", _TASKS
    ),
    "tasks, edit": Case(
        "tasks.md",
        lambda s: task_edits.edit_task(s, "First", set={"notes": "ours"}, now=NOW),
        b"notes: ours",
        b"",
        {
            **_TASKS,
            "edits the same": (_behind(b"### [NORMAL] First of all\n", b"- assigned: theirs\n"), b"assigned: theirs"),
        },
    ),
    "tasks, move": Case(
        "tasks.md", lambda s: task_edits.start_task(s, "First", now=NOW), b"- started: 2024-01-16", b"", _TASKS
    ),
    "tasks, remove": Case("tasks.md", lambda s: task_edits.remove_task(s, "First", now=NOW), b"", b"First of", _TASKS),
    "journal, add": Case(
        "journal.md",
        lambda s: journal_edits.add_entry(s, "Ours", ("a line",), now=NOW),
        b"Ours\n- a line",
        b"",
        _JOURNAL,
    ),
    "journal, edit": Case(
        "journal.md",
        lambda s: journal_edits.edit_entry(s, "Monitor Alert", lines=("ours",), now=NOW),
        b"- ours",
        b"",
        _JOURNAL,
    ),
    "knowledge, add": Case(
        "knowledge.md",
        lambda s: knowledge.add_knowledge(s, "Ours is here", section="Technical Facts", now=NOW),
        b"- Ours is here",
        b"",
        _KNOWLEDGE,
    ),
    "knowledge, add to a topic": Case(
        "knowledge.md",
        lambda s: knowledge.add_knowledge(s, "Ours is here", section="Project Knowledge", topic="New", now=NOW),
        b"### New\n- Ours is here",
        b"",
        _KNOWLEDGE,
    ),
    "contacts, add a channel": Case(
        "contacts.md",
        lambda s: contacts.add_contact(s, "channel", {"name": "Ours", "id": "channel-ours"}, now=NOW),
        b"channel-ours",
        b"",
        _CONTACTS,
    ),
    "contacts, add a person": Case(
        "contacts.md",
        lambda s: contacts.add_contact(s, "person", {"name": "Ours", "role": "QA"}, now=NOW),
        b"**Ours**",
        b"",
        _CONTACTS,
    ),
    "plans, edit": Case(
        "orchestration.md",
        _put("orchestration.md", b"- currentPhase: 2\n- progress: 65%", b"- currentPhase: 3\n- progress: 70%"),
        b"- currentPhase: 3\n- progress: 70%",
        b"",
        _PLANS,
    ),
    "plans, add": Case(
        "orchestration.md",
        _put("orchestration.md", b"## Active Plans\n", b"## Active Plans\n### Ours\n- planId: orch-222222\n\n"),
        b"### Ours\n- planId: orch-222222",
        b"",
        _PLANS,
    ),
    "monitors, add": Case(
        "monitors.md",
        lambda s: monitors.add_monitor(
            s,
            "Ours",
            {"type": "command", "command": "true", "interval": "0 * * * *", "threshold": "exit code != 0"},
            now=NOW,
        ),
        b"### Ours",
        b"",
        _MONITORS,
    ),
    "monitors, remove": Case(
        "monitors.md", lambda s: monitors.remove_monitor(s, "API Health", now=NOW), b"", b"### API Health", _MONITORS
    ),
    "config, set": Case(
        "config.md",
        lambda s: config.set_setting(s, "archiveCompletedAfterDays", "14", now=NOW),
        b"archiveCompletedAfterDays: 14",
        b"archiveCompletedAfterDays: 7",
        _CONFIG,
    ),
    "config, add": Case(
        "config.md",
        lambda s: config.set_setting(s, "maintenanceSchedule", "0 2 * * *", now=NOW),
        b"maintenanceSchedule: 0 2 * * *",
        b"",
        _CONFIG,
    ),
}


def stale_beside(top: Path) -> Tally:
    """Let others save what they read before a change of ours, with an addition, an edit or a move of their own."""
    tally = Tally("a stale save with work of its own")
    for name, case in CASES.items():
        for how, (save, mark) in case.saves.items():
            for chosen in (False, True):
                place = Place(top / "beside")
                _saved(tally, place, case, save, mark, f"{name}; the other program {how}", chosen=chosen)
                place.clear()
    return tally


def _saved(tally: Tally, place: Place, case: Case, save: Saved, mark: bytes, where: str, *, chosen: bool) -> None:
    tally.points += 1
    sample(place)
    path = place.shop / ".aiter/memory" / case.file
    if case.file == "orchestration.md":
        path.write_bytes(path.read_bytes() + b"\n## Nothing\n")
    if case.file == "config.md":
        path.write_bytes(path.read_bytes() + b"\n## Nothing\n")
    if chosen:
        changed(place, lambda s: config.set_setting(s, "reapplyUndone", "true", now=NOW))
    place.workspace().notice(NOW)
    old = path.read_bytes()
    changed(place, case.build)
    (ours,) = place.workspace().store.history.list(1)
    tally.expect(_stands(case, path.read_bytes()), f"{where}: ours was not made")
    path.write_bytes(save(old))
    with place.workspace() as workspace:
        workspace.notice(NOW)
        (theirs,) = workspace.store.history.list(1)
        tally.expect(theirs.actor == OUTSIDE, f"{where}: nothing was noted")
        waiting = undone_changes(workspace)
        named = [part.change for one in waiting for part in one.parts]
        tally.expect([one.id for one in waiting] == [theirs.id], f"{where}: waiting is {waiting}")
        tally.expect(set(named) == {ours.id}, f"{where}: it names {named}")
        if chosen and all(one.whole for one in waiting):
            done = bring_back_chosen(workspace, NOW)
            tally.expect(len(done) == 1, f"{where}: {len(done)} changes came back by themselves")
        elif waiting:
            revert_change(workspace, theirs.id, actor="cli", now=NOW)
        after = path.read_bytes()
        tally.expect(_stands(case, after), f"{where}: ours did not come back")
        tally.expect(mark in after, f"{where}: the other program's work is gone")
        tally.expect(undone_changes(workspace) == (), f"{where}: it is offered still")
        entries = [entry.title for _, part in parse(after).all_sections() for entry in part.entries]
        before = [entry.title for _, part in parse(old).all_sections() for entry in part.entries]
        doubled = [one for one in entries if entries.count(one) > max(1, before.count(one))]
        tally.expect(not doubled, f"{where}: {doubled} are there twice")
        tally.expect(workspace.notice(NOW) == 0, f"{where}: noted again")


def _stands(case: Case, data: bytes) -> bool:
    return case.ours in data and not (case.gone and case.gone in data)
