"""`memdeck typed` as it is typed: registered agents, pruning, operations, failures, and what doctor says of locks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.app.cli.conftest import HOUSE, Answer
from tests.memory.typed.conftest import put, tree
from tests.patience import PATIENCE

Memdeck = Callable[..., Answer]
NOW = "2026-04-18T12:00:00Z"
LATER = "2026-04-18T12:00:05Z"
AIDEFILE = '# mine\n[memory]\ncompact_after = "200k" # big\ncore_files = ["memory/persona.md"]\n'


@pytest.fixture
def ada(shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A registered agent in the sample workspace, in a home of its own."""
    home = tmp_path / "home"
    (home / ".aide").mkdir(parents=True)
    folder = shop / "agents" / "ada"
    folder.mkdir(parents=True)
    (folder / "Aidefile").write_text(AIDEFILE)
    (home / ".aide" / "config.toml").write_text(f'[[agents]]\nname = "ada"\npath = "{folder}"\n')
    monkeypatch.setenv("HOME", str(home))
    put(folder, "memory/persona.md", "calm\n", days=300)
    put(folder, "memory/episodic/new.md", "new\n", days=1)
    put(folder, "memory/episodic/old.md", "old\n", days=9)
    put(folder, "memory/procedural/skills.md", "skills\n", days=91)
    return folder


def test_prune_dry_run_run_and_undo(memdeck: Memdeck, ada: Path) -> None:
    """All registered agents; the dry run says what the run does; undo brings all of it back."""
    before = tree(ada)
    dry = memdeck("typed", "prune", "--dry-run", "-o", "json", now=NOW).data
    assert tree(ada) == before
    done = memdeck("typed", "prune", "-o", "json", now=NOW).data
    assert (dry["dry_run"], done["dry_run"]) == (True, False)
    assert dry["total"] == done["total"] == {"deleted": 2, "kept": 2, "skipped": 0, "errors": 0, "bytes_freed": 11}
    assert dry["agents"][0]["files"] == done["agents"][0]["files"]
    assert set(before) - set(tree(ada)) == {"memory/episodic/old.md", "memory/procedural/skills.md"}
    assert memdeck("undo", now=LATER).code == 0
    assert tree(ada) == before


def test_changed_folders_wait_for_a_person(memdeck: Memdeck, ada: Path) -> None:
    """Pruning ends with 3 and deletes nothing there, `trust list` shows it, and so does maintenance."""
    put(ada, "docs/old.md", "old\n", days=9)
    (ada / "Aidefile").write_text(AIDEFILE + 'episodic_dir = "docs"\n')
    before = tree(ada)
    for verb in (("typed", "prune"), ("typed", "prune", "--dry-run"), ("typed", "prune", "--agent", "ada")):
        done = memdeck(*verb, now=NOW)
        assert (done.code, "trust.blocked" in done.out) == (3, True)
    assert memdeck("--maintain", "--no-exec", now=NOW).code == 3
    found = memdeck("--maintain", "--no-exec", "-o", "json", now=NOW)
    assert (found.code, [row["role"] for row in found.data["blocked"]]) == (3, ["folders"])
    assert tree(ada) == before
    rows = memdeck("trust", "list", "--blocked", "-o", "json", now=NOW).data["trust"]
    (row,) = [row for row in rows if row["role"] == "folders"]
    assert (row["state"], row["name"], row["file"]) == ("pending", "ada", "agents/ada/Aidefile")
    assert memdeck("trust", "deny", row["id"], now=NOW).code == 0
    assert memdeck("typed", "prune", now=NOW).code == 3
    (ada / "Aidefile").write_text(AIDEFILE + 'episodic_dir = ".git"\n')
    assert (memdeck("typed", "prune", now=NOW).code, tree(ada).keys()) == (1, before.keys())


def test_prune_tells_people_what_it_did(memdeck: Memdeck, ada: Path) -> None:
    """Per agent: deleted, kept, skipped, errors, bytes; what was skipped or failed by name and reason."""
    put(ada, "memory/episodic/held.md", days=9)
    put(ada, "memory/episodic/held.md.lock", "")
    put(ada, "memory/episodic/closed.md", days=9).chmod(0o400)
    found = memdeck("typed", "prune", now=NOW)
    assert found.code == 0
    assert "ada: deleted 2 files (11 B), kept 2, skipped 2, errors 1" in found.out
    assert "skipped: memory/episodic/held.md: locked by an unknown program" in found.out
    assert "error: memory/episodic/closed.md: memory/episodic/closed.md is read-only" in found.out


def test_one_agent_by_name_or_path(memdeck: Memdeck, ada: Path, tmp_path: Path) -> None:
    """--agent takes a name, or the path of a folder with an Aidefile; unknown ones are told with those known."""
    other = tmp_path / "bob"
    other.mkdir()
    (other / "Aidefile").write_text("")
    put(other, "memory/episodic/old.md", days=9)
    assert memdeck("typed", "prune", "--agent", str(other), now=NOW).out.startswith("bob: deleted 1 file")
    assert (ada / "memory/episodic/old.md").exists()
    missing = memdeck("typed", "prune", "--agent", "eve", now=NOW)
    assert missing.code == 1
    assert "typed.no_agent" in missing.err
    assert "the agents are ada" in missing.err


