"""Project state by the command line: it writes over no file of a person, loses nothing, and stays in its folder."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.contract.place import Place

STATE = ".agent-memory/state.json"
EVENTS = ".agent-memory/history/events.jsonl"
CONFIG = ".agent-memory/config.json"
SOURCES = ".agent-memory/sources.json"
CHECKPOINT = ".agent-memory/history/checkpoints/chk-000001.json"
VIEWS = ["README", "project-map", "current-focus", "gotchas", "next-steps"]
BOM = b"\xef\xbb\xbf"
SECRET = "SECRET acquisition of ACME"


def waiting(place: Place, *decisions: str, first: int = 2) -> None:
    """Put imported sessions behind the history, each with a decision, as `state sync` does."""
    lines = [
        {
            "id": f"evt-{number:06d}", "kind": "imported_session", "sourceId": "claude-local",
            "externalItemId": f"s-{decision}", "createdAt": "2026-03-01T09:00:00.000Z", "contentHash": f"{number:064x}",
            "summary": f"Session about {decision}",
            "signals": {"decisions": [decision], "gotchas": [], "nextStepHints": [], "keyPaths": [],
                        "validationObservations": []},
            "sourceRef": "s.jsonl",
        }
        for number, decision in enumerate(decisions, first)
    ]  # fmt: skip
    place.write(EVENTS, place.read(EVENTS) + b"".join(json.dumps(one).encode() + b"\n" for one in lines))
    changed(place, historyEventCount=place.read(EVENTS).count(b"\n"))


def changed(place: Place, **maintenance: Any) -> None:
    """Change values of the state's maintenance by hand."""
    state = json.loads(place.read(STATE))
    state["maintenance"] |= maintenance
    place.write(STATE, json.dumps(state, indent=2, sort_keys=True, ensure_ascii=False) + "\n")


def left(place: Place) -> int:
    """Return how many events wait for a recall."""
    return int(place.json("state", "status")["unrecalled"]["all"])


@pytest.fixture
def state(place: Place) -> Place:
    """Return a place with a project state."""
    place.write("README.md", "# Shop\n\nA shop.\n")
    assert place("state", "init").code == 0
    return place


# -- files of a person ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("words", [["init"], ["init", "--force"]])
def test_init_writes_over_no_file_of_a_person(place: Place, name: str, words: list[str]) -> None:
    """A file without memdeck's marker in the place of a projection is named, stays as it is, and nothing is made."""
    path, mine = f"docs/agent-memory/{name}.md", b"# My own\n- precious\n"
    place.write(path, mine)
    answer = place("state", *words, "-o", "json")
    assert (answer.code, answer.error) == (1, "state.exists"), answer
    assert answer.data["error"]["details"]["files"] == [path]
    assert place.read(path) == mine
    assert not (place.work / STATE).exists()


def test_later_changes_write_over_no_file_of_a_person(state: Place) -> None:
    """A person's file that takes the place of a projection stops an update and a recall, too."""
    mine = b"# My own\n"
    state.write("docs/agent-memory/gotchas.md", mine)
    waiting(state, "Uploads go through nginx")
    before = state.read(STATE)
    for words in (["update"], ["recall", "--yes"]):
        answer = state("state", *words, "-o", "json")
        assert (answer.code, answer.error) == (1, "state.exists"), answer
    assert (state.read("docs/agent-memory/gotchas.md"), state.read(STATE)) == (mine, before)


def test_projections_of_memdeck_are_renewed(state: Place) -> None:
    """A projection that memdeck wrote is no file of a person, with a byte order mark in front neither."""
    path = "docs/agent-memory/gotchas.md"
    state.write(path, BOM + state.read(path))
    assert state("state", "update").code == 0
    assert state.read(path).startswith(b"<!-- agent-memory:projection")


