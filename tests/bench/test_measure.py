"""The harness measures what it says, goes on when a piece is missing, and reads real terminals."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from bench import reference
from bench.__main__ import main
from bench.key_part import MINIMAL, key_table
from bench.measure import Case, Figure, Unavailable, as_data, measure, table
from bench.peers import as_task
from bench.places import NOW, Places
from bench.terminal import Screen
from bench.workspaces import SIZES, workspace_files

DATA = (
    "---\ntype: x\n---\n## A\n### a\n- due: 2024-01-15\n- notes: one\n  two\n- due: later\n"
    "```\n### no\n- x: no\n```\n- url:\n### b\n"
)


@pytest.mark.thorough
def test_cases_run_in_turn_after_one_that_is_not_counted() -> None:
    """Two rounds of two cases call a, b three times each, alternating, and keep two samples."""
    calls: list[str] = []
    cases = [
        Case("a", lambda: calls.append("a")),
        Case("b", lambda: calls.append("b"), lambda: calls.append("-")),
    ]
    figures = measure("part", cases, 2)
    assert calls == ["a", "-", "b"] * 3
    assert [(figure.name, len(figure.samples)) for figure in figures] == [("a", 2), ("b", 2)]


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


def test_the_table_of_keys_compares_with_the_same_key_and_with_the_cursor() -> None:
    """Each line has the middle and the 95th percentile of its key, and both ratios."""
    names = {f"{MINIMAL} · cursor": 0.002, f"{MINIMAL} · page": 0.005, f"{MINIMAL} · page, all": 0.006}
    figures = [Figure("keys · S", name, samples=[value]) for name, value in names.items()]
    figures.append(Figure("keys · S", "list · page", samples=[0.004] * 19 + [0.016]))
    figures.append(Figure("keys · S", "list · page, all", samples=[0.008]))
    figures.append(Figure("keys · S", "board", missing="no answer"))
    heads, _, line, missing = key_table(figures).splitlines()
    assert heads.startswith("| keys S | ms |")
    assert line == "| list, page | 4.0 | 16.0 | 8.0 | 5.0 | 2.0 | 0.80 | 2.00 | 4.00 |"
    assert missing == "board: no answer"


def test_a_missing_piece_is_named_and_the_rest_goes_on() -> None:
    """A case that raises is reported as not available with its reason."""

    def broken() -> None:
        raise Unavailable("no such program")

    figures = measure("part", [Case("gone", broken), Case("here", lambda: None)], 1)
    assert {figure.name: figure.missing for figure in figures} == {"here": None, "gone": "no such program"}
    assert "gone  not available: no such program" in table(figures)


@pytest.mark.thorough
def test_a_case_can_give_figures_of_its_own() -> None:
    """Named figures are compared with the same figure of the floor, memory in MiB."""
    floor = Case("floor", lambda: {"paint": 0.1, "rss": 30.0})
    ours = Case("ours", lambda: {"paint": 0.12, "rss": 45.0}, compared_with="floor", target=1.5)
    figures = measure("screen", [floor, ours], 1)
    rows = {row["name"]: row for row in as_data(figures)}
    assert rows["ours · paint"]["median"] == pytest.approx(120)
    assert rows["ours · paint"]["ratio"] == pytest.approx(1.2)
    assert (rows["ours · rss"]["unit"], rows["ours · rss"]["ratio"]) == ("MiB", pytest.approx(1.5))


def test_the_table_shows_medians_and_ratios() -> None:
    """The middle sample counts, and stands beside what it is compared with."""
    figures = [
        Figure("part", "floor", samples=[0.001, 0.002, 0.050]),
        Figure("part", "ours", samples=[0.003], compared_with="floor", target=3),
    ]
    line = table(figures).splitlines()[-1]
    assert "3.00 ms" in line
    assert "1.50 × floor (target 3)" in line


def test_the_eager_reference_reads_every_field() -> None:
    """Sections, titles, continuation lines, first of duplicates, empty values; nothing out of fences."""
    first, second = reference.eager_fields(DATA.encode())
    assert first == {
        "section": "A",
        "title": "a",
        "fields": {"due": "2024-01-15", "notes": "one\ntwo", "url": ""},
    }
    assert second == {"section": "A", "title": "b", "fields": {}}
    assert [(level, title) for _, level, title in reference.outline(DATA.encode())] == [
        (2, "A"),
        (3, "a"),
        (3, "b"),
    ]


def test_floors_keep_the_bytes(tmp_path: Path) -> None:
    """Every floor gives back what it was given, stray bytes and line ends included."""
    data = b"a\r\nb\rc\xff\n\x0cd"
    assert data == reference.split_and_join(data) == reference.decode_and_encode(data)
    path = tmp_path / "file"
    path.write_bytes(b"old")
    reference.durable_replace(path, data)
    assert path.read_bytes() == data
    assert os.listdir(tmp_path) == ["file"]


def test_tasks_become_taskwarrior_tasks() -> None:
    """Status, priority, dates and notes come over; a completed task has an end."""
    entries = reference.eager_fields(workspace_files(SIZES["S"], NOW)["tasks.md"].encode())
    tasks = [as_task(entry) for entry in entries]
    assert tasks[0]["description"] == "Deploy v2.1 to staging"
    assert {task["status"] for task in tasks} == {"pending", "completed"}
    assert all("end" in task for task in tasks if task["status"] == "completed")


def test_a_copy_is_another_workspace(tmp_path: Path) -> None:
    """Changing a copy leaves the generated workspace as it was."""
    places = Places(tmp_path)
    original = places.memory(places.workspace("3x4")) / "tasks.md"
    copy = places.memory(places.copy("3x4")) / "tasks.md"
    copy.write_text("changed", "utf-8")
    assert original.read_text("utf-8").startswith("---\ntype: task-list")


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


def test_a_program_that_ends_early_is_an_error_at_once() -> None:
    """Waiting for text that cannot come any more says so, with the end of the output."""
    with (
        Screen([sys.executable, "-c", "print('only this')"], os.environ) as screen,
        pytest.raises(TimeoutError, match=r"the program ended.*only this"),
    ):
        screen.wait_for(["Deploy"], 60)


@pytest.mark.thorough
def test_the_command_prints_a_table_and_keeps_samples(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One part at a small size, saved as JSON."""
    monkeypatch.setattr("bench.__main__.ROOT", tmp_path)
    assert main(["document", "--sizes", "20x40", "--rounds", "1", "--save"]) == 0
    shown = capsys.readouterr().out
    assert "document · 20x40" in shown
    assert "every field, careful Python" in shown
    (saved,) = (tmp_path / "bench" / "results").glob("*.json")
    figures = json.loads(saved.read_text("utf-8"))["figures"]
    assert {"read, write bytes", "read, decode, encode"} <= {figure["name"] for figure in figures}


def test_unknown_parts_are_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    """A part that does not exist names those that do."""
    with pytest.raises(SystemExit) as caught:
        main(["nonsense"])
    assert caught.value.code == 2
    assert "document, change, command, process, screen, keys, outside, search, maintain" in capsys.readouterr().err