def test_a_broken_aidefile_is_said_and_the_pass_goes_on(memdeck: Memdeck, ada: Path, tmp_path: Path) -> None:
    """Exit code 2 with file and line; the other agents are pruned."""
    other = put(tmp_path / "bob", "Aidefile", "[memory]\n\ncompact_after = 'much'\n").parent
    registry = tmp_path / "home" / ".aide" / "config.toml"
    registry.write_text(f'[[agents]]\nname = "bob"\npath = "{other}"\n{registry.read_text()}')
    found = memdeck("typed", "prune", now=NOW)
    assert found.code == 2
    assert "bob: typed.value: Aidefile:3: compact_after does not take 'much'" in found.out
    assert "ada: deleted 2 files" in found.out


def test_status_of_agents(memdeck: Memdeck, ada: Path) -> None:
    """Sizes by type, the oldest, tokens against compact_after, and what the next prune takes."""
    found = memdeck("typed", "status", now=NOW)
    assert "core        1 file   5 B  oldest 300 d" in found.out
    assert "5 tokens of 200,000 (0%)" in found.out
    assert "the next prune takes 2 files, 11 B" in found.out
    (agent,) = memdeck("typed", "status", "-o", "json", now=NOW).data["agents"]
    assert (agent["agent"], agent["tokens"], agent["compact_after"]) == ("ada", 5, 200000)
    assert agent["next_prune"] == {"files": 2, "bytes": 11}


def test_merge_takes_text_or_stdin(memdeck: Memdeck, ada: Path, shop: Path) -> None:
    """With --agent a path is one of the agent's folder, else of the current one; merging again changes nothing."""
    done = memdeck("typed", "merge", "memory/n.md", "## A\na\n", "--agent", "ada", "-o", "json", now=NOW)
    assert done.data["changed"] is True
    environment = {**os.environ, "PYTHONPATH": str(HOUSE)}
    command = [sys.executable, "-m", "app.main", "typed", "merge", "agents/ada/memory/n.md"]
    command += ["--dedupe", "section_replace", "-o", "json"]
    again = subprocess.run(
        command, input=b"## A\nb\n", capture_output=True, cwd=shop, env=environment, check=True, timeout=PATIENCE
    )
    assert json.loads(again.stdout)["path"] == "memory/n.md"
    assert (ada / "memory/n.md").read_text() == "## A\nb\n"
    same = memdeck("typed", "merge", "memory/n.md", "## A\nb", "--agent", "ada", "--dedupe", "line_hash", now=NOW)
    assert "nothing to merge" in same.out
    secret = memdeck("typed", "merge", "memory/n.md", "password: hunter2", "--agent", "ada", now=NOW)
    assert "looks like a secret" in secret.err
    assert "hunter2" not in secret.err
    nowhere = memdeck("typed", "merge", "x.md", "a", now=NOW)
    assert (nowhere.code, "typed.no_agent_here" in nowhere.err) == (2, True)


def test_promote_and_demote_and_the_aidefile(memdeck: Memdeck, ada: Path) -> None:
    """Promoting offers to list the file, --core does; demoting takes it from the list; comments stay."""
    done = memdeck("typed", "promote", "memory/episodic/new.md", "memory/new.md", "--agent", "ada", now=NOW)
    assert "promote with --core lists it" in done.err
    assert (ada / "Aidefile").read_text() == AIDEFILE
    memdeck("undo", now=LATER)
    done = memdeck("typed", "promote", "memory/episodic/new.md", "memory/new.md", "--core", "--agent", "ada", now=NOW)
    assert (done.code, done.err) == (0, "")
    assert (ada / "Aidefile").read_text() == AIDEFILE.replace('persona.md"]', 'persona.md", "memory/new.md"]')
    back = memdeck("typed", "demote", "memory/persona.md", "memory/episodic/", "--agent", "ada", "-o", "json", now=NOW)
    assert back.data["to"] == "memory/episodic/persona.md"
    assert "persona" not in (ada / "Aidefile").read_text()
    taken = memdeck("typed", "promote", "memory/new.md", "memory/episodic/old.md", "--agent", "ada", now=NOW)
    assert (taken.code, "typed.exists" in taken.err) == (1, True)


