"""Calls that are read without click: they mean what click would read, and whatever is not plain is left to it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.exceptions import ClickException, Exit
from hypothesis import given, settings
from hypothesis import strategies as st

from app.cli.declared import (
    ATTRIBUTES,
    COMMON,
    DeclaredGroup,
    DeclaredVerb,
    OneOf,
    Parameter,
    argument,
    option,
    read,
    verb,
)
from app.cli.lazy_groups import command_of
from app.cli.session import Session
from app.cli.verbs import VERBS
from app.cli.verbs.maintenance import maintain
from app.cli.verbs.opening import open_workspace
from memory.errors import MemdeckError
from tests.examples import examples
from tests.patience import PATIENCE


def _verbs() -> Iterator[DeclaredVerb]:
    yield from (maintain, open_workspace)
    for place, _ in VERBS.values():
        module, _, attribute = place.partition(":")
        yield from _under(getattr(__import__(module, fromlist=[attribute]), attribute))


def _under(one: DeclaredVerb | DeclaredGroup) -> Iterator[DeclaredVerb]:
    if isinstance(one, DeclaredVerb):
        yield one
    else:
        for inner in one.verbs.values():
            yield from _under(inner)


ALL = list(_verbs())
WORDS = ("Deploy", "a=b", "7", "07", "50%", "+5", "1_0", "-1", "0", "", "-", "--", "--x", "HIGH", "high", "json", "fri")


def _words(verb: DeclaredVerb) -> st.SearchStrategy[list[str]]:
    """Return command lines of a verb: its options with and without values, words, and what is none of it."""
    options = [word for one in (*verb.parameters, *COMMON) for word in one.words if word.startswith("-")]
    types = [one.settings.get("type") for one in verb.parameters]
    values = [*WORDS, *(word for kind in types if isinstance(kind, OneOf) for word in kind.words)]
    option, value = st.sampled_from(options), st.sampled_from(values)
    part = st.one_of(
        value.map(lambda word: [word]),
        option.map(lambda word: [word]),
        st.tuples(option, value).map(list),
        st.builds(lambda word, more: [f"{word}={more}"], option, value),
        st.builds(lambda word, size: [word[:size]], option, st.integers(3, 8)),
    )
    return st.lists(part, max_size=5).map(lambda parts: [word for one in parts for word in one])


def _by_click(verb: DeclaredVerb, words: list[str]) -> tuple[dict[str, object], dict[str, object]] | None:
    """Return the attributes of the session and the values that click reads; None where it refuses the words."""
    session = Session()
    before = dict(vars(session))
    try:
        with command_of(verb).make_context("memdeck", list(words), obj=session) as context:
            return {key: value for key, value in vars(session).items() if value != before.get(key)}, context.params
    except (ClickException, Exit, MemdeckError):
        return None


@settings(max_examples=examples(1500), deadline=None)
@given(st.data())
def test_a_plain_call_means_what_click_reads(data: st.DataObject) -> None:
    """Whatever is read without click has the verb, the values and the session that click makes of it."""
    verb = data.draw(st.sampled_from(ALL))
    words = data.draw(_words(verb))
    found = read(verb, words)
    if found is None:
        return
    called, options, values = found
    session = Session()
    before = dict(vars(session))
    try:
        session.take(options)
    except MemdeckError:
        assert _by_click(verb, words) is None
        return
    taken = {key: value for key, value in vars(session).items() if value != before.get(key)}
    assert called is verb
    assert (taken, values) == _by_click(verb, words)


def test_every_parameter_is_one_that_is_read() -> None:
    """No declaration of memdeck's own has a setting that leaves all calls of its verb to click."""
    for one in ALL:
        required = [word for parameter in one.parameters for word in _needed(parameter)]
        found = read(one, required)
        assert found is not None, one.name
        assert (found[1], found[2]) == _by_click(one, required)


def _needed(one: Parameter) -> list[str]:
    """Return the words that give a parameter that a call must have."""
    kind = one.settings.get("type")
    value = kind.words[0] if isinstance(kind, OneOf) else "7"
    if one.is_option:
        word = next(word for word in one.words if word.startswith("-"))
        return [word, value] if one.settings.get("required") else []
    return [] if one.settings.get("required") is False else [value]


@pytest.mark.parametrize(
    "words",
    [
        "tasks",
        "tasks --help",
        "tasks nothing",
        "tasks list --sectio pending",
        "tasks list --section nothing",
        "tasks list -ojson",
        "tasks list -o json -o jsonl",
        "tasks add",
        "tasks add one two",
        "tasks add -- -x",
        "tasks add --notes -x title",
        "tasks progress x 101",
        "nothing",
        "--version",
        "",
    ],
)
def test_what_is_not_plain_is_left_to_click(words: str) -> None:
    """Mistakes, help, shortened options and values that look like options are for click to read."""
    assert read(None, words.split()) is None


def test_clicks_own_decorators_can_be_used_too() -> None:
    """A verb of another package may have options of click; its calls are left to click, in the order of declaration."""

    @verb("toy", examples=("memdeck toy x",))
    @argument("name")
    @click.option("--many", type=int, help="A number.")
    @option("--kind", type=OneOf(("a", "b")), help="A kind.")
    def toy(session: Session, **values: object) -> None:
        """Do nothing."""

    assert read(toy, ["x"]) is None
    assert [one.name for one in command_of(toy).params][:3] == ["name", "many", "kind"]
    assert _by_click(toy, ["x", "--many", "2"]) == ({}, {"name": "x", "many": 2, "kind": None})


def test_common_options_count_wherever_they_are() -> None:
    """They may stand before the group, before the verb and behind it."""
    found = read(None, ["-o", "json", "tasks", "--actor", "me", "list", "-w", "/x"])
    assert found is not None
    assert found[1] == {"form": "json", "actor_option": "me", "folder": "/x"}
    assert set(found[1]) <= set(ATTRIBUTES.values())


def test_a_plain_call_does_not_import_click(shop: Path) -> None:
    """Neither adding a task nor listing them loads click, a third of the time of such a process."""
    program = """
import os, sys
sys.argv = ["memdeck", *sys.argv[1:]]
os._exit = sys.exit
from app.main import main
try:
    main()
finally:
    assert "click" not in sys.modules
"""
    for words in (["init", "."], ["tasks", "add", "One"], ["tasks", "list"], ["--maintain", "--no-exec"]):
        done = subprocess.run(
            [sys.executable, "-c", program, *words],
            cwd=shop,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, done.stderr
