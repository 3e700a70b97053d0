"""One workspace as agents write it, through every surface: all of them say the same of it, and no byte changes."""

from __future__ import annotations

from tests.contract.place import Place

FILES = {
    "tasks.md": "## 📋 Todo\n\n- [ ] Buy walnuts\n- Ask the giraffe\n\n"
    "### P1 Renew the certificate\n* **Deadline:** 2026-01-05\n- Owner: Alice\n\n"
    "## Done ✅\n\n### [LOW] Sweep the pier\n- Completed: 2026-02-27\n",
    "journal.md": "## January 15, 2026\n\n- 4:30 PM — Deployed the kettle\n",
    "knowledge.md": "## Technical Facts\n\n1. The oven needs an hour\n",
    "contacts.md": "## People\n\n• **Bob** (SRE): on call\n",
    "orchestration.md": "## Active Plans\n\n### Move to Redis\n- **Status:** running\n",
    "monitors.md": "## Monitors\n\n### Disk\n- type: command\n- **Command:** df\n",
    "config.md": "## Memory Maintenance\n\n- **archiveCompletedAfterDays:** 365\n",
}


def test_all_surfaces_agree(workspace: Place) -> None:
    """Lists, status, search and the tools of agents have the same entries, and the same lines that nothing reads."""
    for name, text in FILES.items():
        workspace.write(f".aiter/memory/{name}", text)
    before = {name: workspace.read(f".aiter/memory/{name}") for name in FILES}
    listed = {
        "tasks": workspace.json("tasks", "list", "--section", "all")["tasks"],
        "journal": workspace.json("journal", "list")["entries"],
        "knowledge": workspace.json("knowledge", "list")["knowledge"],
        "contacts": workspace.json("contacts", "list")["people"],
        "plans": workspace.json("orchestration", "list")["plans"],
        "monitors": workspace.json("monitors", "list")["monitors"],
    }
    tasks = {one["title"]: one for one in listed["tasks"]}
    assert {title: one["section"] for title, one in tasks.items()} == {
        "Renew the certificate": "pending",
        "Buy walnuts": "pending",
        "Sweep the pier": "completed",
    }
    assert (listed["plans"][0]["status"], listed["monitors"][0]["command"]) == ("running", None)
    status = workspace.json("status")
    assert [one["title"] for one in status["overdue"]] == ["Renew the certificate"]
    problems = workspace("check", "-o", "json").data["problems"]
    told = {(one["file"], one["line"]) for one in problems if one["level"] != "note" and one["code"] != "link.unused"}
    assert {("tasks.md", 4), ("monitors.md", 5), ("config.md", 3)} <= told
    assert told == {(one["file"], one["line"]) for one in status["problems"] if one["level"] != "note"}
    reads = workspace.mcp(*(("read", {"kind": kind, "filter": {"section": "all"}}) for kind in ("tasks", "knowledge")))
    for kind, answer in zip(("tasks", "knowledge"), reads, strict=True):
        assert {one["ref"] for one in answer["entries"]} == {one["ref"] for one in listed[kind]}
    refs = {"walnuts": tasks["Buy walnuts"]["ref"]}
    refs |= {word: listed[kind][0]["ref"] for kind, word in (("journal", "kettle"), ("knowledge", "oven"))}
    for word, ref in {**refs, "bob": listed["contacts"][0]["ref"]}.items():
        assert ref in [one["ref"] for one in workspace.json("search", word)["results"]]
    assert [(one["file"], one["line"]) for one in workspace.json("search", "giraffe")["results"]] == [("tasks.md", 4)]
    answer = workspace("--maintain", "--no-exec", "-o", "json")
    assert (answer.code, answer.data["error"]["details"]["line"]) == (2, 3)
    assert before == {name: workspace.read(f".aiter/memory/{name}") for name in FILES}
