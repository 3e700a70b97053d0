"""The sample workspace on disk, and memdeck run on it in this process or as one of its own."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.cli import session
from app.main import run
from tests import commands
from tests.clock import standing
from tests.contract import place
from tests.fixture_files import sample, sample_names

NOW = "2024-01-15T12:00:00Z"
HOUSE = Path(__file__).parents[3]
HOSTILE = (
    "[/nope] [bold]x",
    "esc \x1b[31mred\x1b[0m",
    "osc \x1b]52;c;aGk=\x07",
    "c1 \x9b31m and \x85",
    "del \x7f",
    "bidi \u202etxt.exe\u2069",
    "tag \U000e0041\U000e0042",
    "zero\u200bwidth",
    "Chinese 结账页面 and 📸 👩‍👩‍👧",
    "long " + "x" * 10_000,
)


class Answer(place.Answer):
    """What a run gave back."""

    @property
    def objects(self) -> list[Any]:
        """Return stdout as JSON objects, one a line."""
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write the sample files into a workspace, make it the current folder, and keep state out of the home."""
    root = tmp_path / "shop"
    memory = root / ".aiter" / "memory"
    memory.mkdir(parents=True)
    for name in sample_names():
        (memory / name).write_bytes(sample(name))
    monkeypatch.chdir(root)
    _away_from_home(monkeypatch, tmp_path)
    return root


@pytest.fixture
def memory(shop: Path) -> Path:
    """Return the memory folder of the sample workspace."""
    return shop / ".aiter" / "memory"


def _away_from_home(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setenv("HOME", str(folder / "home"))
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.delenv("MEMDECK_ACTOR", raising=False)


@pytest.fixture
def memdeck(shop: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """Return a function that runs the command line in this process, at noon of the sample's day.

    A person sits there. For an agent, who may not say `--now`, the clock of the machine stands.
    """

    def call(*arguments: str, now: str | None = NOW) -> Answer:
        agent = any(word.startswith("agent:") for word in (*arguments, os.environ.get("MEMDECK_ACTOR", "")))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(session.Session, "sees_person", lambda _: True)
            if now and agent:
                patch.setattr(session, "machine_time", standing(now))
            code = run([*(["--now", now] if now and not agent else []), *arguments])
        out, err = capsys.readouterr()
        return Answer(code, out, err)

    return call


@pytest.fixture
def process(shop: Path) -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Return a function that runs memdeck as a process, with more variables and stdin if wanted."""

    def call(*arguments: str, stdin: bytes = b"", **variables: str) -> subprocess.CompletedProcess[bytes]:
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("LC_", "LANG", "PYTHON"))}
        environment |= {"PYTHONPATH": str(HOUSE), "LANG": "C.UTF-8"} | variables
        return commands.memdeck(arguments, cwd=shop, environ=environment, given=stdin, process=True)

    return call
