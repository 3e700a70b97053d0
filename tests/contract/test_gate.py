"""The gate of typed memory: no surface writes anything but the Markdown of an agent's own memory."""

from __future__ import annotations

import pytest

from tests.contract.place import Place

AIDEFILE = '[memory]\ncore_files = ["persona.md"]\nprocedural_dir = "lessons"\nepisodic_dir = "scratch"\n'
FOREIGN = (
    ".git/hooks/pre-commit",
    ".git/hooks/pre-push.md",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/commands/go.md",
    ".github/workflows/x.yml",
    ".env",
    ".mcp.json",
    ".aiter/memory/tasks.md",
    "AGENTS.md",
    "CLAUDE.md",
    "Aidefile",
    "Makefile",
    "conftest.py",
    "pyproject.toml",
    "sitecustomize.py",
    "shop/checkout.py",
    "poetry",
    "lessons/run.sh",
    "lessons/.hidden/x.md",
    "lessons/../AGENTS.md",
    "memory/.claude/x.md",
    "memory/linked/x.md",
    "memory/link.md",
    "../outside.md",
)
"""Paths that are no memory of the agent in the folder, whatever an agent wants to write there."""


@pytest.fixture
def agent(workspace: Place) -> Place:
    """Return a workspace that is an agent's folder, with sources and settings of other programs beside its memory."""
    for path, text in (
        ("Aidefile", AIDEFILE),
        ("AGENTS.md", "# Rules\n"),
        ("shop/checkout.py", "print()\n"),
        ("poetry.lock", "pinned\n"),
        (".git/hooks/pre-push.md", "x\n"),
        (".git/config", ""),
        ("lessons/skills.md", "## Skill\n\nTest first.\n"),
        ("scratch/find.md", "found\n"),
    ):
        workspace.write(path, text)
    (workspace.work / "memory").mkdir()
    (workspace.work / "memory" / "linked").symlink_to("../shop")
    (workspace.work / "memory" / "link.md").symlink_to("../AGENTS.md")
    return workspace


def bytes_of(place: Place) -> dict[str, bytes]:
    """Return every file of the folder and beside it but memdeck's own records."""
    return {
        path.relative_to(place.top).as_posix(): path.read_bytes()
        for path in sorted(place.top.rglob("*"))
        if path.is_file() and ".memdeck" not in path.parts and "state" not in path.relative_to(place.top).parts
    }


@pytest.mark.parametrize("actor", ["", "agent:evil"])
def test_the_command_line_writes_memory_only(agent: Place, actor: str) -> None:
    """Every operation refuses every foreign path, for a person as for an agent, and leaves no byte anywhere."""
    before = bytes_of(agent)
    for path in FOREIGN:
        for words in (
            ("merge", path, "echo pwned"),
            ("lock", path),
            ("unlock", path),
            ("promote", "scratch/find.md", path, "--core", "--force"),
            ("demote", "scratch/find.md", path, "--force"),
            ("promote", path, "lessons/taken.md"),
        ):
            answer = agent("typed", *words, actor=actor)
            assert answer.code != 0, (words, answer)
            assert answer.error in ("typed.not_memory", "typed.outside", "typed.aidefile", "typed.no_agent_here"), words
        if path in before:
            assert agent("typed", "expire", path, "--max-age", "0s", actor=actor).code != 0
        assert bytes_of(agent) == before, path


def test_http_writes_memory_only(agent: Place) -> None:
    """The same holds over HTTP; a note in the agent's memory is written."""
    before = bytes_of(agent)
    with agent.api() as api:
        for path in FOREIGN:
            for verb, values in (
                ("merge", {"path": path, "text": "echo pwned"}),
                ("lock", {"path": path}),
                ("unlock", {"path": path}),
                ("promote", {"source": "scratch/find.md", "target": path, "core": True, "force": True}),
            ):
                status, found = api.ask("POST", f"/api/v1/typed/{verb}", values)
                assert status in (400, 403, 422), (verb, path, found)
                assert found["error"]["code"].startswith("typed."), found
        assert bytes_of(agent) == before
        assert api.ask("POST", "/api/v1/typed/merge", {"path": "memory/notes.md", "text": "Kept."})[0] == 200
    assert agent.read("memory/notes.md") == b"Kept."


