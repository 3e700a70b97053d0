"""The help and the reference: every verb, option and example is there, and they agree."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

from app.cli.commands import COMMON, Verb, VerbGroup, command_of
from app.cli.forms import form_of
from app.cli.reference import MARK, reference
from app.cli.root import root
from app.cli.verbs import PARTS, VERBS
from app.cli.verbs.opening import open_workspace
from memory.maintenance.operations import maintain
from tests.app.cli.conftest import HOUSE, Answer

Memdeck = Callable[..., Answer]
PAGE = HOUSE / "docs" / "command-line.md"


def _commands() -> Iterator[tuple[str, click.Command]]:
    context = click.Context(root, info_name="memdeck")
    yield "", command_of(open_workspace)
    yield "--maintain", command_of(maintain)
    for name in VERBS:
        command = root.get_command(context, name)
        assert command is not None
        yield name, command
        if isinstance(command, VerbGroup):
            yield from ((f"{name} {inner}", verb) for inner, verb in command.commands.items())


COMMANDS = dict(_commands())


def test_the_reference_is_up_to_date() -> None:
    """The page is what the commands say; `python -m app.cli.reference` makes it anew."""
    page = PAGE.read_text("utf-8")
    assert MARK in page
    assert reference(page) == page


def test_every_verb_has_one_place_in_the_help(memdeck: Memdeck) -> None:
    """`memdeck --help` lists each verb once, with a line that says what it does."""
    names = [name for part in PARTS.values() for name in part]
    assert sorted(names) == sorted(VERBS)
    shown = memdeck("--help", now=None)
    assert shown.code == 0
    for heading, part in PARTS.items():
        assert f"\n{heading}:\n" in shown.out
        for name in part:
            assert re.search(rf"^  {name} +[A-Z]", shown.out, re.M)


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: path or "open")
def test_help_is_worth_reading(memdeck: Memdeck, path: str) -> None:
    """A sentence, each option with its help, an example, and only characters that every terminal has."""
    command = COMMANDS[path]
    assert command.help
    assert command.help.strip().splitlines()[0].endswith((".", ":"))
    if path:
        shown = memdeck(*path.split(), "--help", now=None)
        assert (shown.code, shown.err) == (0, "")
        assert shown.out.isascii()
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help
            assert parameter.help.endswith(".")
    for common in COMMON:
        assert any({*one.opts} <= {*common.opts} and one.name == common.name for one in command.params)
    if not isinstance(command, VerbGroup):
        assert isinstance(command, Verb)
        assert command.operation.examples


@pytest.mark.parametrize(
    ("words", "form"),
    [
        ("", "open"),
        (".", "open"),
        ("./tasks", "open"),
        ("tasks", "verb"),
        ("-o json tasks", "verb"),
        ("-o tasks", "open"),
        ("-w tasks journal", "verb"),
        ("--workspace=x tasks", "verb"),
        ("--now 2024-01-15 .", "open"),
        ("--maintain", "maintain"),
        ("--maintain tasks", "maintain"),
        ("tasks --maintain", "verb"),
        ("./x --maintain", "maintain"),
        ("-o json --maintain --dry-run", "maintain"),
        ("--help", "verb"),
        ("--maintain --help", "maintain"),
        ("--help --maintain", "maintain"),
        ("-- tasks", "open"),
        ("-V -o json", "verb"),
    ],
)
def test_which_form_was_called(words: str, form: str) -> None:
    """The first word that is no option decides."""
    assert form == form_of(words.split(), VERBS)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(memdeck: Memdeck, shell: str) -> None:
    """Each shell gets a script that asks memdeck."""
    script = memdeck("completion", shell).out
    assert f"_MEMDECK_COMPLETE={shell}_complete" in script
    assert memdeck("completion", shell, "-o", "json").data["shell"] == shell


@pytest.mark.parametrize(
    ("words", "last", "expected"),
    [
        ("memdeck ta", 1, {"tasks"}),
        ("memdeck --ma", 1, {"--maintain"}),
        ("memdeck tasks pro", 2, {"progress"}),
        ("memdeck tasks list --sec", 3, {"--section"}),
        ("memdeck tasks list --section in", 4, {"in-progress"}),
        ("memdeck tasks -o js", 3, {"json", "jsonl"}),
        ("memdeck config get primary", 3, {"primaryChannel"}),
        ("memdeck tasks show tasks#", 3, None),
        ("memdeck journal show ", 3, None),
    ],
)
def test_completion_in_the_shell(
    process: Callable[..., subprocess.CompletedProcess[bytes]], words: str, last: int, expected: set[str] | None
) -> None:
    """Verbs, options, values, settings and refs complete, with groups that are loaded when used."""
    done = process(_MEMDECK_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(last))
    found = {line.partition(",")[2] for line in done.stdout.decode().splitlines()}
    assert done.stderr == b""
    if expected is None:
        assert len(found) >= 5
        assert all(re.fullmatch(r"(tasks#)?[0-9a-f]{10}", ref) for ref in found)
    else:
        assert expected == found


def test_the_page_on_cron_names_what_doctor_prints(memdeck: Memdeck, shop: Path) -> None:
    """The shape of service and timer in docs/cron.md is that of `doctor --schedule`."""
    page = (HOUSE / "docs" / "cron.md").read_text("utf-8")
    plan = memdeck("doctor", "--schedule", "-o", "json").data
    assert plan["workspace"] == str(shop)
    for text in (plan["service"], plan["timer"]):
        for line in text.splitlines():
            key = line.partition("=")[0]
            assert key in page
