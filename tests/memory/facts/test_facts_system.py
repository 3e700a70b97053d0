"""Facts as a system of a workspace: beside the others, in check, maintenance, search, status and the change log."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.errors import NotFoundError
from memory.facts import FactStore
from memory.facts.system import Facts
from memory.history.undo import undo_in
from memory.search.query import read_query
from memory.systems import check_all, maintain_all, searcher_of
from memory.systems.acts import act
from memory.workspace import Workspace
from tests.memory.facts.conftest import NOW, line


def both(tmp_path: Path) -> Workspace:
    """Return a workspace that holds memory files and facts."""
    place, _ = Workspace.init(
        tmp_path / "both", NOW, actor="cli", machine_zone=UTC, state_home=tmp_path / "other-state"
    )
    place.system("facts").store.store("Uses PostgreSQL", tags=["infra"], actor="cli", now=NOW)
    return place


def test_check_names_file_and_line(store: FactStore, workspace: Workspace, file: Path) -> None:
    """Lines that are no facts, ids that stand twice, secrets, odd values and near duplicates are told by line."""
    key = "sk-" + "abc123def456"
    odd = json.dumps({"id": "m-4", "text": "x" * 501, "scope": "team", "tags": list("abcdef"), "ts": "soon"})
    file.write_bytes(
        line("m-1", "one two three four")
        + b"torn {\n"
        + line("m-1", "another text of words")
        + line("m-3", f"key {key}")
        + odd.encode()
        + b"\n"
        + line("m-5", "")
        + line("m-6", "four three two one")
    )
    (file.parent / "memories.seq").write_text("2\n")
    found = [(one.level, one.line, one.code) for one in workspace.system("facts").check()]
    assert found == [
        ("error", 2, "fact.unread"),
        ("error", 3, "fact.twice"),
        ("warning", 4, "fact.secret"),
        ("note", 5, "fact.long"),
        ("note", 5, "fact.scope"),
        ("note", 5, "fact.tags"),
        ("warning", 5, "fact.time"),
        ("warning", 6, "fact.text"),
        ("warning", 1, "fact.mark"),
    ]
    assert not any(key in one.message for one in workspace.system("facts").check())
    assert [one.id for one in store.read().facts].count("m-1") == 2
    assert check_all(workspace, [".aegis/memory/memories.seq"])[0].code == "fact.mark"


def test_settings_that_are_wrong_are_a_problem(workspace: Workspace, file: Path) -> None:
    """`check` names the settings' file; the facts are looked at all the same."""
    file.write_bytes(b"torn\n")
    (workspace.root / ".aegis/agent.json").write_text("{")
    assert {one.code for one in check_all(workspace)} == {"facts.settings", "fact.unread"}
    assert workspace.system("facts").look().settings.max_total == 500


def test_maintenance_prunes(workspace: Workspace, store: FactStore, file: Path, now: datetime) -> None:
    """`--maintain` lets the oldest go over max_total and counts; a dry run writes nothing; twice does nothing more."""
    (workspace.root / ".aegis/agent.json").write_text('{"memory": {"max_total": 2}}')
    file.write_bytes(b"".join(line(f"m-{number}", f"fact {number}") for number in range(1, 6)))
    before = file.read_bytes()
    dry = maintain_all(workspace, now, actor="maintain", dry_run=True)
    assert file.read_bytes() == before
    report = maintain_all(workspace, now, actor="maintain")
    assert [rule.json() for rule in report.rules] == [rule.json() for rule in dry.rules]
    rule = report.rules[0]
    assert (rule.rule, rule.before, rule.kept, rule.archived, rule.cleared) == ("prune-facts", 5, 2, 0, 3)
    assert [move.ref for move in rule.moves] == ["facts#m-1", "facts#m-2", "facts#m-3"]
    assert [fact.id for fact in store.read().facts] == ["m-4", "m-5"]
    assert maintain_all(workspace, now, actor="maintain").moved == 0
    undo_in(workspace.together, actor="maintain", now=now)
    assert file.read_bytes() == before


def test_the_index_finds_facts_and_follows_them(tmp_path: Path) -> None:
    """A system without sources is indexed by its records; `tag:` and `in:` narrow, and what is deleted goes."""
    place = both(tmp_path)
    searcher = searcher_of(place)
    for query in ("postgresql", "postgresql tag:infra", "in:facts postgresql"):
        assert searcher.update()
        answer = searcher.ask(read_query(query, lambda _: None), 0)
        assert answer is not None
        assert [hit.entry.ref for hit in answer.hits] == ["facts#m-1"], query
    place.system("facts").store.delete(["m-1"], actor="human", now=NOW)
    assert searcher.update()
    answer = searcher.ask(read_query("postgresql", lambda _: None), 0)
    assert answer is not None
    assert answer.hits == ()
    searcher.close()


def test_the_pane_removes_facts_in_one_change(tmp_path: Path) -> None:
    """Removing gives the outcome that the application shows, facts that are gone are an error, and undo restores."""
    place = both(tmp_path)
    place.system("facts").store.store("new", actor="human", now=NOW)
    facts = place.system("facts").store.read().facts
    gone = act("facts", Facts, lambda system, actor, now: system.remove(facts, actor=actor, now=now))
    assert gone.run(place, actor="human", now=NOW).summary == "deleted 2 facts"
    with pytest.raises(NotFoundError):
        gone.run(place, actor="human", now=NOW)
    undo_in(place.together, actor="human", now=NOW)
    assert place.system("facts").store.read().facts == facts
