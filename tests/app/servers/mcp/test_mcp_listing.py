"""What the listing of the tools costs and says."""

from __future__ import annotations

import json

from app.servers.mcp.definitions import INSTRUCTIONS, TOOLS, tools


def test_the_listing_costs_little() -> None:
    """Eight tools cost at most 1,200 tokens, and the instructions have less than 2,000 characters."""
    told = json.dumps([tool.json() for tool in TOOLS], separators=(",", ":"))
    assert len(TOOLS) == 8
    assert len(told) / 4 <= 1_200
    assert len(INSTRUCTIONS) < 2_000


def test_the_tools_are_those_of_the_contract() -> None:
    """Names and arguments are the ones that clients and other programs know."""
    assert {tool.name: tuple(tool.arguments) for tool in TOOLS} == {
        "brief": ("message", "budget"),
        "search": ("query", "kinds", "limit", "cursor"),
        "read": ("ref", "kind", "filter", "limit", "cursor"),
        "add": ("kind", "title", "fields", "text"),
        "edit": ("ref", "hash", "set", "unset", "text"),
        "remove": ("ref", "hash", "reason"),
        "history": ("ref", "since", "limit"),
        "review": ("id",),
    }
    assert all(set(tool.required) <= set(tool.arguments) for tool in TOOLS)


def test_a_server_that_only_reads_offers_no_other_tools() -> None:
    """Without the tools that change something, those that look are left."""
    assert [tool.name for tool in tools(read_only=True)] == ["brief", "search", "read", "history", "review"]


def test_hints_are_said_where_a_client_would_assume_otherwise() -> None:
    """Each tool says whether it only reads; one that writes says whether it destroys and can be repeated."""
    hints = {tool.name: tool.json()["annotations"] for tool in TOOLS}
    for name in ("brief", "search", "read", "history", "review"):
        assert hints[name] == {"readOnlyHint": True, "openWorldHint": False}
    assert hints["add"] == {"destructiveHint": False, "idempotentHint": False, "openWorldHint": False}
    for name in ("edit", "remove"):
        assert hints[name] == {"destructiveHint": True, "idempotentHint": True, "openWorldHint": False}
