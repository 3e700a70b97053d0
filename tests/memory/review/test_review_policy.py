"""The rules for agents, and what counts as a person's text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from memory.document import parse
from memory.errors import BlockedError, ConfigError, MemdeckError, NotFoundError, RefusedError, UsageError
from memory.files.edit import Edit
from memory.files.snapshot import Snapshot
from memory.files.tasks import edits as task_edits
from memory.files.tasks import operations as task_operations
from memory.files.versions.restore import restore_entry
from memory.history.undo import revert_in
from memory.maintenance.run import maintain
from memory.review.inbox import Inbox
from memory.review.policy import decide, read_policy, set_rule
from memory.systems.entries import EntryAccess
from memory.workspace import Workspace
from tests.desks import AGENT, NOW, open_desk, with_state
from tests.memory_files import contents

from .conftest import allowed, held

TASK = "Deploy v2.1"


def test_a_new_entry_is_made_at_once(workspace: Workspace) -> None:
    """An agent adds without asking, and changes and removes what it added itself."""
    ref = allowed(workspace, lambda look: task_operations.add_task(look, "Mine", now=NOW)).ref
    assert ref is not None
    allowed(workspace, lambda look: task_edits.edit_task(look, ref, set={"notes": "again"}, now=NOW))
    allowed(workspace, lambda look: task_operations.remove_task(look, ref, now=NOW))
    assert Inbox(workspace.together).count() == 0


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ({"title": "Deploy v3"}, "rewrite"),
        ({"due": "2024-02-01"}, "rewrite"),
        ({"tags": ""}, "remove"),
        ({"priority": "LOW"}, "rewrite"),
    ],
)
def test_what_a_person_wrote_is_not_rewritten(workspace: Workspace, values: dict[str, str], kind: str) -> None:
    """Each field that had another value waits for the person, and no byte of the files changes meanwhile."""
    before = contents(workspace.root)
    error = held(workspace, lambda look: task_edits.edit_task(look, TASK, set=values, now=NOW))
    assert error.details["kinds"] == [kind]
    assert contents(workspace.root) == before


def test_a_persons_task_goes_on_at_once(workspace: Workspace) -> None:
    """Starting and finishing a task, its progress and a field that it did not have are no rewriting."""
    allowed(workspace, lambda look: task_edits.edit_task(look, TASK, set={"notes": "seen"}, now=NOW))
    allowed(workspace, lambda look: task_operations.start_task(look, TASK, now=NOW))
    allowed(workspace, lambda look: task_operations.progress_task(look, TASK, 40, now=NOW))
    allowed(workspace, lambda look: task_operations.progress_task(look, TASK, 60, now=NOW))
    allowed(workspace, lambda look: task_operations.done_task(look, TASK, outcome="live", now=NOW))
    held(workspace, lambda look: task_edits.edit_task(look, TASK, set={"outcome": "it failed"}, now=NOW))


def test_a_recurring_task_goes_on_when_it_is_done(workspace: Workspace) -> None:
    """Its next date comes with the completed copy; another date alone is rewritten."""
    made = workspace.change(
        "add",
        lambda look: task_operations.add_task(look, "Report", due="2024-01-15 09:00", recurring="0 9 * * 1", now=NOW),
        actor="human",
        now=NOW,
    )
    ref = made.ref
    assert ref is not None
    held(workspace, lambda look: task_edits.edit_task(look, ref, set={"due": "2024-02-05 09:00"}, now=NOW))
    allowed(workspace, lambda look: task_operations.done_task(look, ref, outcome="sent", now=NOW))


def test_an_entry_that_a_person_changed_is_the_persons(workspace: Workspace) -> None:
    """What agents added is theirs only as long as no person changes it; only a rule for all kinds is about it."""
    ref = allowed(workspace, lambda look: task_operations.add_task(look, "Mine", now=NOW)).ref
    assert ref is not None
    allowed(workspace, lambda look: task_edits.edit_task(look, ref, set={"notes": "b"}, now=NOW), actor="agent:other")
    _rule(workspace, "agent:*", "rewrite", "deny")
    allowed(workspace, lambda look: task_edits.edit_task(look, ref, set={"notes": "c"}, now=NOW))
    _rule(workspace, "agent:*", "*", "review")
    held(workspace, lambda look: task_edits.edit_task(look, ref, set={"notes": "d"}, now=NOW))
    set_rule(workspace.state, "agent:*", "*", None, now=NOW)
    workspace.change(
        "edit",
        lambda look: task_edits.edit_task(look, ref, set={"notes": "by hand"}, now=NOW),
        actor="human",
        now=NOW,
    )
    assert held(workspace, lambda look: task_operations.remove_task(look, ref, now=NOW)).details["kinds"] == ["remove"]


def test_what_an_agent_only_moved_stays_the_persons(workspace: Workspace) -> None:
    """An archived entry of a person that an agent restored is not the agent's to remove."""
    workspace.notice(NOW)
    allowed(workspace, lambda look: restore_entry(look, "Long gone", now=NOW))
    held(workspace, lambda look: task_operations.remove_task(look, "Long gone", now=NOW))


