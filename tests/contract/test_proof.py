"""Entries in doubt: what the repository and newer entries say against them, and how a person settles it."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.contract.place import Place

OLD, MOVED = "The parser is in src/old.py", "The writer is in src/moved.py"


@pytest.fixture
def repository(workspace: Place) -> Place:
    """Return a workspace in a repository that removed one file and renamed another, with an entry about each."""
    workspace.write("src/old.py", "a = 1\n")
    workspace.write("src/moved.py", "".join(f"line {number}\n" for number in range(50)))
    author = ("-c", "user.name=A", "-c", "user.email=a@b.c")
    for words in (
        ("init", "-q"),
        ("add", "src"),
        (*author, "commit", "-qm", "One"),
        ("rm", "-q", "src/old.py"),
        ("mv", "src/moved.py", "src/new.py"),
        (*author, "commit", "-qm", "Two"),
    ):
        subprocess.run(["git", *words], cwd=workspace.work, env=workspace.environment, check=True)
    for text in (OLD, MOVED):
        assert workspace("knowledge", "add", text).code == 0
    return workspace


def doubts(place: Place) -> list[tuple[str, str]]:
    """Return the codes and the first words of what `check` finds about memory, without the ways to settle it."""
    found = place.json("check")["problems"]
    return [
        (one["code"], one["message"].partition(";")[0]) for one in found if one["code"].startswith("memory.")
    ]  # fmt: skip


def start(place: Place) -> str:
    """Return what a session is told at its start."""
    given = json.dumps({"cwd": str(place.work), "session_id": "one"})
    return place("hook", "session-start", "--client", "codex", given=given, process=True).out


def ref_of(place: Place, title: str) -> str:
    """Return the ref of an entry by its title."""
    return str(place.json("search", title)["results"][0]["ref"])


def test_a_band_is_told_until_a_person_settles_it(repository: Place) -> None:
    """What is gone or renamed is said by `check` and to agents; reading settles nothing, `still-true` does."""
    assert doubts(repository) == [
        ("memory.gone", "src/old.py was removed"),
        ("memory.changed", "src/moved.py is src/new.py now"),
    ]
    assert f"{OLD} [gone: src/old.py was removed]" in start(repository)
    (read,) = repository.mcp(("read", {"ref": OLD}))
    assert read["entries"][0]["doubts"] == ["gone: src/old.py was removed"]
    assert len(doubts(repository)) == 2
    assert repository("still-true", OLD, actor="agent:x").error == "proof.person_only"
    done = repository.json("still-true", ref_of(repository, OLD))["confirmed"]
    assert [(one["band"], one["title"], one["other"]) for one in done] == [("gone", OLD, None)]
    assert [code for code, _ in doubts(repository)] == ["memory.changed"]
    assert "[gone" not in start(repository)
    assert repository("still-true", OLD).error == "proof.not_found"
    assert repository("still-true", done[0]["ref"], "--revoke", actor="agent:x").error == "proof.person_only"
    assert repository.json("still-true", done[0]["ref"], "--revoke") == {"revoked": done[0]["ref"]}
    assert len(doubts(repository)) == 2
    assert repository("still-true", OLD, "--revoke").error == "proof.not_found"
    assert repository("knowledge", "edit", OLD, f"{OLD} and in src/moved.py").code == 0
    assert [code for code, _ in doubts(repository)] == ["memory.gone", "memory.changed", "memory.changed"]
    assert repository("still-true", "is in src").error == "proof.ambiguous"


def test_two_entries_with_two_values_are_settled_by_superseding_one(workspace: Place) -> None:
    """The newer one is named, across systems and within one; the older is removed with the reason, and undone."""
    for day, words in (("01", "The dev server runs on port 3000"), ("02", "The release branch is cut on Thursdays")):
        assert workspace("facts", "store", words, now=f"2026-03-{day}T09:00:00Z").code == 0
    new = "The release branch is cut on Mondays"
    assert workspace("facts", "store", new, now="2026-03-03T09:00:00Z").code == 0
    assert workspace("knowledge", "add", "The dev server runs on port 8080", "--decision").code == 0
    assert [code for code, _ in doubts(workspace)] == ["memory.contradiction"] * 2
    told = start(workspace)
    ref = ref_of(workspace, new)
    assert f"The release branch is cut on Thursdays [older: {ref} says otherwise]" in told
    assert f"{new}\n" in told
    done = workspace.json("supersede", "The release branch is cut on Thursdays", "--by", new)
    assert done["by"] == ref
    assert f"superseded by {ref}" in workspace.json("changes", "list")["changes"][0]["summary"]
    assert len(doubts(workspace)) == 1
    assert workspace("undo").code == 0
    assert len(doubts(workspace)) == 2
    assert workspace("still-true", "The dev server runs on port 8080").code == 0
    assert [words for _, words in doubts(workspace)] == [
        "'The release branch is cut on Thursdays', but .aegis/memory/memories.jsonl:3 says "
        "'The release branch is cut on Mondays'"
    ]


def test_an_agent_may_propose_to_supersede(workspace: Place) -> None:
    """Removing is decided by the review policy, as any other removal is; what is not there is named."""
    assert workspace("knowledge", "add", "Node 18 is used").code == 0
    assert workspace("config", "set", "reviewAgents", "all").code == 0
    found = workspace.json("supersede", "Node 18 is used", actor="agent:x")
    assert found["state"] == "waiting"
    assert workspace("supersede", "nothing like it").error == "entry.not_found"
    assert workspace("supersede", "Node 18 is used", "--by", "nothing like it").error == "entry.not_found"


def test_a_damaged_record_is_an_error_and_blocks_no_agent(repository: Place) -> None:
    """What a person confirmed is not forgotten in silence: `check` says so, beside what is in doubt again."""
    assert repository("still-true", OLD).code == 0
    (file,) = (repository.top / "state").rglob("confirmed.json")
    file.write_text("{")
    answer = repository("check", "-o", "json")
    codes = [one["code"] for one in answer.data["problems"]]
    assert (answer.code, codes) == (4, ["memory.gone", "memory.changed", "proof.confirmed"])
    assert repository("still-true", OLD).error == "proof.confirmed"
    assert OLD in start(repository)


def test_names_ports_times_places_days_and_owners_contradict_and_numbered_things_do_not(workspace: Place) -> None:
    """Each pair says another value of one subject, or speaks of two subjects: a sprint is not the next one."""
    same = (
        ("Standup is at 9:30 in the small room", "Standup is at 10:00 in the small room"),
        ("The parser lives in src/parse.py", "The parser lives in lib/parse.py"),
        ("Alice owns the billing service", "The billing service is owned by Bob"),
        ("Use `npm test` to run the tests", "Use `make test` to run the tests"),
        ("Node version: 18", "Node version: 20"),
    )
    others = (
        ("Sprint 12 is about payments and refunds", "Sprint 13 is about payments and refunds"),
        ("`scripts/a.py` has a hardcoded personal address", "`scripts/b.py` has a hardcoded personal address"),
        ("The staging database has port 5433 here", "The production database has port 5432 here"),
        ("The build takes 8-10 minutes on most days", "The build takes 12-15 minutes on most days"),
    )
    for older, newer in (*same, *others):
        assert workspace("facts", "store", older, now="2026-03-01T09:00:00Z").code == 0
        assert workspace("facts", "store", newer, now="2026-03-02T09:00:00Z").code == 0
    found = [words.split("'")[1] for _, words in doubts(workspace)]
    assert sorted(found) == sorted(older for older, _ in same)


def test_a_renamed_file_is_written_into_entries_by_its_new_name(repository: Place) -> None:
    """Each entry is one change, which is undone; a fact is stored anew, a curated memory by its controller."""
    assert repository("facts", "store", "See src/moved.py, not docs/src/moved.py", "--tag", "place").code == 0
    write = ("curated", "write", "--type", "project", "--name", "Reader", "--content", MOVED)
    assert repository(*write).code == 0
    ref = ref_of(repository, MOVED)
    changed = repository.json("relink", ref)["changes"]
    assert [one["summary"] for one in changed] == ["changed 'The writer is in src/new.py'"]
    answer = repository("relink", "-o", "json")
    assert len(answer.data["changes"]) == 2
    memory = repository.json("curated", "show", "project_reader")["memory"]
    assert memory["description"] == memory["content"] == "The writer is in src/new.py"
    assert repository.json("curated", "decisions", "list")["decisions"][0]["op"] == "update"
    (fact,) = repository.json("facts", "search", "moved")["memories"]
    assert (fact["text"], fact["tags"]) == ("See src/new.py, not docs/src/moved.py", ["place"])
    assert repository("undo").code == 0
    assert repository("undo").code == 0
    assert repository("relink", "nothing like it").error == "proof.not_found"
    assert [code for code, _ in doubts(repository)].count("memory.changed") == 2


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("express is at version 3.1", [("memory.changed", "package.json has express ^4.18.0")]),
        ("`@nestjs/core` 9.4 serves the API", [("memory.changed", "package.json has @nestjs/core 10.0.1")]),
        ("requests 1.9 is pinned", [("memory.changed", "pyproject.toml has requests ==2.31")]),
        ("express 4.17 serves the pages", []),
        ("left-pad 1.2 pads", []),
        ("express 3.1 was replaced", []),
        ("any-range 1.0 will do", []),
    ],
)
def test_the_version_of_a_package_is_compared(workspace: Place, said: str, found: list[tuple[str, str]]) -> None:
    """Another major version than the manifest asks for is told, and nothing where it allows several or is silent."""
    needed = {"express": "^4.18.0", "@nestjs/core": "10.0.1", "any-range": ">=1 <9"}
    workspace.write("package.json", json.dumps({"dependencies": needed}))
    workspace.write("pyproject.toml", '[project]\ndependencies = ["requests[socks]==2.31"]\n')
    assert workspace("knowledge", "add", said).code == 0
    assert doubts(workspace) == found


def test_a_commit_is_looked_up(repository: Place) -> None:
    """One that is not in the history is told, and one that is in it is not, shortened or whole."""
    whole = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=repository.work, env=repository.environment, check=True, capture_output=True
    ).stdout.decode()
    before = doubts(repository)
    for said in (whole.strip(), whole[:8], "0123456789"):
        assert repository("knowledge", "add", f"Timeouts: see commit {said}").code == 0
    assert set(doubts(repository)) - set(before) == {("memory.gone", "the repository has no commit 0123456789")}
