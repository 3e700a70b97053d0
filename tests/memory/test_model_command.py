"""Asking commands: each reads its own question, however many are asked at once, and nothing of the workspace's PATH."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memory.monitoring.command import ask_command
from memory.monitoring.result import NotUsed
from memory.trust.consent import Trust

_LIMIT = 1_000_000


def _ask(text: str, question: object, folder: Path, path: str = os.environ["PATH"]) -> str:
    root = folder / "work"
    root.mkdir(exist_ok=True)
    trust = Trust(folder / "state", root)
    return ask_command(text, question, trust=trust, environ={"PATH": path}, seconds=60, limit=_LIMIT)


def test_questions_at_once_are_not_mixed_up(tmp_path: Path) -> None:
    """Of many that wait for each other each reads what it was asked."""
    count, meeting = 6, tmp_path / "meeting"
    meeting.mkdir()
    text = f"touch {meeting}/began.$$; while [ $(ls {meeting} | grep -c began) -lt {count} ]; do sleep 0.01; done; cat"
    with ThreadPoolExecutor(count) as pool:
        answers = list(pool.map(lambda number: _ask(text, {"number": number}, tmp_path), range(count)))
    assert [json.loads(answer) for answer in answers] == [{"number": number} for number in range(count)]


def test_a_program_of_the_workspace_is_not_asked(tmp_path: Path) -> None:
    """A plain name is no program in the folder in which it runs, whatever PATH says."""
    folder = tmp_path / "work/bin"
    folder.mkdir(parents=True)
    (folder / "answer").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    (folder / "answer").chmod(0o755)
    with pytest.raises(NotUsed, match="exit code 127"):
        _ask("answer", {}, tmp_path, f"{folder}:{os.environ['PATH']}")
    assert not (tmp_path / "ran").exists()