def test_http_reaches_no_agent_outside_of_the_workspace(agent: Place) -> None:
    """A folder with an Aidefile elsewhere is no agent of the server, whatever its path is called."""
    other = agent.top / "other"
    (other / "scratch").mkdir(parents=True)
    (other / "Aidefile").write_text(AIDEFILE)
    (other / "scratch/find.md").write_text("found\n")
    before = bytes_of(agent)
    with agent.api() as api:
        for named in (str(other), "../other", f"{agent.work}/../other"):
            for verb, values in (
                ("merge", {"path": "memory/x.md", "text": "pwned"}),
                ("promote", {"source": "scratch/find.md", "target": "memory/find.md"}),
                ("expire", {"path": "scratch/find.md", "max_age": "0s"}),
                ("lock", {"path": "scratch/find.md"}),
                ("prune", {}),
                ("fail", {"status": "timeout", "task": "t", "tokens": 1, "issue": "i"}),
            ):
                status, found = api.ask("POST", f"/api/v1/typed/{verb}", {**values, "agent": named})
                assert (status, found["error"]["code"]) == (404, "typed.no_agent"), (verb, found)
        assert bytes_of(agent) == before
        assert api.ask("POST", "/api/v1/typed/merge", {"path": "memory/x.md", "text": "x", "agent": "."})[0] == 200


def test_tools_of_mcp_write_memory_only(agent: Place) -> None:
    """The tool `add` refuses foreign paths too, and adds to files of the memory."""
    before = bytes_of(agent)
    calls = [("add", {"kind": "typed", "title": "x", "text": "y", "fields": {"path": path}}) for path in FOREIGN]
    codes = [found["error"]["code"] for found in agent.mcp(*calls)]
    assert set(codes) <= {"typed.not_memory", "typed.outside"}, codes
    assert bytes_of(agent) == before
    (made,) = agent.mcp(("add", {"kind": "typed", "title": "Lesson", "fields": {"path": "lessons/new.md"}}))
    assert made["change"], made
    assert agent.read("lessons/new.md") == b"## Lesson\n"


def test_memory_is_merged_moved_locked_and_pruned(agent: Place) -> None:
    """What is memory works as before; prune deletes Markdown and nothing else of the two folders."""
    assert agent("typed", "merge", "lessons/skills.md", "More.").code == 0
    assert agent("typed", "lock", "lessons/skills.md").code == 0
    assert (agent.work / "lessons/skills.md.lock").exists()
    assert agent("typed", "unlock", "lessons/skills.md").code == 0
    assert agent("typed", "promote", "scratch/find.md", "memory/find.md", "--core").code == 0
    assert b"memory/find.md" in agent.read("Aidefile")
    agent.write("memory/episodic/old.md", "old\n")
    agent.write("memory/episodic/tool.py", "print()\n")
    agent.write("Aidefile", "")
    pruned = agent.json("typed", "prune", "--agent", ".", now="2099-01-01T00:00:00Z")
    assert [one["path"] for one in pruned["agents"][0]["files"]] == ["memory/episodic/old.md"]
    assert agent.read("memory/episodic/tool.py") == b"print()\n"


def test_a_place_behind_a_link_is_no_memory(agent: Place) -> None:
    """A procedural folder that is a link to sources, and a core file that is one, take no change."""
    agent.write("docs/guide.md", "guide\n")
    (agent.work / "linked").symlink_to("docs")
    (agent.work / "core.md").symlink_to("AGENTS.md")
    agent.write("Aidefile", '[memory]\nprocedural_dir = "linked"\ncore_files = ["core.md"]\n')
    before = bytes_of(agent)
    for path in ("linked/guide.md", "docs/guide.md", "core.md", "AGENTS.md"):
        assert agent("typed", "merge", path, "pwned").error == "typed.not_memory", path
    assert bytes_of(agent) == before
