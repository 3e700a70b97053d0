"""Every hostile workspace, opened while system calls are traced; a sample of them unless MEMDECK_HOSTILE is `all`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import examples

from .canaries import CANARIES, Canary
from .case import FILES, Case
from .catalogue import BY_NAME, CASES, PARTS
from .client import Client
from .expect import missing

WHOLE = os.environ.get("MEMDECK_HOSTILE") == "all"
REQUIRED = "MEMDECK_TOOLS" in os.environ
"""Continuous integration sets it: there a case that cannot be played is a failure, elsewhere a reason to skip."""
SAMPLE = CASES if WHOLE else [case for case in CASES if case.sample][:: 1 if examples.WHOLE else 3]
SCREENS = SAMPLE if WHOLE else SAMPLE[::4]
"""The cases that are opened in the application as well, which takes a hundred times as long as a verb."""
TOOK = CANARIES if WHOLE else CANARIES[: 2 if examples.WHOLE else 1]
PAGE = Path(__file__).parents[2] / "docs" / "hostile.md"


def _give_up(why: str) -> None:
    (pytest.fail if REQUIRED else pytest.skip)(why)


@pytest.fixture(scope="session")
def player() -> Iterator[Client]:
    """Start the process that plays the cases, with `strace` looking on."""
    strace = shutil.which("strace")
    if strace is None:
        _give_up("strace is not installed")
    assert strace is not None
    with Client(strace) as client:
        yield client


@pytest.mark.parametrize("case", SAMPLE, ids=lambda case: case.name)
def test_a_hostile_workspace_does_nothing(player: Client, case: Case) -> None:
    """Nothing starts, connects, or is written or read outside; what it asks for waits for a person."""
    verdict = player.play(case, screen=case in SCREENS)
    if verdict.skip:
        _give_up(f"{case.name}: {verdict.skip}")
    assert [*verdict.wrong, *missing(case, verdict)] == []


@pytest.mark.parametrize("canary", TOOK, ids=lambda canary: canary.case.name)
def test_the_judge_notices(player: Client, canary: Canary) -> None:
    """The same things approved do run, connect and write, and the judge says so."""
    verdict = player.play(canary.case, screen=False)
    if verdict.skip:
        _give_up(f"{canary.case.name}: {verdict.skip}")
    found = [sentence for sentence in verdict.wrong if canary.noticed in sentence and canary.verb in sentence]
    assert found, verdict.wrong


def test_the_catalogue_is_whole() -> None:
    """There are enough cases, each with its own name and words, and every file belongs to one."""
    assert len(CASES) >= 60
    assert len(BY_NAME) == len({case.says for case in CASES}) == len(CASES)
    assert len({path.read_bytes() for path in FILES.iterdir()}) == len(list(FILES.iterdir()))
    sources = "".join(path.read_text("utf-8") for path in Path(__file__).parent.glob("*.py"))
    assert [path.name for path in FILES.iterdir() if f'laid("{path.name}")' not in sources] == []


def test_the_page_counts_every_case() -> None:
    """docs/hostile.md has the number of workspaces of each group, in its order."""
    rows = [row for row in PAGE.read_text("utf-8").splitlines() if row.startswith("| ")]
    assert [int(row.split("|")[2]) for row in rows[1:]] == [len(cases) for _, cases in PARTS.values()]
