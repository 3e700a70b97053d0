"""The harness measures what it says, goes on when a piece is missing, and reads real terminals."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

import pytest

from bench.measure import Case, Figure, Unavailable, measure, table
from bench.terminal import Screen


@pytest.mark.thorough
def test_what_a_case_opened_is_closed() -> None:
    """After the last round, and where a round breaks off as well."""
    for stops in (None, KeyboardInterrupt):
        calls: list[str] = []

        def run(stops: type[BaseException] | None = stops, calls: list[str] = calls) -> None:
            calls.append("run")
            if stops is not None:
                raise stops

        cases = [Case("open", run, close=lambda calls=calls: calls.append("closed"))]  # type: ignore[misc]
        with suppress(KeyboardInterrupt):
            measure("part", cases, 1)
        assert calls == (["run", "run", "closed"] if stops is None else ["run", "closed"])


@pytest.mark.thorough
def test_a_missing_piece_is_named_and_the_rest_goes_on() -> None:
    """A case that raises is reported as not available with its reason."""

    def broken() -> None:
        raise Unavailable("no such program")

    figures = measure("part", [Case("gone", broken), Case("here", lambda: None)], 1)
    assert {figure.name: figure.missing for figure in figures} == {"here": None, "gone": "no such program"}
    assert "gone  not available: no such program" in table(figures)


def test_the_table_shows_medians_and_ratios() -> None:
    """The middle sample counts, and stands beside what it is compared with."""
    figures = [
        Figure("part", "floor", samples=[0.001, 0.002, 0.050]),
        Figure("part", "ours", samples=[0.003], compared_with="floor", target=3),
    ]
    line = table(figures).splitlines()[-1]
    assert "3.00 ms" in line
    assert "1.50 × floor (target 3)" in line


def test_the_terminal_sees_text_keys_and_the_end() -> None:
    """A real program there: its size, text between escapes, answer to a key, exit code."""
    program = (
        "import os, sys, tty; tty.setraw(0); size = os.get_terminal_size()\n"
        "sys.stdout.write(f'\\x1b[1mHel\\x1b[0mlo {size.columns}x{size.lines}'); sys.stdout.flush()\n"
        "while (key := os.read(0, 1)) != b'q': os.write(1, b'<' + key + b'>')\n"
        "sys.exit(7)"
    )
    with Screen([sys.executable, "-c", program], os.environ) as screen:
        assert screen.wait_for(["Hello 120x36"], 20) > 0
        screen.settle(0.05)
        first, settled = screen.press(b"j")
        assert 0 < first <= settled
        assert screen.text().endswith("<j>")
        assert screen.peak_mib() > 1
        assert screen.end() == 7
        assert screen.end() is None
