"""Numbers with units, in both directions."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.base.clock import read_duration
from memory.base.values import say_size
from memory.monitoring.threshold import (
    Quantity,
    numbers_in,
    read_quantity,
    say_number,
    say_time,
)


@pytest.mark.parametrize(
    ("text", "dimension", "amount"),
    [
        ("72", "", 72),
        ("-3.5", "", -3.5),
        ("1e3", "", 1000),
        ("72%", "percent", 72),
        ("500ms", "time", 0.5),
        ("2 h", "time", 7200),
        ("14d", "time", 14 * 86400),
        ("5m", "time", 300),
        ("5M", "size", 5 * 1024**2),
        ("10MB", "size", 10_000_000),
        ("10mb", "size", 10_000_000),
        ("1KiB", "size", 1024),
        ("5.5G", "size", 5.5 * 1024**3),
        ("1,234", "", 1234),
        ("1,234,567.5", "", 1234567.5),
        ("12,000 ms", "time", 12),
        ("−3", "", -3),
    ],
)
def test_a_number_with_its_unit(text: str, dimension: str, amount: float) -> None:
    """Times count in seconds, sizes in bytes; the small m is a minute, the capital one is not."""
    found = read_quantity(text)
    assert found is not None
    assert (found.dimension, found.amount) == (dimension, pytest.approx(amount))


@pytest.mark.parametrize(
    "text", ["", "x", "1.2.3", "3q", "ms", "1 2", "٣", "1" * 200, "0x10", "1e999", "1,5", "0,123", "12,34", "1.234,5"]
)
def test_what_is_no_number(text: str) -> None:
    """Anything else is none, however long."""
    assert read_quantity(text) is None


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("72\n", [Quantity(72)]),
        ("72%", [Quantity(72, "%")]),
        ("load 0.5 1.25 -2", [Quantity(0.5), Quantity(1.25), Quantity(-2)]),
        ("/dev/sda1 5.2G 80% /", [Quantity(5.2, "G"), Quantity(80, "%")]),
        ("took 120ms, ok", [Quantity(120, "ms")]),
        ("queue=17;", [Quantity(17)]),
        ("1,234\n", [Quantity(1234)]),
        ("total 1,234,567 of 5,678.5 MB", [Quantity(1234567), Quantity(5678.5)]),
        ("−5 and −1,234", [Quantity(-5), Quantity(-1234)]),
        ("1,5 0,123 1,2,3 12,345,67 1.234,56 1'234 1_000 10² 5−3 nan inf", []),
        ("1\u00a0234 1\u202f234,5 12\u2009345\u2009678 1·234 1٬234 2 000 1 000,5 50 000 000", []),
        ("5- 5\u2212 7-\n", []),
        ("1 234", []),
        ("  12 345 678,5 MB\r\n-1 234 %\n7\n", [Quantity(7)]),
        ("1 234 jobs, 10 100", [*map(Quantity, (1, 234, 10, 100))]),
        ("12 345 6789 and 10 100, 5 - 3", [*map(Quantity, (12, 345, 6789, 10, 100, 5, 3))]),
        ("100\u00a0% of 12\u00a0jobs", [Quantity(100), Quantity(12)]),
        (
            "\x1b[31m42\x1b[0m and \x1b[1;32mOK\x1b[0m 7, \x1b]8;;http://x/9\x1b\\8\x1b]8;;\x07",
            [*map(Quantity, (42, 7, 8))],
        ),
        ("2024-01-15 10:30:00 version 1.2.3 ipv4 3rd", []),
        ("", []),
    ],
)
def test_numbers_in_output(text: str, numbers: list[Quantity]) -> None:
    """Numbers are found in their order; dates, times, versions and parts of words are none."""
    assert numbers_in(text) == numbers


@given(st.text(max_size=300))
def test_any_output_is_read(text: str) -> None:
    """Nothing that a command prints breaks the reading of it."""
    assert all(math.isfinite(found.amount) for found in numbers_in(text))


def test_long_digits_are_no_danger() -> None:
    """A megabyte of digits is neither converted nor searched twice."""
    assert numbers_in("9" * 1_000_000) == []
    assert len(numbers_in("7 " * 100_000)) == 100


@pytest.mark.parametrize(
    ("text", "seconds"), [("30s", 30), ("2h", 7200), ("90", 90), ("0", 0), ("-5s", None), ("5MB", None), ("", None)]
)
def test_durations(text: str, seconds: float | None) -> None:
    """A duration is in seconds where it names no unit."""
    assert read_duration(text) == seconds


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (say_time(0.0004), "0 ms"),
        (say_time(0.12), "120 ms"),
        (say_time(1.25), "1.2 s"),
        (say_time(2700), "45 min"),
        (say_time(3 * 3600), "3 h"),
        (say_time(13.2 * 86400), "13 d"),
        (say_size(512), "512 B"),
        (say_size(1_500_000), "1.5 MB"),
        (say_number(72), "72"),
        (say_number(0.1 + 0.2), "0.3"),
    ],
)
def test_words(said: str, words: str) -> None:
    """Values are said in one short number."""
    assert said == words