# -- a byte order mark ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", [STATE, EVENTS, CONFIG, SOURCES, CHECKPOINT])
def test_a_byte_order_mark_loses_nothing(state: Place, file: str) -> None:
    """A mark that an editor puts before a file is no damage: events, settings and sources are read and kept."""
    (state.work / "sessions").mkdir()
    assert state("state", "config", "recall.backlogWarnThreshold", "3").code == 0
    assert state("state", "add", "--path", "sessions", "--type", "claude-local", "--name", "mine").code == 0
    waiting(state, "Uploads go through nginx")
    before = state.json("state", "status")
    state.write(file, BOM + state.read(file))
    assert state.json("state", "status")["unrecalled"] == before["unrecalled"]
    assert state("state", "validate").code == 0
    assert "nothing to repair" in state("state", "validate", "--repair", "--yes").out.lower()
    assert state("state", "config", "recall.backlogWarnThreshold").out.strip().endswith("3")
    assert state("state", "recall", "--yes").code == 0
    assert b"Uploads go through nginx" in state.read(STATE)
    events = [json.loads(line) for line in state.read(EVENTS).removeprefix(BOM).splitlines()]
    assert [one["id"] for one in events] == ["evt-000001", "evt-000002", "evt-000003"]


def test_a_repair_keeps_the_first_event_behind_a_byte_order_mark(state: Place) -> None:
    """Where another line is damaged, the repair keeps the line with the mark, at its place and readable."""
    waiting(state, "Uploads go through nginx")
    state.write(EVENTS, BOM + state.read(EVENTS) + b"garbage\n")
    state("state", "validate", "--repair", "--yes")
    assert state("state", "validate").code == 0
    assert [json.loads(line)["id"] for line in state.read(EVENTS).splitlines()] == ["evt-000001", "evt-000002"]


# -- repair ---------------------------------------------------------------------------------------------------------


def test_a_repair_marks_nothing_that_waits_as_recalled(state: Place) -> None:
    """After the repair of a cursor that lies ahead of all events, what waited waits, and the repair says so."""
    waiting(state, "Uploads go through nginx")
    cursors = json.loads(state.read(STATE))["maintenance"]["recallCursors"]
    cursors["all"]["lastRecalledEventId"] = "evt-000999"
    changed(state, recallCursors=cursors)
    assert state("state", "validate").code == 4
    said = state("state", "validate", "--repair", "--yes")
    assert "every event counts as not recalled" in said.out, said
    assert state("state", "validate").code == 0
    assert left(state) == 1
    assert state("state", "recall", "--yes").code == 0
    assert b"Uploads go through nginx" in state.read(STATE)


def test_two_events_with_one_id_both_stay(state: Place) -> None:
    """Of two sessions that two branches brought under the same id, a repair keeps both: the second waits at the end."""
    waiting(state, "Uploads go through nginx")
    waiting(state, "Errors are sent to a queue")
    assert state("state", "validate").code == 4
    state("state", "validate", "--repair", "--yes")
    assert state("state", "validate").code == 0
    assert left(state) == 2
    events = [json.loads(line) for line in state.read(EVENTS).splitlines()]
    assert [(one["id"], one["signals"]["decisions"]) for one in events[1:]] == [
        ("evt-000002", ["Uploads go through nginx"]),
        ("evt-000003", ["Errors are sent to a queue"]),
    ]


def test_a_repair_keeps_what_is_sound_of_a_record(state: Place) -> None:
    """A wrong value costs no whole source and no whole event: it alone is replaced, and the original kept aside."""
    (state.work / "sessions").mkdir()
    assert state("state", "add", "--path", "sessions", "--type", "claude-local", "--name", "mine").code == 0
    waiting(state, "Uploads go through nginx", "Errors are sent to a queue", "Prices are rounded")
    lines = state.read(EVENTS).split(b"\n")
    lines[1] = lines[1].replace(b'["Uploads go', b'[7, "Uploads go')
    lines[2] = lines[2].replace(b'"2026-03-01T09:00:00.000Z"', b"12345")
    state.write(EVENTS, b"\n".join(lines))
    state.write(SOURCES, state.read(SOURCES).replace(b'"never"', b'"maybe"'))
    assert state("state", "validate").code == 4
    assert state("state", "validate", "--repair", "--yes").code == 0
    assert state("state", "validate").code == 0
    assert left(state) == 3
    assert [one["id"] for one in json.loads(state.read(SOURCES))] == ["mine"]
    events = [json.loads(line) for line in state.read(EVENTS).splitlines()]
    assert events[1]["signals"]["decisions"] == ["Uploads go through nginx"]


