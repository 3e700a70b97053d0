"""Pins and mutes: what a person puts on top of the prompts of agents, and what agents are not told."""

from __future__ import annotations

import subprocess
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.errors import ConfigError, NotFoundError
from memory.prompts.brief import brief, for_message
from memory.prompts.compose import AgentPrompt
from memory.prompts.sheet import change_choices
from memory.systems import searcher_of
from memory.workspace import Workspace

NOW = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)
LATE = """---
type: task-list
---

## Pending

### [HIGH] Renew the certificate
- due: 2024-01-10

### [HIGH] Rotate the keys
- due: 2024-01-11

## In Progress

## Completed (last 7 days)

### [LOW] Paint the shed
- completed: 2024-01-14
"""


@pytest.fixture
def shop(tmp_path: Path) -> Workspace:
    """Return a workspace with two late tasks and one that no brief tells."""
    return Workspace.init(
        tmp_path / "shop",
        NOW,
        actor="test",
        state_home=tmp_path / "state",
        machine_zone=UTC,
        files={"tasks.md": LATE},
    )[0]


def ref_of(shop: Workspace, title: str) -> str:
    """Return the ref of a task."""
    return next(task.ref for task in shop.snapshot().tasks.items if task.title == title)


def choose(shop: Workspace, kind: str, title: str) -> None:
    """Pin or mute a task as a person does."""
    ref = ref_of(shop, title)
    change_choices(shop.state, lambda old: old.having(ref, kind), now=NOW)


def titles(found: AgentPrompt) -> list[str]:
    """Return what is sent, in order."""
    return [one.title for one in found.blocks if one.included]


def test_a_pin_comes_first_and_a_mute_is_not_sent(shop: Workspace) -> None:
    """The pinned task stands below a heading of its own; the muted one is listed, but not in the text."""
    assert titles(brief(shop, NOW)) == ["Renew the certificate", "Rotate the keys"]
    choose(shop, "pin", "Rotate the keys")
    choose(shop, "mute", "Renew the certificate")
    found = brief(shop, NOW)
    assert titles(found) == ["Rotate the keys"]
    assert "## Pinned\n- tasks#" in found.text
    assert "Renew" not in found.text
    assert [(one.title, one.reason) for one in found.not_sent("mute")] == [("Renew the certificate", "you muted it")]
    assert found.not_sent("budget") == ()


def test_a_pin_brings_what_nothing_else_brings(shop: Workspace) -> None:
    """A task that is done is told from the pin on; once it is gone the pin tells nothing."""
    assert "Paint the shed" not in brief(shop, NOW).text
    choose(shop, "pin", "Paint the shed")
    assert titles(brief(shop, NOW))[0] == "Paint the shed"
    (shop.memory / "tasks.md").write_text(LATE.partition("### [LOW]")[0])
    assert titles(brief(shop, NOW)) == ["Renew the certificate", "Rotate the keys"]


def test_a_message_gets_no_pin_that_does_not_fit_and_nothing_muted(shop: Workspace) -> None:
    """Of what fits, the pinned comes first and the muted is left out."""
    with closing(searcher_of(shop)) as searcher:
        plain = for_message(shop, NOW, "renew or rotate", searcher=searcher)
        first, second = titles(plain)
        choose(shop, "pin", "Paint the shed")
        choose(shop, "pin", second)
        assert titles(for_message(shop, NOW, "renew or rotate", searcher=searcher)) == [second, first]
        choose(shop, "mute", first)
        assert titles(for_message(shop, NOW, "renew or rotate", searcher=searcher)) == [second]


def test_what_is_chosen_is_taken_back(shop: Workspace) -> None:
    """The text is the old one, byte for byte; what was not chosen cannot be taken back."""
    before = brief(shop, NOW)
    choose(shop, "mute", "Rotate the keys")
    ref = ref_of(shop, "Rotate the keys")
    change_choices(shop.state, lambda old: old.without(ref, "mute"), now=NOW)
    assert brief(shop, NOW) == before
    with pytest.raises(NotFoundError) as caught:
        change_choices(shop.state, lambda old: old.without(ref, "mute"), now=NOW)
    assert caught.value.code == "prompt.not_chosen"


def test_choices_are_no_part_of_the_workspace(shop: Workspace, tmp_path: Path) -> None:
    """Nothing below the workspace names what was chosen, and only the person can read the file."""
    choose(shop, "mute", "Rotate the keys")
    found = subprocess.run(["grep", "-rl", "mute", tmp_path / "shop"], capture_output=True, check=False)
    assert found.stdout == b""
    (path,) = (tmp_path / "state").rglob("choices.json")
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"{", b'{"version": 2, "choices": []}', b'{"version": 1, "choices": [1]}']
)
def test_choices_that_cannot_be_read_tell_nothing(shop: Workspace, tmp_path: Path, data: bytes) -> None:
    """What was muted is not told because a file is damaged: the error names the file."""
    choose(shop, "mute", "Rotate the keys")
    (path,) = (tmp_path / "state").rglob("choices.json")
    path.write_bytes(data)
    with pytest.raises(ConfigError) as caught:
        brief(shop, NOW)
    assert (caught.value.code, caught.value.details["file"]) == ("prompt.choices", str(path))
