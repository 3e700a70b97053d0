"""What reaches the terminal: no control character of a file, colour only where it is wanted, columns that align."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import select
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.cli.printing import Printer
from memory.base.safe_text import cell_width
from memory.operations.result import Paint
from tests.app.cli.conftest import HOSTILE, HOUSE, NOW, Answer
from tests.patience import PATIENCE

Memdeck = Callable[..., Answer]
STEERING = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)
LISTINGS = [
    ["tasks", "list"],
    ["tasks", "list", "--section", "all"],
    ["journal", "list"],
    ["knowledge", "list"],
    ["contacts", "list"],
    ["orchestration", "list"],
    ["monitors", "list"],
    ["config", "list"],
    ["search", "e", "--limit", "0"],
    ["status"],
    ["check"],
    ["doctor"],
    ["--maintain", "--dry-run"],
    ["--maintain", "--dry-run", "--now", "2024-06-01"],
]


def _hostile_files(memory: Path) -> None:
    """Put every hostile text into every place of every file."""
    lines = {
        "tasks.md": "## Pending\n"
        + "".join(f"### [HIGH] {text}\n- due: {text[:9]}\n- notes: {text}\n- tags: {text}\n" for text in HOSTILE)
        + "## Completed\n"
        + "".join(f"### [LOW] {text}\n- completed: 2024-01-0{n % 9 + 1}\n" for n, text in enumerate(HOSTILE)),
        "journal.md": "## 2024-01-15\n" + "".join(f"### 10:30 — {text}\n- {text}\n" for text in HOSTILE),
        "knowledge.md": "".join(f"## {text}\n### {text}\n- {text}\n" for text in HOSTILE),
        "contacts.md": "## Channels\n\n| Name | ID | Type | Status |\n|---|---|---|---|\n"
        + "".join(f"| {text} | {text} | {text} | {text} |\n" for text in HOSTILE)
        + "## People\n"
        + "".join(f"- **{text}** ({text}): {text}\n" for text in HOSTILE),
        "monitors.md": "## Monitors\n"
        + "".join(f"### {text}\n- type: {text}\n- interval: {text}\n- lastStatus: {text}\n" for text in HOSTILE),
        "orchestration.md": "## Active Plans\n"
        + "".join(
            f"### {text}\n- status: {text}\n\n| id | title | phase | status |\n|---|---|---|---|\n"
            f"| a | {text} | {text} | x |\n"
            for text in HOSTILE
        ),
    }
    for name, text in lines.items():
        (memory / name).write_bytes(text.encode("utf-8", "surrogateescape") + b"- \xff\xfe: \xff\n")
    config = memory / "config.md"
    config.write_text(config.read_text() + "".join(f"- key{n}: {text}\n" for n, text in enumerate(HOSTILE)))


@pytest.mark.parametrize("words", LISTINGS, ids=" ".join)
def test_no_control_character_of_a_file_is_printed(memdeck: Memdeck, memory: Path, words: list[str]) -> None:
    """Hostile texts in every place of every file come out as escapes, in every form, and never as an error."""
    _hostile_files(memory)
    for form in ("human", "json", "jsonl"):
        answer = memdeck(*words, "-o", form)
        assert answer.code in (0, 4), answer.err
        assert answer.err == ""
        assert STEERING.findall(answer.out.replace("\n", "")) == []
        if form == "human" and words[0] in ("tasks", "journal", "knowledge", "monitors"):
            assert "[/nope] [bold]x" in answer.out
            assert "\\x1b[31mred" in answer.out
        if form == "json":
            json.loads(answer.out)


@given(st.text(st.characters(categories=None)), st.sampled_from(["utf-8", "ascii", "latin-1", "cp1252"]))
def test_any_text_is_json_in_any_encoding(text: str, encoding: str) -> None:
    """Every string, lone surrogates included, is written and read back as it was."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, newline="")
    writer = Printer(stream)
    writer.document({"a": text})
    writer.objects([{"b": text}])
    writer.flush()
    first, second = raw.getvalue().decode(encoding).splitlines()
    # A pair of halves that stand next to each other is one character to every reader of JSON.
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    assert whole == json.loads(first)["a"]
    assert whole == json.loads(second)["b"]


@pytest.mark.parametrize("width", [30, 40, 60, 80, 200])
def test_a_title_can_be_read_on_a_narrow_terminal(width: int) -> None:
    """The columns before it are cut or left out, the widest first; a ref stays whole, and nothing is wider than it."""
    rows = [
        ("27e47b2975", "HIGH", "2024-02-03 09:00 (Mon 09:00) overdue", "support-responder", "Deploy v2.1 to staging"),
        ("944fe58bce", "NORMAL", "", "结账", "结账结账结账结账 and then all of the other things"),
    ]
    lines = list(Paint(False, width).columns(rows, alerts={0: 2}))
    assert ("2024" in lines[0]) == ("overdue" in lines[0]) == (width > 40)
    assert all(cell_width(line) <= width for line in lines)
    for line, (ref, *_, title) in zip(lines, rows, strict=True):
        assert line.startswith(f"  {ref}  ")
        assert title[:5] in line
    assert ("support-responder" in lines[0]) == (width == 200)
    assert all(
        len(line) <= width for line in Paint(False, width).columns([("a", "b" * 1_000_000, "c"), ("a", "b", "c")])
    )
    assert ("HIGH" in lines[0]) == (width > 30)


@given(st.lists(st.tuples(st.text(), st.text(), st.text()), min_size=1), st.sampled_from(["utf-8", "ascii"]))
def test_any_text_is_drawn_in_columns(rows: list[tuple[str, str, str]], encoding: str) -> None:
    """Every row is one line, the second column begins in the same cell, and any encoding takes it."""
    raw = io.BytesIO()
    writer = Printer(io.TextIOWrapper(raw, encoding=encoding, newline=""))
    lines = list(Paint(False, None).columns([(a, "|" + b, c) for a, b, c in rows]))
    writer.lines(lines)
    writer.flush()
    assert len(lines) == len(rows)
    assert raw.getvalue().count(b"\n") == len(rows)
    assert STEERING.findall("".join(lines)) == []


def _in_terminal(shop: Path, *words: str, **variables: str) -> str:
    """Run a verb with a terminal as its stdout and return what it wrote there."""
    main, other = pty.openpty()
    environment = os.environ | {"PYTHONPATH": str(HOUSE), "TERM": "xterm"} | variables
    command = [sys.executable, "-m", "app.main", "--now", NOW, *words]
    with subprocess.Popen(command, cwd=shop, env=environment, stdout=other, stdin=other) as running:
        os.close(other)
        parts = []
        while select.select([main], [], [], PATIENCE)[0]:
            try:
                part = os.read(main, 65536)
            except OSError:
                break
            if not part:
                break
            parts.append(part)
        running.wait(PATIENCE)
    os.close(main)
    return b"".join(parts).decode()


def test_a_terminal_gets_colour_and_clipped_lines(shop: Path) -> None:
    """The overdue task's date is red, and nothing else is coloured; NO_COLOR and --no-color are heeded."""
    shown = _in_terminal(shop, "tasks", "list")
    assert re.findall(r"\x1b\[31m(.*?)\x1b\[0m", shown) == ["2024-01-15… overdue"]
    assert shown.count("\x1b") == 2
    assert "\x1b" not in _in_terminal(shop, "tasks", "list", "--no-color")
    assert "\x1b" not in _in_terminal(shop, "tasks", "list", NO_COLOR="1")
