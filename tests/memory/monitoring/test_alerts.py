"""When an alert begins, ends, is told again, or is silent; a picture of each is a row."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.monitoring.alerts import AlertOptions, AlertState, advance, held, told

NOW = datetime(2026, 1, 15, 11, 30, tzinfo=UTC)
WORDS = {"h": "healthy", "f": "failing", "e": "error", "b": "blocked", "s": "skipped"}


def play(
    outcomes: str, settings: AlertOptions | None = None, *, sends: bool = True, silent: str = ""
) -> tuple[AlertState, list[str]]:
    """Run outcomes five minutes apart; say what happened at each: the kind, `!` first, `~` silenced.

    `silent` has an x for each check that is silenced.
    """
    state, said = AlertState(), []
    for number, outcome in enumerate(outcomes):
        now = NOW + timedelta(minutes=5 * number)
        quiet = "muted" if silent[number : number + 1] == "x" else ""
        state, one = advance(state, WORDS[outcome], now, settings or AlertOptions())
        said.append("" if one is None else one.kind + "!" * one.first + "~" * bool(quiet))
        if one is not None and sends and not quiet:
            state = told(state, one.kind, now)
    return state, said


@pytest.mark.parametrize(
    ("outcomes", "settings", "said"),
    [
        ("hhh", AlertOptions(), ["", "", ""]),
        ("hffh", AlertOptions(), ["", "alert!", "", "recovered!"]),
        ("f", AlertOptions(), ["alert!"]),
        ("eh", AlertOptions(), ["alert!", "recovered!"]),
        ("ffff", AlertOptions(failures_before=3), ["", "", "alert!", ""]),
        ("ffhff", AlertOptions(failures_before=3), ["", "", "", "", ""]),
        ("fhhh", AlertOptions(successes_before=2), ["alert!", "", "recovered!", ""]),
        ("fhfhh", AlertOptions(successes_before=2), ["alert!", "", "", "", "recovered!"]),
        ("ffff", AlertOptions(remind=timedelta(minutes=10)), ["alert!", "", "reminder", ""]),
        ("fffff", AlertOptions(remind=timedelta(minutes=10)), ["alert!", "", "reminder", "", "reminder"]),
        ("fbbf", AlertOptions(), ["alert!", "", "", ""]),
        ("bbss", AlertOptions(), ["", "", "", ""]),
    ],
)
def test_what_is_told(outcomes: str, settings: AlertOptions, said: list[str]) -> None:
    """Each sequence of outcomes says what stands beside it."""
    assert play(outcomes, settings)[1] == said


def test_nothing_counts_as_told_before_it_was_sent() -> None:
    """While no message goes out the alert is said with every check, and it is new only once."""
    state, said = play("fff", sends=False)
    assert said == ["alert!", "alert", "alert"]
    assert state.told != "yes"
    assert play("fff")[0].told == "yes"


def test_an_unsent_alert_that_is_over_says_that_it_is_over_once() -> None:
    """Nobody who was never told of an alert hears again and again that it is over."""
    assert play("fhh", sends=False)[1] == ["alert!", "recovered!", ""]


def test_silence_waits() -> None:
    """What is silenced is told when the silence ends, if it still holds; checks go on meanwhile."""
    assert play("fff", silent="xx")[1] == ["alert!~", "alert~", "alert"]
    assert play("fhh", silent="xxx")[1] == ["alert!~", "recovered!~", ""]
    assert play("fhh", silent=" x")[1] == ["alert!", "recovered!~", "recovered"]


def test_a_held_alert_is_not_said_again() -> None:
    """A message that waits for the morning waits once."""
    state, _ = advance(AlertState(), "failing", NOW, AlertOptions())
    state = held(state, "alert", NOW)
    state, happening = advance(state, "failing", NOW + timedelta(minutes=5), AlertOptions())
    assert (happening, state.told) == (None, "held")
    _, happening = advance(state, "healthy", NOW + timedelta(minutes=10), AlertOptions())
    assert happening is not None
    assert happening.kind == "recovered"


def test_counts_and_spans() -> None:
    """A recovery knows how many failures there were and how long they lasted."""
    state = AlertState()
    for number in range(3):
        state, _ = advance(state, "failing", NOW + timedelta(minutes=5 * number), AlertOptions())
        state = told(state, "alert", NOW)
    _, happening = advance(state, "healthy", NOW + timedelta(minutes=15), AlertOptions())
    assert happening is not None
    assert (happening.occurrences, happening.lasted) == (3, timedelta(minutes=15))


@given(st.text(alphabet="hfebs", max_size=40), st.integers(1, 3), st.integers(1, 3))
def test_a_state_comes_back_as_it_was(outcomes: str, failures: int, successes: int) -> None:
    """What is kept between runs is the whole state."""
    state, _ = play(outcomes, AlertOptions(failures, successes))
    assert AlertState.read(state.json()) == state


@pytest.mark.parametrize("values", [None, {}, {"alerting": "yes", "since": 3, "told": [], "x": 1}, {"since": "never"}])
def test_a_damaged_state_is_a_fresh_one(values: dict[str, object] | None) -> None:
    """Values of another kind count as not there."""
    assert AlertState.read(values) == AlertState()


@given(st.text(alphabet="hf", min_size=1, max_size=60))
def test_alerts_and_recoveries_alternate(outcomes: str) -> None:
    """Whoever hears of everything hears alert and recovery in turn."""
    said = [word.rstrip("!") for word in play(outcomes)[1] if "~" not in word]
    turns = [word for word in said if word in ("alert", "recovered")]
    assert all(first != second for first, second in pairwise(turns))
