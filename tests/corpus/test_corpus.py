"""Every bad input of the corpus, played with the real command; a sample of them unless MEMDECK_CORPUS is `all`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import examples

from .case import EVERY, FILES, Case
from .catalogue import BY_NAME, CASES, readme
from .player import Client

WHOLE = os.environ.get("MEMDECK_CORPUS") == "all"
REQUIRED = "MEMDECK_TOOLS" in os.environ
"""Continuous integration sets it: there a case that cannot be built is a failure, elsewhere a reason to skip."""
STRIDE = 1 if examples.WHOLE else 10
"""Somebody who works tries a part of the cases that continuous integration does."""
SCREENS = CASES if WHOLE else [case for case in CASES if case.screen][:: 4 * STRIDE]
ALONE = ("fs/", "records/", "planted/") if examples.WHOLE else ()
"""Groups that no other test covers; continuous integration tries all of them."""
SAMPLE = (
    CASES
    if WHOLE
    else [
        case
        for number, case in enumerate(CASES)
        if number % (5 * STRIDE) == 0 or case in SCREENS or case.name.startswith(ALONE)
    ]
)


@pytest.fixture(scope="session")
def player() -> Iterator[Client]:
    """Start the process that plays the cases."""
    with Client() as client:
        yield client


@pytest.mark.parametrize("case", SAMPLE, ids=lambda case: case.name)
def test_a_bad_input_does_no_harm(player: Client, case: Case) -> None:
    """Nothing crashes, hangs or is lost; what is wrong is named; the other files stay usable."""
    report = player.play(case, whole=WHOLE, screen=case in SCREENS)
    if report.skip:
        (pytest.fail if REQUIRED else pytest.skip)(f"{case.name}: {report.skip}")
    assert report.violations == []
    ends = {seen["verb"]: f"{seen['code']} {seen['exit']}".strip() for seen in report.seen}
    refusals = {verb: end for verb, end in ends.items() if verb in EVERY.split() and end != "0"}
    if refusals.get("check") == "4":
        assert case.finds
        del refusals["check"]
    # With a question mark it may end so: another program writes all the time.
    expected = {
        verb: end.rstrip("?")
        for verb, end in case.expect.items()
        if not end.endswith("?") or refusals.get(verb) == end.rstrip("?")
    }
    assert expected == refusals


@pytest.mark.thorough
def test_an_answer_that_comes_too_late_is_not_that_of_the_next_case() -> None:
    """The player that did not answer in time is ended, and the next case is played by a new one."""
    with Client() as player:
        with pytest.raises(TimeoutError):
            player.ask({"case": "fs/fifo", "whole": False, "screen": False}, seconds=0)
        assert player.play(BY_NAME["fs/deep"], whole=False, screen=False).seen[0]["exit"] == 0


def test_the_corpus_is_whole() -> None:
    """There are enough cases, each with its own name, words and bytes, and every file belongs to one."""
    assert len(CASES) >= 200
    assert len(BY_NAME) == len({case.says for case in CASES}) == len(CASES)
    assert sum(case.name.startswith("planted/") for case in CASES) >= 20
    files = sorted(path.relative_to(FILES).with_suffix("").as_posix() for path in FILES.rglob("*.md"))
    assert sorted(case.name for case in CASES if case.build is None) == files
    assert len({(FILES / f"{name}.md").read_bytes() for name in files}) == len(files)


def test_the_page_lists_every_case() -> None:
    """README.md is what `python -m tests.corpus` prints."""
    assert (Path(__file__).parent / "README.md").read_text("utf-8") == readme()
