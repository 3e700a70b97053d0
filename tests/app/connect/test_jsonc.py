"""Changes of single places in JSON with comments and commas behind the last value, wherever these stand."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import pytest

from app.connect.jsonc import JsonFile

OURS = {"command": "ours"}
GAPS = ["", " ", "\n", "\n  ", "/* ,]} */", "// ,]}\n", "\t", "\r\n"]


def written(value: Any, chance: random.Random) -> str:
    """Return a value as a person may have written it: comments and line ends anywhere."""

    def gap() -> str:
        return chance.choice(GAPS)

    def inside(parts: list[str]) -> str:
        last = "," + gap() if parts and chance.random() < 0.4 else ""
        return gap() + ("," + gap()).join(part + gap() for part in parts) + last

    if isinstance(value, dict):
        return (
            "{" + inside([json.dumps(key) + gap() + ":" + gap() + written(value[key], chance) for key in value]) + "}"
        )
    if isinstance(value, list):
        return "[" + inside([written(one, chance) for one in value]) + "]"
    return json.dumps(value)


def settings(chance: random.Random) -> dict[str, Any]:
    """Return settings of a client with hooks: ours, others, and such as hold several commands."""
    single = [OURS, {"command": "other"}, "text", 1, [], {}]
    several = [{"hooks": chance.choices(single[:2], k=number), "matcher": "m"} for number in range(4)]
    hooks: dict[str, Any] = {"Stop": chance.choices([*single, *several], k=chance.randint(0, 4))}
    if chance.random() < 0.5:
        hooks["Other"] = [1]
    return {"first": chance.choice(single), "hooks": hooks} | ({"last": 1} if chance.random() < 0.5 else {})


def is_ours(value: Any) -> bool:
    """Tell whether a value is our command."""
    return bool(value == OURS)


def value_of(text: str) -> Any:
    """Return what a file says."""
    return JsonFile("settings.json", text).value


@pytest.mark.parametrize("seed", range(8))
def test_what_is_taken_away_leaves_the_rest_as_it_was(seed: int) -> None:
    """The file still parses and says the same of all others, wherever comments and commas stand."""
    chance = random.Random(seed)
    for _ in range(150):
        said = settings(chance)
        text = written(said, chance)
        inside = ("hooks", lambda _item, value: is_ours(value))
        left = JsonFile("settings.json", text).without(("hooks", "Stop"), is_ours, inside)
        items = said["hooks"]["Stop"]
        stays = [one for one in items if one != OURS]
        if items and not stays:
            del said["hooks"]["Stop"]
            if not said["hooks"]:
                del said["hooks"]
        else:
            said["hooks"]["Stop"] = [
                one | {"hooks": [inner for inner in one["hooks"] if inner != OURS]}
                if isinstance(one, dict) and "hooks" in one
                else one
                for one in stays
            ]
        assert value_of(left) == said, text


@pytest.mark.parametrize("seed", range(8))
def test_what_is_added_counts_behind_any_comment(seed: int) -> None:
    """A new item or value is never put into the comment that ends a line."""
    chance = random.Random(seed)
    for _ in range(150):
        said = settings(chance)
        text = written(said, chance)
        added, put = copy.deepcopy(said), copy.deepcopy(said)
        added["hooks"]["Stop"].append(OURS)
        put["hooks"]["New"] = OURS
        assert value_of(JsonFile("settings.json", text).add(("hooks", "Stop"), OURS)) == added, text
        assert value_of(JsonFile("settings.json", text).put(("hooks", "New"), OURS)) == put, text
