"""Review at the command line: what an agent is told, and what a person decides."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.app.cli.conftest import HOSTILE, Answer

Memdeck = Callable[..., Answer]

AGENT = ("--actor", "agent:a")


def _proposed(memdeck: Memdeck, *words: str) -> str:
    answer = memdeck(*words, *AGENT, "-o", "json")
    assert (answer.code, answer.data["error"]["code"]) == (3, "review.waiting")
    assert len(answer.err.splitlines()) == 1
    return str(answer.data["proposal"])


def test_a_conflict_has_three_sides_and_a_choice(memdeck: Memdeck, memory: Path) -> None:
    """Exit 4 and `review.conflict`; --take says whose side counts."""
    number = _proposed(memdeck, "tasks", "edit", "Deploy", "--set", "due=2024-02-02")
    memdeck("tasks", "edit", "Deploy", "--set", "due=2024-03-03")
    answer = memdeck("review", "accept", number, "-o", "json")
    assert (answer.code, answer.data["error"]["code"]) == (4, "review.conflict")
    (clash,) = answer.data["error"]["details"]["conflicts"]
    assert (clash["field"], clash["ours"], clash["theirs"]) == ("due", "2024-02-02", "2024-03-03")
    told = memdeck("review", "show", number).out
    assert "2024-02-02" in told
    assert "2024-03-03" in told
    assert memdeck("review", "accept", number, "--take", "proposal").code == 0
    assert "due: 2024-02-02" in (memory / "tasks.md").read_text()


def test_a_note_goes_with_a_rejection(memdeck: Memdeck) -> None:
    """It is listed with the decision, and a second decision is refused."""
    number = _proposed(memdeck, "tasks", "remove", "Deploy")
    assert memdeck("review", "reject", number, "--note", "still needed").code == 0
    (told,) = memdeck("review", "list", "--state", "rejected", "-o", "json").data["proposals"]
    assert (told["note"], told["decidedBy"]) == ("still needed", "cli")
    again = memdeck("review", "reject", number, "-o", "json")
    assert (again.code, again.data["error"]["code"]) == (4, "review.decided")
    assert "still needed" in memdeck("review", "show", number).out
    assert memdeck("review", "list").out == "nothing is pending\n"


def test_a_person_edits_it_first(memdeck: Memdeck, memory: Path) -> None:
    """The new text of the entry waits on, and is what is accepted."""
    number = _proposed(memdeck, "tasks", "edit", "Deploy", "--set", "notes=theirs")
    answer = memdeck("review", "edit", number, "--text", "### [HIGH] Deploy\n- notes: mine", "-o", "json")
    assert answer.data["proposal"]["edited"]
    assert memdeck("review", "accept", number).code == 0
    assert "- notes: mine" in (memory / "tasks.md").read_text()


def test_what_was_accepted_outside_is_taken_back(memdeck: Memdeck, tmp_path: Path) -> None:
    """Undo, redo and `changes revert` reach the person's own memory in ~/.agh, and say where that is."""
    path = tmp_path / "home" / ".agh" / "memory" / "user_editor.md"
    own = ("--scope", "global", "--content")
    assert memdeck("curated", "write", "--type", "user", "--name", "Editor", *own, "Uses vim").code == 0
    before = path.read_text()
    number = _proposed(memdeck, "curated", "edit", "user_editor.md", *own, "Uses emacs")
    (view,) = memdeck("review", "show", number, "-o", "json").data["views"]
    assert {"-Uses vim", "+Uses emacs"} <= set(view["lines"])
    (made,) = memdeck("review", "accept", number, "-o", "json").data["changes"]
    assert made["store"] == str(path.parents[1])
    assert "Uses emacs" in path.read_text()
    shown = memdeck("changes", "show", made["id"])
    assert "in ~/.agh, outside of this workspace" in shown.out
    assert "+Uses emacs" in shown.out
    assert memdeck("undo").out == "undid: updated memory 'Editor' (global) (in ~/.agh)\n"
    assert path.read_text() == before
    assert memdeck("redo", "-o", "json").data["change"]["store"] == str(path.parents[1])
    assert "Uses emacs" in path.read_text()
    assert memdeck("changes", "revert", made["id"], *AGENT).code == 3
    assert memdeck("changes", "revert", made["id"], "-o", "json").data["change"]["undoneBy"] is None
    assert path.read_text() == before
    again = memdeck("changes", "revert", made["id"], "-o", "json")
    assert (again.code, again.data["error"]["code"]) == (4, "change.undone")


def test_rules_are_set_shown_and_taken_away(memdeck: Memdeck) -> None:
    """A rule counts from then on, an agent cannot set one, and a wrong one is refused with what can be written."""
    assert memdeck("review", "policy", "agent:a", "remove", "deny").code == 0
    answer = memdeck("tasks", "remove", "Deploy", *AGENT, "-o", "json")
    assert (answer.code, answer.data["error"]["code"]) == (1, "review.denied")
    shown = memdeck("review", "policy", "-o", "json").data
    assert shown["rules"] == [{"actor": "agent:a", "kind": "remove", "decision": "deny"}]
    assert shown["usual"]["rewrite"] == "review"
    own = memdeck("review", "policy", "agent:a", "*", "apply", *AGENT, "-o", "json")
    assert own.data["error"]["code"] == "review.person_only"
    wrong = memdeck("review", "policy", "agent:a", "everything", "apply", "-o", "json")
    assert (wrong.code, wrong.data["error"]["code"]) == (2, "review.rule")
    assert memdeck("review", "policy", "agent:a", "remove", "--unset").code == 0
    assert memdeck("review", "policy", "agent:a", "remove", "--unset").code == 1
    assert "what a person wrote" in memdeck("review", "policy").out


@pytest.mark.parametrize("title", HOSTILE)
def test_hostile_text_is_shown_and_drives_nothing(memdeck: Memdeck, title: str) -> None:
    """What an agent proposes is data in every line that is printed: no escape, nothing hidden."""
    memdeck("review", "policy", "agent:a", "add", "review")
    answer = memdeck("tasks", "add", title, *AGENT, "-o", "json")
    if answer.code == 2:
        return  # what is no title is refused before
    number = answer.data["proposal"]
    for words in (("review", "list"), ("review", "show", number), ("review", "accept", number)):
        shown = memdeck(*words)
        assert shown.code == 0
        assert not [one for one in shown.out if (ord(one) < 32 and one != "\n") or 127 <= ord(one) < 160]
        assert not set(shown.out) & set("\u202e\u2069\U000e0041\U000e0042")
