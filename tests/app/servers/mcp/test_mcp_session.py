"""Sessions of agents through a real process, with the SDK's own client where one matters."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.desks import make_workspace
from tests.memory_files import contents
from tests.patience import PATIENCE, within

from .serving import COMMAND, environment, memdeck, serving

if TYPE_CHECKING:
    from mcp.client.client import Client


def _client(root: Path, mode: Any, *options: str) -> Client:
    # It takes a second to load: no test process that only collects this test needs it.
    from mcp import StdioServerParameters
    from mcp.client.client import Client
    from mcp.client.stdio import stdio_client

    parameters = StdioServerParameters(
        command=sys.executable, args=[*COMMAND[1:], "-w", str(root), *options], env=environment(root.parent)
    )
    return Client(stdio_client(parameters), mode=mode, read_timeout_seconds=PATIENCE)


@pytest.mark.thorough(but=("auto",))
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_session_of_an_agent(tmp_path: Path, mode: str) -> None:
    """An agent reads the brief, searches, adds, is refused with a stale hash, edits and removes; a person takes the
    removal back, and the agent sees it. Both eras of the protocol answer the same.
    """
    root = make_workspace(tmp_path)
    memdeck(root, "review", "policy", "agent:*", "*", "apply")

    async def session() -> None:
        async with _client(root, mode) as client:

            async def call(tool: str, **arguments: Any) -> dict[str, Any]:
                result = await client.call_tool(tool, arguments)
                found = result.structured_content
                assert isinstance(found, dict)
                assert result.is_error == ("error" in found)
                return found

            assert (await client.list_tools()).tools[0].name == "brief"
            assert "Deploy v2.1" in (await call("brief", message="redis"))["text"]
            assert (await call("search", query="redis"))["results"][0]["ref"].startswith("knowledge#")
            made = await call("add", kind="tasks", title="Rotate keys", fields={"priority": "HIGH"})
            memdeck(root, "tasks", "edit", made["ref"], "--set", "notes=by hand")
            refused = (await call("edit", ref=made["ref"], hash=made["hash"], set={"notes": "mine"}))["error"]
            assert refused["code"] == "entry.stale"
            assert refused["details"]["changed"] == [{"field": "notes", "was": None, "is": "by hand"}]
            now = refused["details"]["hash"]
            edited = await call("edit", ref=made["ref"], hash=now, set={"notes": "both"})
            (entry,) = (await call("read", ref=made["ref"]))["entries"]
            assert (entry["hash"], entry["fields"]["notes"]) == (edited["hash"], "both")
            gone = await call("remove", ref=made["ref"], hash=edited["hash"], reason="done elsewhere")
            assert (await call("read", ref=made["ref"]))["error"]["code"] == "task.gone"
            changes = (await call("history", ref=made["ref"]))["changes"]
            assert [one["operation"] for one in changes] == ["tasks.remove", "tasks.edit", "tasks.edit", "tasks.add"]
            assert [one["actor"] for one in changes] == ["agent:mcp", "agent:mcp", "cli", "agent:mcp"]
            memdeck(root, "changes", "revert", gone["change"])
            (entry,) = (await call("read", ref=made["ref"]))["entries"]
            assert entry["hash"] == edited["hash"]
            assert (await call("review")) == {"proposals": []}

    async with within():
        await session()


def test_every_tool_answers_and_those_that_read_write_nothing(tmp_path: Path) -> None:
    """All tools that only read leave every byte as it was; each answers what its contract says."""
    root = make_workspace(tmp_path)
    before = contents(root)
    with serving(root) as server:
        assert server.hello()["serverInfo"]["name"] == "memdeck"
        assert set(server.call("brief")) == {"text", "tokens"}
        assert set(server.call("search", query="deploy")) == {"results", "cursor"}
        entries = server.call("read", kind="tasks")["entries"]
        assert {"ref", "hash", "kind", "title", "file", "fields", "text"} == set(entries[0])
        assert "changes" in server.call("history")
        assert server.call("review") == {"proposals": []}
        assert contents(root) == before
        made = server.call("add", kind="journal", title="Checked", text="one\ntwo")
        assert {"ref", "hash", "change"} <= set(made)
        assert server.call("remove", ref=made["ref"], hash=made["hash"])["change"]
        (change, _) = server.call("history", since="2020-01-01", limit=2)["changes"]
        assert change["actor"] == "agent:test-client"


def test_a_server_that_only_reads_changes_nothing(tmp_path: Path) -> None:
    """With --read-only the tools that write are not listed, and calling one is refused."""
    root = make_workspace(tmp_path)
    before = contents(root)
    with serving(root, "--read-only") as server:
        server.hello()
        listed = [tool["name"] for tool in server.ask("tools/list")["result"]["tools"]]
        assert listed == ["brief", "search", "read", "history", "review"]
        assert server.call("add", kind="tasks", title="x")["error"]["code"] == "mcp.read_only"
    assert contents(root) == before


def test_changes_are_made_in_the_name_that_was_given(tmp_path: Path) -> None:
    """`--actor` is whose changes they are, whatever the client calls itself; `memdeck undo` takes them back."""
    root = make_workspace(tmp_path)
    with serving(root, "--actor", "agent:builder") as server:
        server.hello()
        server.call("add", kind="tasks", title="Mine")
    assert memdeck(root, "changes", "list")["changes"][0]["actor"] == "agent:builder"
    memdeck(root, "undo", "--actor", "agent:builder")
    assert b"Mine" not in contents(root)[".aiter/memory/tasks.md"]


def test_an_empty_brief_is_said_in_words(tmp_path: Path) -> None:
    """Some models refuse a text without a character; the structured answer stays as it is."""
    (tmp_path / "shop" / ".aiter" / "memory").mkdir(parents=True)
    (tmp_path / "shop" / ".aiter" / "memory" / "tasks.md").write_text("## Pending\n")
    with serving(tmp_path / "shop") as server:
        server.hello()
        told = server.ask("tools/call", name="brief", arguments={})["result"]
    assert told["structuredContent"] == {"text": "", "tokens": 0}
    assert "nothing to tell" in told["content"][0]["text"]


def test_resources(tmp_path: Path) -> None:
    """The brief and each file can be read; a path that leads elsewhere is refused."""
    root = make_workspace(tmp_path)
    (root / "secret.txt").write_text("secret")
    with serving(root) as server:
        server.hello()
        listed = [one["uri"] for one in server.ask("resources/list")["result"]["resources"]]
        assert listed[0] == "memdeck://brief"
        assert "memdeck://file/.aiter/memory/tasks.md" in listed
        for uri in listed:
            assert server.ask("resources/read", uri=uri)["result"]["contents"][0]["text"]
        for uri in (
            "memdeck://file/secret.txt",
            "memdeck://file/../../etc/passwd",
            "memdeck://file/%2e%2e/%2e%2e/etc/passwd",
            "memdeck://file//etc/passwd",
            "file:///etc/passwd",
        ):
            error = server.ask("resources/read", uri=uri)["error"]
            assert error["data"]["error"]["code"] == "mcp.no_resource"
