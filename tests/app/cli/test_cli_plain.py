"""A plain `memdeck --maintain` is read without click, and means what it means to click."""

from __future__ import annotations

import subprocess
import sys
from itertools import chain
from pathlib import Path
from typing import Any

import click
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.cli.maintenance import maintain
from app.cli.plain import Plain, read_plain
from app.cli.session import Session
from memory.errors import UsageError

HOUSE = Path(__file__).parents[3]
_ATTRIBUTES = ("folder", "output", "actor_option", "now_option", "no_color", "safe")
_WORDS = st.sampled_from(
    [
        *("--dry-run", "--no-exec", "--force", "--no-color", "--safe", "--maintain", "--help", "-h", "--", "-", ""),
        *("-w", "--workspace", "-o", "--output", "--actor", "--now", "-ojson", "--output=json", "--no-ex", "--bogus"),
        *("shop", ".", "/srv/shop", "tasks", "json", "human", "xml", "agent:x", "bad\nname", "2024-01-15", "25:99"),
    ]
)
_PLAIN = st.sampled_from(
    [
        *(["--dry-run"], ["--no-exec"], ["--force"], ["--no-color"], ["--safe"], ["shop"]),
        *(["-w", "/srv/shop"], ["--workspace", "."], ["-o", "json"], ["--output", "jsonl"]),
        *(["--actor", "agent:x"], ["--actor", "bad\nname"], ["--now", "2024-01-15"], ["--now", "soon"]),
    ]
)


def _as_click_reads(words: list[str]) -> tuple[dict[str, Any], dict[str, Any]] | str:
    session = Session()
    try:
        with maintain.make_context("memdeck --maintain", list(words), obj=session) as context:
            return {name: getattr(session, name) for name in _ATTRIBUTES}, dict(context.params)
    except (click.ClickException, UsageError) as error:
        return str(error)


def _as_told(plain: Plain) -> tuple[dict[str, Any], dict[str, Any]] | str:
    session = Session()
    try:
        plain.tell(session)
    except UsageError as error:
        return str(error)
    options = {name: getattr(plain, name) for name in ("folder", "dry_run", "no_exec", "force")}
    return {name: getattr(session, name) for name in _ATTRIBUTES}, options


@given(words=st.lists(_WORDS, max_size=6) | st.lists(_PLAIN, max_size=5).map(lambda groups: [*chain(*groups)]))
@example(words=["--actor", "bad\nname", "--now", "soon"])
@example(words=["--now", "soon", "--actor", "bad\nname"])
def test_it_means_the_same(words: list[str]) -> None:
    """What is read as plain gives the same session and the same options, or the same error, as click gives."""
    plain = read_plain(["--maintain", *words])
    if plain is not None:
        assert _as_told(plain) == _as_click_reads(words)


@pytest.mark.parametrize("words", [[], ["/srv/shop"], ["/srv/shop", "--no-exec", "--now", "2024-01-15", "-o", "json"]])
def test_what_cron_calls_is_plain(words: list[str]) -> None:
    """The lines that doctor prints, and the usual options."""
    assert read_plain(["--maintain", *words]) is not None


@pytest.mark.parametrize(
    "words",
    [
        ["tasks", "list"],
        [".", "--maintain"],
        ["--maintain", "--help"],
        ["--maintain", "a", "b"],
        ["--maintain", "-o", "xml"],
        ["--maintain", "-o"],
        ["--maintain", "--now", "--safe"],
        ["--maintain", "--force", "--force"],
        ["--maintain", "--maintain"],
        ["--maintain", ""],
    ],
    ids=" ".join,
)
def test_the_rest_is_for_click(words: list[str]) -> None:
    """Other forms, mistakes and questions are not plain."""
    assert read_plain(words) is None


def test_a_plain_run_imports_no_click(shop: Path) -> None:
    """The run ends with the same answer and has imported neither click nor what only other verbs need."""
    code = (
        "import sys\n"
        "from app.cli.run import run; code = run(sys.argv[1:])\n"
        "print(*sys.modules, sep='\\n', file=sys.stderr); sys.exit(code)"
    )
    words = ["--maintain", str(shop), "--no-exec", "--now", "2024-01-15T12:00:00Z"]
    done = subprocess.run([sys.executable, "-c", code, *words], cwd=HOUSE, capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split("\n"))
    assert "memory.maintenance.run" in loaded
    assert loaded & {"click", "textual", "yaml", "croniter", "memory.late", "memory.document.merge"} == set()