def test_a_lost_event_is_recorded_and_no_failure_for_ever(state: Place) -> None:
    """A line that somebody deleted is named; a repair records that it is lost, and its exit code is that of now."""
    waiting(state, "Uploads go through nginx", "Errors are sent to a queue")
    lines = state.read(EVENTS).split(b"\n")
    state.write(EVENTS, b"\n".join([lines[0], *lines[2:]]))
    changed(state, historyEventCount=2)
    assert "evt-000002" in state("state", "validate").out
    assert state("state", "validate", "--repair", "--yes").code == 0
    assert state("state", "validate").code == 0
    state.write(EVENTS, state.read(EVENTS) + lines[2] + b"\n")
    assert state("state", "validate", "--repair", "--yes").code == 0, "a repeated line is fixed and nothing is left"


def test_an_update_lets_paths_go_that_are_gone(state: Place) -> None:
    """A path that a session named and that was removed since fails no validation after an update."""
    state.write("tests/test_a.py", "")
    waiting(state, "Uploads go through nginx")
    state.write(EVENTS, state.read(EVENTS).replace(b'"keyPaths": []', b'"keyPaths": ["tests/test_a.py"]'))
    assert state("state", "recall", "--yes").code == 0
    assert b"tests/test_a.py" in state.read(STATE)
    (state.work / "tests/test_a.py").unlink()
    assert state("state", "validate").code == 4
    assert state("state", "update").code == 0
    assert state("state", "validate").code == 0


# -- git ------------------------------------------------------------------------------------------------------------


def git(folder: Path, *words: str) -> None:
    """Run git in a folder, without any settings of the machine."""
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always"]
    environ = {"PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": str(folder.parent), "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *who, *words], cwd=folder, env=environ, check=True, capture_output=True)


@pytest.fixture
def private(place: Place) -> Path:
    """Return a repository beside the folder whose last commit is a secret."""
    folder = place.top / "private"
    folder.mkdir()
    git(folder, "init", "-b", "plan-b")
    git(folder, "commit", "--allow-empty", "-m", SECRET)
    return folder


def told(place: Place, *, folder: Path | None = None) -> str:
    """Make the project state; return all that it says and writes, and its status."""
    here = folder or place.work
    answer = place("state", "init", folder=here)
    assert answer.code == 0, answer
    files = [path for top in (".agent-memory", "docs") for path in sorted((here / top).rglob("*")) if path.is_file()]
    return answer.out + place("state", "status", folder=here).out + "".join(path.read_text() for path in files)


@pytest.mark.parametrize("way", ["main", "worktree", "separate", "commondir", "inner", "link"])
def test_no_repository_is_read_that_does_not_list_the_folder(place: Place, private: Path, way: str) -> None:
    """A `.git` that leads to another repository is told and not followed, in whatever way it leads there."""
    (place.work / "README.md").write_text("# Shop\n")
    dot = place.work / ".git"
    if way == "main":
        dot.write_text("gitdir: ../private/.git\n")
    elif way == "worktree":
        git(private, "worktree", "add", "-b", "other", "../tree")
        dot.write_text(f"gitdir: {private}/.git/worktrees/tree\n")
    elif way == "separate":
        git(private, "config", "core.worktree", str(private))
        dot.write_text(f"gitdir: {private}/.git\n")
    elif way == "link":
        dot.symlink_to(private / ".git")
    else:
        inner = dot if way == "commondir" else place.work / "data"
        inner.mkdir()
        (inner / "HEAD").write_text("ref: refs/heads/plan-b\n")
        (inner / "commondir").write_text(f"{private}/.git\n")
        if way == "inner":
            dot.write_text("gitdir: data\n")
    said = told(place)
    assert SECRET not in said
    if way in ("main", "worktree", "separate", "link"):
        assert "does not list this folder as its work tree" in place("state", "show", "current-focus").out
        assert "plan-b" not in said
        assert "other" not in said


@pytest.mark.parametrize("way", ["worktree", "relative", "submodule", "inside"])
def test_a_work_tree_that_git_lists_is_read(place: Place, private: Path, way: str) -> None:
    """The branch and last commit of a further work tree and of a submodule are those that git knows."""
    folder = place.top / "tree"
    if way in ("worktree", "relative"):
        git(private, "worktree", "add", "-b", "feature", "../tree")
        if way == "relative":
            (folder / ".git").write_text("gitdir: ../private/.git/worktrees/tree\n")
            (private / ".git/worktrees/tree/gitdir").write_text("../../../../tree/.git\n")
    elif way == "submodule":
        outer = place.top / "outer"
        outer.mkdir()
        git(outer, "init")
        git(outer, "submodule", "add", str(private), "part")
        folder = outer / "part"
    else:
        folder.mkdir()
        git(folder, "init", "-b", "plan-b", "--separate-git-dir", str(folder / "data"))
        git(folder, "commit", "--allow-empty", "-m", SECRET)
    (folder / "README.md").write_text("# Shop\n")
    said = told(place, folder=folder)
    assert "does not list" not in said
    assert ("feature" if way in ("worktree", "relative") else "plan-b") in said
    assert SECRET in said or way == "submodule", said


# -- hints ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words", [["status"], ["recall"], ["query", "tests"], ["update"], ["sync", "--all"], ["validate"]]
)
def test_without_a_state_the_hint_is_to_make_one(place: Place, words: list[str]) -> None:
    """Every verb that needs a state leads to `memdeck state init`, also in a folder without any memory."""
    answer = place("state", *words)
    assert "memdeck state init" in answer.err + answer.out, answer


