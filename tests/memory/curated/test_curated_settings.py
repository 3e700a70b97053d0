"""What keys of `[memory]` change."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memory.curated.curated import Curated
from memory.curated.dreaming.gates import weighed
from memory.curated.model import Json
from memory.curated.operations.registry import BY_NAME, OperationCall
from memory.curated.recall.recall import capture
from memory.errors import ConfigError
from tests.memory.curated.conftest import NOW, Den, ask, write


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


def run(curated: Curated, name: str, /, now: Any = NOW, **values: Any) -> Json:
    """Call an operation of the registry."""
    return BY_NAME[name].call(curated, values, OperationCall(now))


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


def _drinks(den: Den, settings: str, count: int = 6) -> Curated:
    den.settings(settings)
    curated = den.open()
    for number in range(count):
        write(den, curated, "user", f"Drink {number}", f"likes the drink of oats, number {number}")
    return curated


def test_files_of_the_system_are_found(den: Den) -> None:
    """The option finds notes; without it they are not found, and never in a prompt."""
    curated = _drinks(den, "", 1)
    run(curated, "note", content="the deploy window is on tuesday", scope="global")
    ask_for = {"query_text": "when is the deploy window"}
    assert run(curated, "search", **ask_for)["results"] == []
    (found,) = run(curated, "search", **ask_for, include_system=True)["results"]
    assert found["memory"]["filename"].startswith("_system/ad_hoc/")
    assert (found["score"], found["memory"]["injection"]) == (1.0, False)
    assert run(curated, "recall block", **ask_for)["text"] == ""
    assert "tuesday" not in capture(curated, "s1", now=NOW, query=ask_for["query_text"]).text


@pytest.mark.parametrize(
    ("weights", "terms"),
    [
        ("bm25_unicode = 1.0\nbm25_trigram = 0.0\nrecency = 0.0\nrecall_signal = 0.0", (1.0, 0.0, 0.0, 0.0)),
        ("bm25_unicode = 0.0\nbm25_trigram = 1.0\nrecency = 0.0\nrecall_signal = 0.0", (0.0, 1.0, 0.0, 0.0)),
        ("bm25_unicode = 0.0\nbm25_trigram = 0.0\nrecency = 1.0\nrecall_signal = 0.0", (0.0, 0.0, 1.0, 0.0)),
        ("bm25_unicode = 0.5\nbm25_trigram = 0.0\nrecency = 0.0\nrecall_signal = 0.5", (0.5, 0.0, 0.0, 0.25)),
    ],
)
def test_weights_of_a_recall(den: Den, weights: str, terms: tuple[float, ...]) -> None:
    """Each weight is the most that its term adds."""
    curated = _drinks(den, f"[memory.recall.weights]\n{weights}\n", 1)
    ask(den, curated, "drink of oats")
    (one,) = ask(den, curated, "drink of oats").entries
    assert (one.unicode, one.trigram, one.recency, one.signal) == pytest.approx(terms, abs=1e-3)


def test_freshness_of_a_recall(den: Den) -> None:
    """A memory of four days: no banner within five days, and half of its recency is left."""
    curated = _drinks(den, "[memory.recall.freshness]\nbanner_after_days = 5\nhalf_life_days = 4\n", 1)
    den.seconds += 4 * 86400
    (one,) = (done := ask(den, curated, "drink of oats")).entries
    assert one.recency == pytest.approx(0.075, abs=1e-3)
    assert done.entry(one, 1)["staleness_banner"] is None
    den.seconds += 2 * 86400
    assert "6 days" in (done := ask(den, curated, "drink of oats")).entry(done.entries[0], 1)["staleness_banner"]


def test_the_extractor_is_told_its_model_and_deadline(den: Den) -> None:
    """`extractor.model` is part of the question, `extractor.deadline` is the time for it."""
    den.settings('[memory.extractor]\nmodel = "small"\ndeadline = "3s"\n')
    curated = den.open()
    model = curated.models["extractor"] = Model('{"candidates": []}')
    run(curated, "extractor feed", session_id="s1", role="user", content="words")
    run(curated, "extractor drain")
    ((question, seconds, _),) = model.questions
    assert (question["model"], seconds) == ("small", 3.0)


@pytest.mark.parametrize("part", ["dream", "extractor"])
def test_a_model_of_the_settings_asks_the_person_first(den: Den, part: str) -> None:
    """Each command of the settings is asked about, with its place and its time, and only where its part is on."""
    from memory.curated.models import model_asks

    key = "timeout" if part == "dream" else "deadline"
    den.settings(f'[memory.{part}]\ncommand = "/bin/true"\n{key} = "7s"\n')
    (one,) = model_asks(den.open().settings).values()
    assert one.detail("timeout") == "7s"
    den.settings(f'[memory.{part}]\nenabled = false\ncommand = "/bin/true"\n')
    assert model_asks(den.open().settings) == {}


_DREAM = "[memory.dream]\nmin_sessions = 1\ngates.min_unpromoted = 1\ngates.min_recall_count = 1\ngates.min_score = 0\n"


def _recalled(den: Den, settings: str) -> Curated:
    den.settings(settings)
    curated = den.open()
    write(den, curated, "user", "Drink", "likes the drink of oats")
    ask(den, curated, "drink of oats", session="s1", turn=1)
    return curated


def test_a_dream_is_made_as_the_settings_say(den: Den) -> None:
    """Agent and time of the model."""
    curated = _recalled(den, f'{_DREAM}agent = "moth"\ntimeout = "5s"\n')
    model = curated.models["dream"] = Model('{"text": "They belong together."}')
    run(curated, "dream trigger", NOW + timedelta(minutes=9), scope="global")
    ((question, seconds, _),) = model.questions
    assert (len(question["memories"]), seconds) == (1, 5.0)
    (path,) = (den.person / "memory/_system/dreaming").glob("*.md")
    assert "moth" in path.name


@pytest.mark.parametrize("term", ["frequency", "relevance", "recency", "freshness"])
def test_the_score_of_a_dream(den: Den, term: str) -> None:
    """Each weight is the most that its term adds, and recency halves in the days of the setting."""
    names = ("frequency", "relevance", "recency", "freshness")
    weights = "".join(f"scoring.weights.{name} = {1 if name == term else 0}\n" for name in names)
    curated = _recalled(den, f"[memory.dream]\n{weights}scoring.recency_half_life_days = 2\n")
    side = curated.sides["global"]
    score = side.records.signals(["global/user_drink.md"])["global/user_drink.md"][1]
    (one,) = weighed(curated, side, NOW + timedelta(days=2, seconds=2))
    assert one.score == pytest.approx({"frequency": 0.5, "relevance": score}.get(term, 0.5), abs=1e-3)
