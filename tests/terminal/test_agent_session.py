"""An agent's session over the Model Context Protocol, and the person who decides about it in a real terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.servers.mcp.serving import memdeck, serving
from tests.desks import make_workspace
from tests.memory_files import contents
from tests.patience import until
from tests.terminal.conftest import HOUSE, NOW
from tests.terminal.tmux import Terminal, needs_tmux
from tests.terminal.tmux import memdeck as command

pytestmark = [pytest.mark.terminal, needs_tmux]
SIZE = (120, 36)
TASK = "Deploy v2.1"


def open_inbox(root: Path) -> Terminal:
    """Open the application of a person whose records are those of the server."""
    environ = {"XDG_STATE_HOME": str(root.parent / "records"), "TZ": "UTC", "PYTHONPATH": str(HOUSE)}
    return Terminal(root.parent, command(str(root), "--now", NOW, "--pane", "tasks"), SIZE, environ)


@pytest.mark.parametrize("undo", ["key", "verb"])
@pytest.mark.thorough
def test_a_removal_is_proposed_accepted_seen_and_taken_back(tmp_path: Path, undo: str) -> None:
    """The agent reads, adds, is refused with a stale hash and proposes to remove the person's task; the person accepts
    it by keys, the agent sees that, and the person's undo brings every byte back.
    """
    root = make_workspace(tmp_path)
    with serving(root, "--actor", "agent:builder") as server:
        server.hello()
        assert TASK in server.call("brief", message="redis")["text"]
        assert server.call("search", query="redis")["results"][0]["ref"].startswith("knowledge#")
        made = server.call("add", kind="tasks", title="Rotate keys", fields={"priority": "HIGH"})
        memdeck(root, "tasks", "edit", made["ref"], "--set", "notes=by hand")
        before = contents(root)

        refused = server.call("edit", ref=made["ref"], hash=made["hash"], set={"notes": "mine"})["error"]
        assert refused["code"] == "entry.stale"
        assert refused["details"]["changed"] == [{"field": "notes", "was": None, "is": "by hand"}]
        (task,) = server.call("read", kind="tasks", filter={"match": TASK})["entries"]
        answer = server.call("remove", ref=task["ref"], hash=task["hash"], reason="it is live")
        proposal = answer["proposal"]
        assert "change" not in answer
        assert contents(root) == before
        (told,) = server.call("review", id=proposal)["proposals"]
        assert (told["state"], told["change"]) == ("waiting", None)

        with open_inbox(root) as terminal:
            terminal.wait_for(TASK)
            terminal.press("9")
            terminal.wait_for("by    builder")
            assert contents(root) == before
            terminal.press("a")
            terminal.wait_for("The check of this monitor.")
            (told,) = until(
                lambda: [one for one in server.call("review")["proposals"] if one["state"] != "waiting"],
                terminal.screen,
            )
            assert (told["id"], told["state"], told["decidedBy"]) == (proposal, "accepted", "human")
            gone = server.call("read", ref=task["ref"])["error"]
            assert gone["code"] == "task.gone"
            (change,) = server.call("history", ref=task["ref"])["changes"]
            assert (change["id"], change["actor"]) == (told["change"], "agent:builder")
            assert TASK.encode() not in contents(root)[".aiter/memory/tasks.md"]

            if undo == "key":
                terminal.press("u")
            else:
                memdeck(root, "undo")
            terminal.wait_until(lambda: contents(root) == before, "the person's undo brings every byte back")
            terminal.press("q")
            terminal.wait_for("ended with 0")
        (again,) = server.call("read", ref=task["ref"])["entries"]
        assert (again["ref"], again["hash"], again["fields"]) == (task["ref"], task["hash"], task["fields"])
