"""The language of thresholds: what it means, what it refuses and where, and that nothing else comes out of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.monitoring.threshold import DEFAULTS, BadThreshold, Quantity, parse_threshold
from tests.growth import TIMES, assert_in_proportion

READING = {
    "status": 503,
    "latency": 0.812,
    "body": 'all "ok" here',
    "certificate": 10 * 86400.0,
    "size": 11_000_000,
    "exit code": 2,
    "value": Quantity(72, "%"),
    "value[0]": Quantity(72, "%"),
    "value[1]": Quantity(5.2, "G"),
    "value[2]": Quantity(300, "ms"),
    "stdout": "72%\nrunning\n",
    "open": 1,
    "age": 7300.0,
    "json.state": "up",
    "json.queue[0].depth": Quantity(12),
    "json.ok": "true",
}


@pytest.mark.parametrize(
    ("text", "breached"),
    [
        ("status != 200", True),
        ("status == 503", True),
        ("status=503", True),
        ("status >= 400 and status < 500", False),
        ("exit code != 0", True),
        ("Exit Code = 2", True),
        ("status == 200 or value < 80 and not open or age > 2h", True),
        ("value > 90", False),
        ("value > 71.5", True),
        ("value > 71%", True),
        ("value[1] > 5GiB", True),
        ("value[1] > 5.3 G", False),
        ("value[1] > 5", True),
        ("value[2] > 250ms", True),
        ("value[2] < 1s", True),
        ("latency > 500ms", True),
        ("latency > 1 s", False),
        ("latency > 0.5s and status == 503", True),
        ("certificate < 14d", True),
        ("certificate < 1w", False),
        ("age > 2h", True),
        ("age > 2h and age > 1d", False),
        ("size > 10MB", True),
        ("size > 11000000", False),
        ("size >= 11000000", True),
        ('body contains "ok"', True),
        ("body contains ok", True),
        ('body not contains "ok"', False),
        ('body contains "\\"ok\\""', True),
        ('stdout contains "running"', True),
        ("stdout contains 72", True),
        ("not open", False),
        ("open", True),
        ("json.state != up", False),
        ("json.queue[0].depth > 10", True),
        ("json.ok == true", True),
        ("not body not contains ok", True),
        ("status == 200 and value < 80 or open", True),
        ("not status == 200 and open", True),
    ],
)
def test_it_judges(text: str, breached: bool) -> None:
    """Every form of a condition means what a person would say it means."""
    assert parse_threshold(text).judge(READING) is breached


@pytest.mark.parametrize(
    ("text", "column", "word"),
    [
        ("", 1, "empty"),
        ("   ", 1, "empty"),
        ("status", 7, "comparison"),
        ("status !=", 10, "number"),
        ("status != and", 11, "number"),
        ("status 200", 8, "comparison"),
        ("valu > 3", 1, "write one of status"),
        ("latency > 500", 11, "time"),
        ("latency > 5MB", 11, "time"),
        ("size > 5ms", 8, "size"),
        ("status > 5ms", 10, "number"),
        ("status == up", 11, "number"),
        ("value > 90q", 9, "unit"),
        ("value == big-ish", 10, "number"),
        ("json.a > up", 10, "number or a text"),
        ("body > 4", 8, "text"),
        ("90 < value", 1, "not measured"),
        ("value > 3 > 2", 11, "not expected"),
        ("(value > 3)", 1, "not measured"),
        ("value > 3 value > 4", 9, "unit"),
        ("value + 3 > 2", 7, "comparison"),
        ("value > 3 & value < 9", 11, "and, or"),
        ('body contains "x', 15, "does not end"),
        ("open > 3", 1, "true or false"),
        ("not", 1, "not measured"),
        ("status is 3", 8, "comparison"),
        ("value[x] > 3", 6, "comparison"),
        ("__import__('os') > 3", 1, "not measured"),
        ("value > 3 or " * 90 + "value > 3", 1001, "longer"),
    ],
)
def test_it_says_where_it_is_wrong(text: str, column: int, word: str) -> None:
    """A threshold that nobody understands names the column and what to write."""
    with pytest.raises(BadThreshold) as caught:
        parse_threshold(text)
    assert caught.value.column == column == caught.value.details["column"]
    assert word in str(caught.value)
    assert caught.value.code == "monitor.threshold"
    assert caught.value.hint


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("http", {"status": 302}, {"status": 404}),
        ("command", {"exit code": 0}, {"exit code": 1}),
        ("tcp", {"open": 1}, {"open": 0}),
        ("file", {"missing": 0}, {"missing": 1}),
    ],
)
def test_each_type_has_a_threshold_of_its_own(kind: str, good: dict[str, int], bad: dict[str, int]) -> None:
    """A monitor without a threshold is judged by what its type is for."""
    threshold = parse_threshold("  ", kind)
    assert threshold == parse_threshold("", kind)
    assert threshold.judge(good) is False
    assert threshold.judge(bad) is True


@pytest.mark.parametrize(("kind", "text"), [("http", "value > 3"), ("command", "status != 200"), ("tcp", "age > 2h")])
def test_a_type_refuses_what_it_does_not_measure(kind: str, text: str) -> None:
    """A name of another type is told at once, not at the first check."""
    with pytest.raises(BadThreshold, match="not measured"):
        parse_threshold(text, kind)
    parse_threshold(text)


@pytest.mark.parametrize(
    ("text", "reading", "judged"),
    [
        ("value > 3", {}, None),
        ("value > 3 or status != 200", {"status": 500}, True),
        ("value > 3 and status != 200", {"status": 200}, False),
        ("value > 3 and status != 200", {"status": 500}, None),
        ("not value > 3", {}, None),
        ("value > 3", {"value": "many"}, None),
        ("value > 5GB", {"value": Quantity(5, "ms")}, None),
        ("value > 3", {"value": "4 ms"}, True),
        ("json.x == 3", {"json.x": "three"}, False),
        ("json.x != 3", {"json.x": "three"}, True),
        ("latency > 1s", {"latency": float("nan")}, None),
    ],
)
def test_what_is_not_known_is_not_healthy(text: str, reading: dict[str, object], judged: bool | None) -> None:
    """Where a value is missing or of another sort, only the rest can decide, and what is missing is named."""
    threshold = parse_threshold(text)
    assert threshold.judge(reading) is judged  # type: ignore[arg-type]
    assert threshold.missing(reading) or judged is not None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("status != 200", "status 503"),
        ("status != 200 or latency > 500ms", "status 503, latency 812 ms"),
        ("status != 503 or latency > 500ms", "latency 812 ms"),
        ("value > 90", "value 72%"),
        ('not body contains "up"', 'body does not contain "up"'),
        ("size > 10MB", "size 11 MB"),
        ("certificate < 14d", "certificate 10 d"),
        ("json.state != down", 'json.state "up"'),
        ("not open", "open"),
        ("json.gone > 3", "no value for json.gone"),
    ],
)
def test_it_explains_itself(text: str, words: str) -> None:
    """The words say what was found, and of a breached threshold only what breached it."""
    assert parse_threshold(text).explain(READING) == words


PIECES = st.sampled_from(
    ["status", "value", "value[2]", "latency", "exit code", "open", "body", "json.a[0]", "and", "or", "not", "(", ")",
     "!=", "==", ">", "<=", "contains", "does", "is", "3", "-4.5", "500ms", "90 %", "10MB", '"x"', "'", "&&", "é", "["]
)  # fmt: skip


@given(st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=25).map(" ".join)), st.sampled_from(["", *DEFAULTS]))
def test_nothing_but_a_threshold_or_its_error_comes_out(text: str, kind: str) -> None:
    """Whatever is written, it is understood or refused with a column inside of the text, and then judged."""
    column = None
    try:
        threshold = parse_threshold(text, kind)
    except BadThreshold as error:
        column = error.column
    if column is not None:
        assert 1 <= column <= len(text) + 1
        return
    assert threshold.judge(READING) in (True, False, None)
    assert threshold.judge({}) in (True, False, None)
    assert threshold.explain(READING)


@pytest.mark.parametrize("piece", ["(", "not ", "value ", '"\\', "1", "a.", "[1]", "' ", "value[1]", "9e9", " "])
def test_it_takes_time_in_proportion(piece: str) -> None:
    """Even the longest hostile threshold is refused at a cost in proportion to its length."""

    def refused(text: str) -> None:
        with pytest.raises(BadThreshold):
            parse_threshold(text)

    assert_in_proportion(lambda size: piece * size, refused, 900 // TIMES)
    refused(piece * 100_000)