def test_a_state_of_the_old_schema_leads_to_a_new_one(state: Place) -> None:
    """The hint of every verb works: `init --force` keeps the old state in the archive."""
    state.write(STATE, state.read(STATE).replace(b'"schemaVersion": 2', b'"schemaVersion": 1'))
    for words in (["init"], ["update"], ["status"]):
        answer = state("state", *words)
        assert (answer.code, "memdeck state init --force" in answer.err) == (1, True), answer
        assert "memdeck state update" not in answer.err
    assert state("state", "init", "--force").code == 0
    assert state("state", "status").code == 0


def test_the_state_names_the_version_that_wrote_it(state: Place) -> None:
    """The version is that of the program."""
    version = state("--version").out.split()[-1]
    assert json.loads(state.read(STATE))["generatorVersion"] == f"memdeck {version}"


def test_misspelt_settings_and_stray_folders_are_named(state: Place) -> None:
    """Neither is a failure, and each has its name in a warning."""
    state.write(CONFIG, state.read(CONFIG).replace(b'"policy"', b'"polcy"'))
    state.write(".agent-memory/archive/old/notes.txt", "x")
    answer = state("state", "validate")
    assert answer.code == 0
    assert "there is no setting recall.polcy" in answer.out
    assert "archive:name:old" in answer.out


def test_each_check_of_a_sound_state_is_told(state: Place) -> None:
    """A fresh state has a passed finding for each file and for the backlog, and the commands are not run yet."""
    bundle = json.loads(state.read(STATE))["bundle"]
    ran = {"status": "passed", "validatedAt": "2026-03-01T09:00:00.000Z", "summary": "1 of 1 passed", "results": []}
    commands = [{"label": "Test", "command": ["pytest"], "purpose": "Runs the tests"}]
    sections = {"validation-commands": commands,
                "current-focus": {**bundle["currentFocus"], "validationSnapshot": ran}}  # fmt: skip
    for section, value in sections.items():
        assert state("state", "edit", section, "--json", "-", given=json.dumps(value)).code == 0
    found = state.json("state", "validate")["findings"]
    assert {one["code"] for one in found if one["status"] == "pass"} >= {
        "state:schema", "config:json", "history:events", "sources:read", "checkpoints:schema", "projection:README",
        "entry:marker", "bundle:paths", "validation:freshness", "recall:backlog",
    }  # fmt: skip
    assert {one["status"] for one in found} == {"pass"}


