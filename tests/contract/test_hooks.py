"""Hooks as clients call them: whatever is wrong, exit code 0, and memory reaches the model where there is some."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.contract.place import NOW, Answer, Place
from tests.patience import PATIENCE

TITLE = "Grün – Käse bestellen"


@pytest.fixture
def shop(workspace: Place) -> Place:
    """Return a workspace with one task that is late."""
    assert workspace("tasks", "add", TITLE, "--due", "2026-03-01 09:00").code == 0
    return workspace


def hook(place: Place, *words: str, given: Any = None, **options: Any) -> Answer:
    """Call a hook with an object on stdin, as a process of its own."""
    return place("hook", *words, given=json.dumps(given or {}), process=True, **options)


@pytest.mark.parametrize(
    ("words", "answers"),
    [
        (("hook", "prompt", "--client", "claude-code", "--new-option"), True),
        (("hook", "prompt", "--budget", "5"), True),
        (("hook", "prompt", "--client"), True),
        (("hook", "--client", "--new-option", "prompt"), True),
        (("hook", "prompt", "--client=another-client"), True),
        (("hook", "prompt", "extra", "words"), True),
        (("-w", ".", "hook", "prompt"), True),
        (("--actor", "agent:x", "-o", "yaml", "hook", "prompt"), True),
        (("--new-option", "hook", "prompt"), True),
        (("--new-option", "5", "hook", "prompt"), True),
        (("hook", "prompt", "--actor", " no actor "), True),
        (("hook", "prompt", "--now", "yesterday"), False),
        (("hook", "prompt", "-w", "/nowhere"), False),
        (("hook", "before-tool"), False),
        (("hook",), False),
    ],
)
def test_words_of_another_version_block_no_message(shop: Place, words: Sequence[str], answers: bool) -> None:
    """What this version does not know is passed over: exit code 0, nothing on stderr, an answer where there is one."""
    done = shop(*words, given=json.dumps({"prompt": "Käse?"}), now=None, process=True)
    assert (done.code, done.err) == (0, "")
    assert (TITLE in done.out) == answers


def test_help_still_helps(place: Place) -> None:
    """`--help` prints how a hook is called, on stdout."""
    for words in (("hook", "--help"), ("hook", "prompt", "--help")):
        done = place(*words, now=None)
        assert done.code == 0
        assert "memdeck hook" in done.out
    assert place("tasks", "hook", "--new-option").code == 2


@pytest.mark.parametrize("end", ["<&-", ">&-", ">/dev/full", "| true"])
def test_closed_and_broken_streams_end_well(shop: Place, end: str) -> None:
    """A stdin or stdout that is closed, full or left is no reason to fail."""
    command = f'"$0" -m app.main hook session-start --now {NOW} {end}; test "${{PIPESTATUS[0]}}" = 0'
    done = subprocess.run(
        ["bash", "-c", command, sys.executable],
        cwd=shop.work,
        env=shop.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    "environ",
    [
        {"PYTHONIOENCODING": "latin-1"},
        {"PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
)
@pytest.mark.parametrize(("event", "given"), [("session-start", {}), ("prompt", {"prompt": "Käse?"})])
def test_the_model_gets_utf_8_whatever_the_locale(
    shop: Place, environ: dict[str, str], event: str, given: dict[str, str]
) -> None:
    """The bytes on stdout are UTF-8, in which the model's client reads them."""
    assert TITLE in hook(shop, event, given=given, environ=environ).out


def test_a_folder_without_memory_is_not_the_last_word(shop: Place, tmp_path: Path) -> None:
    """An agent that went elsewhere, or removed its folder, is told of its project, else of where the client runs."""
    aside = tmp_path / "aside"
    aside.mkdir()
    for cwd in (str(aside), "/nowhere", "", 5):
        project = hook(shop, "session-start", given={"cwd": cwd}, folder=aside, environ=_project(shop.work))
        assert TITLE in project.out
        here = hook(shop, "session-start", given={"cwd": cwd}, environ=_project(aside))
        assert TITLE in here.out
    assert hook(shop, "session-start", given={"cwd": str(aside)}, folder=aside).out == ""


def _project(folder: Path) -> dict[str, str]:
    return {"CLAUDE_PROJECT_DIR": os.fspath(folder)}


def test_a_message_of_megabytes_is_searched(shop: Place) -> None:
    """A log that a person pasted, with the question before or behind it, is cut, not passed over."""
    log = "lorem ipsum dolor sit amet\n" * 100_000
    for prompt in (f"Käse?\n{log}", f"{log}\nwhat about Käse?"):
        assert TITLE in hook(shop, "prompt", given={"prompt": prompt}).out


@pytest.mark.parametrize("client", ["gemini", "claude-code", "codex"])
def test_what_a_hook_told_is_no_message_of_the_person(shop: Place, client: str) -> None:
    """Blocks of memory that a client puts into its message are neither searched nor kept."""
    assert shop("curated", "write", "--type", "project", "--name", "Tea", "--content", "Green tea at four").code == 0
    block = hook(shop, "session-start", "--client", "claude-code").out
    assert TITLE in block
    context = f"<hook_context>{block.replace('<', '&lt;').replace('>', '&gt;')}</hook_context>"
    prompt = f"{context}\n\nzebra quartz {block} indigo"
    given = {"prompt": prompt, "session_id": "one"}
    assert TITLE not in hook(shop, "prompt", "--client", client, given=given).out
    hook(shop, "stop", "--client", client, given={"prompt_response": f"{context} Done.", "session_id": "one"})
    hook(shop, "session-end", "--client", client, given={"session_id": "one"})
    events = shop.json("curated", "session", "ledger", "one")["events"]
    said = [(one["event_type"], (one["payload"] or "").split()) for one in events]
    assert said == [("user_message", ["zebra", "quartz", "indigo"]), ("assistant_message", ["Done."])]


def test_a_session_is_told_once(shop: Place) -> None:
    """A resumed session has the brief already; it gets it again when it changed, and after a compaction."""

    def begin(source: str) -> bool:
        given = {"session_id": "s-1", "source": source}
        return TITLE in hook(shop, "session-start", "--client", "claude-code", given=given).out

    assert (begin("startup"), begin("resume"), begin("compact"), begin("resume")) == (True, False, True, False)
    assert hook(shop, "session-end", given={"session_id": "s-1"}).code == 0
    assert not begin("resume")
    assert shop("tasks", "add", "Another", "--due", "2026-03-01 09:00").code == 0
    assert (begin("resume"), begin("resume"), begin("startup")) == (True, False, True)
    assert hook(shop, "pre-compact", given={"session_id": "s-1"}).code == 0
    assert begin("resume")