def test_expire_lock_and_unlock(memdeck: Memdeck, ada: Path) -> None:
    """Deleting by age, a second lock that says who holds it (exit 75), and unlocking twice."""
    assert memdeck("typed", "expire", "memory/none.md", "--max-age", "7d", "--agent", "ada", now=NOW).code == 0
    call = ("typed", "expire", "memory/episodic/old.md", "--max-age", "7d", "--agent", "ada")
    found = memdeck(*call, "-o", "json", now=NOW)
    assert found.data == {"path": "memory/episodic/old.md", "expired": True}
    assert memdeck("typed", "expire", "memory", "--max-age", "1s", "--agent", "ada", now=NOW).code == 1
    assert memdeck("typed", "expire", "x", "--max-age", "old", "--agent", "ada", now=NOW).code == 2
    locked = memdeck("typed", "lock", "memory/persona.md", "--agent", "ada", "-o", "json", now=NOW)
    assert locked.data["locked"]["pid"] == os.getppid()
    second = memdeck("typed", "lock", "memory/persona.md", "--agent", "ada", now=NOW)
    assert (second.code, f"process {os.getppid()}" in second.err) == (75, True)
    assert (
        memdeck("typed", "unlock", "memory/persona.md", "--agent", "ada", now=NOW).out == "unlocked memory/persona.md\n"
    )
    assert memdeck("typed", "unlock", "memory/persona.md", "--agent", "ada", now=NOW).code == 0


def test_failures_are_noted_and_summed_up(memdeck: Memdeck, ada: Path) -> None:
    """fail appends the note, failures counts."""
    for number, task in enumerate(("Migrate the orders database", "Migrate the users database"), 1):
        call = ("typed", "fail", "ada", "--status", "timeout", "--task", task, "--tokens", "900")
        assert memdeck(*call, "-o", "json", now=NOW).data == {"written": True, "path": "memory/procedural/failures.md"}
        said = memdeck("typed", "failures", now=NOW).out.split("\n")[0]
        assert said == ("1 failure" if number == 1 else "2 failures")
    text = (ada / "memory/procedural/failures.md").read_text()
    assert text.startswith(
        "## 2026-04-18T12:00:00+00:00\n- **Issue**: local\n- **Task snippet**: Migrate the orders database\n"
        "- **Tokens**: 900\n- **Why it failed**: timeout\n"
    )
    found = memdeck("typed", "failures", "-o", "json", now=NOW).data
    assert (found["total"], found["by_week"], found["by_reason"]) == (2, {"2026-W16": 2}, {"timeout": 2})
    assert "Similar tasks" in memdeck("typed", "failures", now=NOW).out
    assert memdeck("typed", "fail", "ada", "--status", "done", "--task", "x", "--tokens", "1", now=NOW).code == 2


def test_the_workspace_verbs_include_agents(memdeck: Memdeck, ada: Path) -> None:
    """--maintain prunes, status and search know the agents, check and doctor name a stale lock."""
    ended = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True, timeout=PATIENCE
    )
    put(ada, "memory/episodic/new.md.lock", f"{ended.stdout.decode().strip()} {os.uname().nodename} then\n", days=1)
    status = memdeck("status", "-o", "json", now=NOW).data
    assert status["systems"]["typed"]["agents"][0]["next_prune"]["files"] == 2
    hits = memdeck("search", "calm", "-o", "json", now=NOW).data["results"]
    assert [hit["file"] for hit in hits if hit["file"].startswith("agents")] == ["agents/ada/memory/persona.md"]
    check = memdeck("check", "-o", "json", now=NOW).data
    assert "typed.stale_lock" in json.dumps(check)
    doctor = memdeck("doctor", "-o", "json", now=NOW).data
    assert any("new.md" in found["message"] and "stale" in found["message"] for found in doctor["checks"])
    dry = memdeck("--maintain", "--dry-run", "-o", "json", now=NOW).data
    rule = next(rule for rule in dry["rules"] if rule["rule"] == "prune-typed-memory")
    assert (rule["file"], rule["cleared"]) == ("agents/ada", 2)
    assert rule["before"] == rule["kept"] + rule["archived"] + rule["cleared"]
    done = memdeck("--maintain", "-o", "json", now=NOW).data
    assert next(one for one in done["rules"] if one["rule"] == "prune-typed-memory") == rule
    assert not (ada / "memory/episodic/old.md").exists()


def test_agents_need_no_workspace(memdeck: Memdeck, ada: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The verbs work wherever one stands; without a registry they say how to begin."""
    monkeypatch.chdir(tmp_path)
    assert "ada" in memdeck("typed", "status", now=NOW).out
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("status", "prune"):
        found = memdeck("typed", name, now=NOW)
        assert (found.code, "~/.aide/config.toml" in found.out) == (0, True)


def test_a_note_that_cannot_be_written_fails_nothing(memdeck: Memdeck, ada: Path) -> None:
    """The exit code stays 0, for the run that failed has its own; stderr says why."""
    (ada / "Aidefile").write_text("[memory\n")
    call = ("typed", "fail", "ada", "--status", "partial", "--task", "x", "--tokens", "1")
    found = memdeck(*call, "-o", "json", now=NOW)
    assert (found.code, found.data["written"]) == (0, False)
    assert "the failure was not noted: typed.toml" in found.err
