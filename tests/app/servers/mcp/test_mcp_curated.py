"""The sets of tools on curated memory: what they are called, what they cost, and what they do."""

from __future__ import annotations

import json
from pathlib import Path

from app.servers.mcp.curated_tools import INSTRUCTIONS, curated_tools
from tests.desks import make_workspace

from .serving import serving

FIVE = ["agh__memory_list", "agh__memory_show", "agh__memory_search", "agh__memory_note", "agh__memory_propose"]


def test_the_five_tools_of_agents() -> None:
    """They have their names, and cost at most 1,300 tokens."""
    tools = curated_tools("curated", read_only=False)
    assert [tool.name for tool in tools] == FIVE
    assert len(json.dumps([tool.json() for tool in tools], separators=(",", ":"))) / 4 <= 1_300
    assert len(INSTRUCTIONS) < 2_000
    propose = tools[-1]
    assert propose.schema["properties"]["operation"]["enum"] == ["add", "update", "delete"]
    assert propose.schema["required"] == ["operation"]


def test_a_long_list_ends_where_it_becomes_large(tmp_path: Path) -> None:
    """A list of very many memories is cut, and says how many are left out."""
    root = make_workspace(tmp_path)
    folder = root / ".agh" / "memory"
    folder.mkdir(parents=True)
    for number in range(300):
        head = f"name: Number {number}\ndescription: {'long ' * 30}\ntype: project\nscope: workspace\n"
        (folder / f"project_n{number}.md").write_text(f"---\n{head}---\nBody {number}.\n")
    with serving(root, "--toolset", "curated") as server:
        server.hello()
        found = server.call("agh__memory_list")
    assert len(json.dumps(found)) < 80_000
    assert len(found["memories"]) + found["more"] == 300