def test_a_key_with_a_dot_is_no_setting(state: Place) -> None:
    """It is named as unknown, neither read as the setting of that name nor a reason to fail."""
    state.write(CONFIG, json.dumps({"recall.policy": "wild", "recall": {"policy.x": 1, "policy": "local-only"}}))
    answer = state("state", "validate")
    assert answer.code == 0, answer
    assert 'there is no setting "recall.policy"' in answer.out
    assert 'there is no setting recall."policy.x"' in answer.out
    assert state.json("state", "config", "recall.policy") == {"config": {"recall.policy": "local-only"}}
    assert state("state", "config", "recall.policy", "balanced").code == 0
    assert json.loads(state.read(CONFIG))["recall"] == {"policy.x": 1, "policy": "balanced"}


def test_an_old_validation_is_a_warning(state: Place) -> None:
    """Who ran the commands once fares no worse than who never did."""
    bundle = json.loads(state.read(STATE))["bundle"]
    focus = bundle["currentFocus"]
    focus["validationSnapshot"] |= {"status": "passed", "validatedAt": "2026-01-01T09:00:00.000Z"}
    commands = [{"label": "Test", "command": ["pytest"], "purpose": "Runs the tests"}]
    for section, value in (("current-focus", focus), ("validation-commands", commands)):
        assert state("state", "edit", section, "--json", "-", given=json.dumps(value)).code == 0
    answer = state("state", "validate")
    assert (answer.code, "WARN validation:freshness" in answer.out) == (0, True), answer


def test_a_repair_lets_paths_go_that_are_gone(state: Place) -> None:
    """A path that the bundle names and that is gone fails once: the repair takes it out, and undo brings it back."""
    state.write("shop.py", "x = 1\n")
    value = json.loads(state.read(STATE))["bundle"]["project"]
    state.write("project.json", json.dumps({**value, "keyPaths": ["shop.py", "README.md"]}))
    assert state("state", "edit", "project", "--json", "project.json").code == 0
    assert state("state", "validate").code == 0
    (state.work / "shop.py").unlink()
    said = state("state", "validate")
    assert (said.code, "shop.py" in said.out) == (4, True)
    assert state("state", "validate", "--repair", "--yes").code == 0
    assert state("state", "validate").code == 0
    assert json.loads(state.read(STATE))["bundle"]["project"]["keyPaths"] == ["README.md"]
    assert state("undo").code == 0
    assert json.loads(state.read(STATE))["bundle"]["project"]["keyPaths"] == ["shop.py", "README.md"]


def test_a_source_that_leads_out_leaves_the_list(state: Place) -> None:
    """A relative path out of the workspace, as a repository could bring it, is removed by the repair."""
    (state.work / "sessions").mkdir()
    assert state("state", "add", "--path", "sessions", "--type", "claude-local", "--name", "mine").code == 0
    state.write(SOURCES, state.read(SOURCES).replace(b'"sessions"', b'"../sessions"'))
    assert state("state", "validate").code == 4
    assert state("state", "validate", "--repair", "--yes").code == 0
    assert state("state", "validate").code == 0
    assert json.loads(state.read(SOURCES)) == []


@pytest.mark.thorough
def test_a_recall_takes_the_oldest_events_and_says_how_many_wait(state: Place) -> None:
    """Of very many events one recall takes 5,000, the oldest first; the others wait for the next."""
    waiting(state, *("Uploads go through nginx" for _ in range(5000)), "Errors are sent to a queue")
    shown = state.json("state", "recall")
    assert (shown["unrecalled"], shown["waiting"]) == (5000, 1)
    assert "left for the next recall: 1 event\n" in state("state", "recall", "--yes").out
    assert left(state) == 1
    assert b"Errors are sent" not in state.read(STATE)
    assert state("state", "recall", "--yes").code == 0
    assert left(state) == 0
    assert b"Errors are sent to a queue" in state.read(STATE)