@pytest.mark.parametrize("left_out", [b"", b"- due: 2024-01-14\n"])
def test_only_a_whole_copy_is_a_move(workspace: Workspace, left_out: bytes) -> None:
    """A text whose every line is elsewhere afterwards is moved; where the copy lacks one, it is removed."""

    def moved(look: Snapshot) -> Edit:
        data = look.document("tasks.md").dump()
        task = b"### [HIGH] Deploy" + data.partition(b"### [HIGH] Deploy")[2].partition(b"\n###")[0] + b"\n"
        assert left_out in task
        copy = task.replace(left_out, b"") if left_out else task
        document = parse(data.replace(task, b"").replace(b"## Completed\n", b"## Completed\n\n" + copy))
        return Edit({"tasks.md": document}, "moved")

    if not left_out:
        allowed(workspace, moved)
    else:
        assert held(workspace, moved).details["kinds"] in (["remove"], ["rewrite"])


def _rule(workspace: Workspace, actor: str, kind: str, decision: str) -> None:
    set_rule(workspace.state, actor, kind, decision, now=NOW)


WAYS: dict[str, Callable[[Workspace], object]] = {
    "remove": lambda one: one.change(
        "x", lambda look: task_operations.remove_task(look, TASK, now=NOW), actor=AGENT, now=NOW
    ),
    "many at once": lambda one: one.change(
        "x", lambda look: task_operations.remove_task(look, [TASK, "Write the report"], now=NOW), actor=AGENT, now=NOW
    ),
    "the whole file": lambda one: one.save(
        "x",
        "tasks.md",
        one.snapshot().document("tasks.md"),
        one.snapshot().document("tasks.md").remove_entry(0, 0),
        actor=AGENT,
        now=NOW,
    ),
    "undo of a person's change": lambda one: revert_in(one.together, _person_adds(one), actor=AGENT, now=NOW),
    "config": lambda one: _desk(one).edit(*_read(one, "config", "maxJournalEntries"), set={"value": "1"}, actor=AGENT),
    "knowledge": lambda one: _desk(one).remove(*_read(one, "knowledge", "CI takes 8 minutes"), actor=AGENT),
    "facts": lambda one: _desk(one).remove(*_read(one, "facts", "User prefers tabs"), actor=AGENT),
    "typed": lambda one: _desk(one).edit(*_read(one, "typed", "Deploys"), text="Always.", actor=AGENT),
    "state": lambda one: _desk(one).edit(
        *_read(one, "state", None, {"section": "current-focus"}), set={"summary": "rest"}, actor=AGENT
    ),
}


def _person_adds(workspace: Workspace) -> str:
    made = workspace.change(
        "add", lambda look: task_operations.add_task(look, "A person's", now=NOW), actor="human", now=NOW
    )
    return made.change.id


def _desk(workspace: Workspace) -> EntryAccess:
    return EntryAccess(workspace, lambda: NOW)


def _read(workspace: Workspace, kind: str, title: str | None, filters: dict[str, str] | None = None) -> tuple[str, str]:
    found = _desk(workspace).read(kind=kind, filter=filters or {"title": title})["entries"]
    return found[0]["ref"], found[0]["hash"]


