"""What keys of `[memory]` change."""

from __future__ import annotations

from typing import Any

import pytest

from memory.curated.model import Json
from memory.errors import ConfigError
from tests.memory.curated.conftest import Den, write


def test_keys_of_agh_without_an_effect_are_no_error(den: Den) -> None:
    """Both programs may read one file; a key that neither has is an error with its line."""
    den.settings('[memory.extractor]\nmode = "post_message"\n[memory.daily]\nsweep_hour = 3\n')
    assert den.open().settings["daily.max_lines"] == 5000
    den.settings("[memory.extractor]\nmood = 1\n")
    with pytest.raises(ConfigError) as error:
        _ = den.open().settings
    assert error.value.details["line"] == 2


class Model:
    """A model with one answer that keeps its questions, each with the seconds and bytes that it has."""

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.questions: list[tuple[Json, float, int]] = []

    def ask(self, question: Json, *, seconds: float, limit: int, now: Any) -> str:
        """Return the answer."""
        self.questions.append((question, seconds, limit))
        return self.answer


def test_the_tiebreaker_is_asked_as_the_settings_say(den: Den) -> None:
    """The name of the trace, the number of targets, the time and the bytes of the answer."""
    den.settings('[memory.controller.llm]\ntimeout = "400ms"\nmodel = "mine"\ntop_k = 2\nmax_tokens_out = 9\n')
    curated = den.open(tiebreaker=(asked := Model("no JSON")))
    for number in range(4):
        write(den, curated, "project", f"Deploy {number}", f"the deploy runs on tuesday, number {number}")
    done = write(den, curated, "project", "Deploy day", "the deploy on tuesday night", origin="extractor").decision
    ((question, had, limit),) = asked.questions
    assert (had, limit, len(question["targets"])) == (0.4, 36, 2)
    assert done.llm_trace is not None
    assert done.llm_trace["model"] == "mine"


@pytest.mark.parametrize("part", ["dream", "extractor"])
def test_a_model_of_the_settings_asks_the_person_first(den: Den, part: str) -> None:
    """Each command of the settings is asked about, with its place and its time, and only where its part is on."""
    from memory.curated.settings import model_asks

    key = "timeout" if part == "dream" else "deadline"
    den.settings(f'[memory.{part}]\ncommand = "/bin/true"\n{key} = "7s"\n')
    (one,) = model_asks(den.open().settings).values()
    assert one.detail("timeout") == "7s"
    den.settings(f'[memory.{part}]\nenabled = false\ncommand = "/bin/true"\n')
    assert model_asks(den.open().settings) == {}
