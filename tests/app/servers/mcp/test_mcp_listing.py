"""What the listing of the tools costs and says."""

from __future__ import annotations

import json

from app.servers.mcp.definitions import INSTRUCTIONS, tools

TOOLS = tools(read_only=False)


def test_the_listing_costs_little() -> None:
    """Eight tools and the instructions have so many characters that both cost at most 1,300 tokens of o200k_base."""
    told = "".join(tool.name + tool.description + json.dumps(tool.schema, separators=(",", ":")) for tool in TOOLS)
    assert len(TOOLS) == 8
    assert len(told) + len(INSTRUCTIONS) <= 5_280


def test_the_tools_are_those_of_the_contract() -> None:
    """Names and arguments are the ones that clients and other programs know."""
    assert {tool.name: tuple(tool.schema["properties"]) for tool in TOOLS} == {
        "brief": ("message", "budget"),
        "search": ("query", "kinds", "limit", "cursor"),
        "read": ("ref", "kind", "filter", "limit", "cursor"),
        "add": ("kind", "title", "fields", "text", "again", "entries"),
        "edit": ("ref", "hash", "set", "unset", "text", "append", "rename", "undo"),
        "remove": ("ref", "hash", "reason"),
        "history": ("ref", "since", "limit"),
        "review": ("id",),
    }
    required = {tool.name: tool.schema["required"] for tool in TOOLS if "required" in tool.schema}
    assert required == {"search": ["query"], "remove": ["ref"]}


def test_each_kind_is_said_with_its_use() -> None:
    """The kinds of `add` are an enumeration, each with a line that says what it is for and whether it is told."""
    (kind,) = (tool.schema["properties"]["kind"] for tool in TOOLS if tool.name == "add")
    lines = [line.partition(": ") for line in kind["description"].splitlines()]
    assert [name for name, _, _ in lines] == kind["enum"]
    assert all("told" in use or "search" in use or "says which" in use for _, _, use in lines)


def test_hints_are_said_where_a_client_would_assume_otherwise() -> None:
    """Each tool says whether it only reads; one that writes says whether it destroys and can be repeated."""
    hints = {tool.name: tool.json()["annotations"] for tool in TOOLS}
    for name in ("brief", "search", "read", "history", "review"):
        assert hints[name] == {"readOnlyHint": True, "openWorldHint": False}
    assert hints["add"] == {"destructiveHint": False, "idempotentHint": False, "openWorldHint": False}
    for name in ("edit", "remove"):
        assert hints[name] == {"destructiveHint": True, "idempotentHint": True, "openWorldHint": False}