@pytest.mark.parametrize("way", WAYS)
def test_no_way_leads_around_the_rules(workspace: Workspace, tmp_path: Path, way: str) -> None:
    """Whatever an agent calls to remove or rewrite a person's text, no byte changes and a proposal waits."""
    desk = open_desk(workspace.root, tmp_path / "records")
    with_state(desk)
    if way in ("undo of a person's change", "an older version"):
        # What these take back is a change that is made first.
        with pytest.raises(BlockedError, match=r"is pending"):
            WAYS[way](workspace)
        assert Inbox(workspace.together).count() == 1
        return
    before = contents(workspace.root)
    answer = _told(WAYS[way], workspace)
    assert set(answer) >= {"proposal"}
    assert contents(workspace.root) == before
    assert Inbox(workspace.together).count() == 1
    desk.close()


def _told(way: Callable[[Workspace], object], workspace: Workspace) -> dict[str, object]:
    """Return what an agent is told, whichever face it came through."""
    try:
        answer = way(workspace)
    except BlockedError as error:
        return dict(error.details)
    assert isinstance(answer, dict)
    return answer


def test_maintenance_in_an_agents_name_moves_and_rewrites_nothing(workspace: Workspace) -> None:
    """What the rules move into the archive is moved for an agent too: all of it stays."""
    report = maintain(workspace, NOW.replace(year=2025), actor=AGENT)
    assert report.balanced
    assert Inbox(workspace.together).count() == 0


def test_another_heading_is_a_rewritten_text(workspace: Workspace) -> None:
    """To call a section by another name waits, although none of its entries changes."""

    def renamed(look: Snapshot) -> Edit:
        document = look.document("knowledge.md")
        section = document.section(0).with_title("Rumours")
        return Edit({"knowledge.md": document.with_section(0, section)}, "renamed")

    assert held(workspace, renamed).details["kinds"] == ["rewrite"]


def test_deny_refuses_and_apply_lets_go(workspace: Workspace) -> None:
    """The most exact rule counts: one for an agent before one for all, one for a kind before one for all kinds."""
    _rule(workspace, "agent:*", "*", "deny")
    with pytest.raises(RefusedError, match="does not allow") as caught:
        workspace.change("x", lambda look: task_operations.add_task(look, "New", now=NOW), actor=AGENT, now=NOW)
    assert caught.value.code == "review.denied"
    _rule(workspace, AGENT, "*", "review")
    held(workspace, lambda look: task_operations.add_task(look, "New", now=NOW))
    _rule(workspace, AGENT, "add", "apply")
    allowed(workspace, lambda look: task_operations.add_task(look, "New", now=NOW))
    assert decide(read_policy(workspace.state), "agent:other", "add") == "deny"
    workspace.change("x", lambda look: task_operations.add_task(look, "By hand", now=NOW), actor="human", now=NOW)


def test_rules_are_for_agents(workspace: Workspace) -> None:
    """None can name the person or a script, or say what is no kind and no decision."""
    for actor, kind, decision in (
        ("human", "*", "deny"),
        ("nightly", "*", "deny"),
        ("agent:a", "all", "deny"),
        ("agent:a", "*", "maybe"),
    ):
        with pytest.raises(UsageError, match=r".") as caught:
            set_rule(workspace.state, actor, kind, decision, now=NOW)
        assert caught.value.code == "review.rule"
    with pytest.raises(NotFoundError):
        set_rule(workspace.state, "agent:b", "*", None, now=NOW)
    allowed(workspace, lambda look: task_operations.remove_task(look, TASK, now=NOW), actor="script")


def test_damaged_rules_let_no_agent_through(workspace: Workspace) -> None:
    """A file that cannot be read stops agents, with its name, and nobody else."""
    _rule(workspace, "agent:*", "add", "review")
    assert workspace.state is not None
    path = workspace.state.folder.path / "review" / "policy.json"
    path.write_bytes(b"{nothing")
    with pytest.raises(ConfigError) as caught:
        workspace.change("x", lambda look: task_operations.add_task(look, "New", now=NOW), actor=AGENT, now=NOW)
    assert (caught.value.code, caught.value.details["file"]) == ("review.policy", str(path))
    workspace.change("x", lambda look: task_operations.add_task(look, "By hand", now=NOW), actor="human", now=NOW)


@pytest.mark.parametrize("name", ["Agent:tester", "AGENT:TESTER", "agent:tester2"])
def test_another_spelling_is_an_agent_still(workspace: Workspace, name: str) -> None:
    """Who writes the beginning of its name in capitals is an agent all the same."""
    with pytest.raises(MemdeckError, match="is pending"):
        workspace.change("x", lambda look: task_operations.remove_task(look, TASK, now=NOW), actor=name, now=NOW)
