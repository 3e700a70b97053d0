"""TOML behind a guard: limits, the line of every value, and nothing of the parser's own errors."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memory.base.toml_text import MAX_DEPTH, MAX_KEYS, read_toml
from memory.errors import ConfigError
from tests.growth import assert_in_proportion


def told(text: str | bytes, **more: Any) -> tuple[str, int]:
    """Return message and line of the error about a text."""
    with pytest.raises(ConfigError) as caught:
        read_toml(text if isinstance(text, bytes) else text.encode(), "F", **more)
    line = caught.value.details["line"]
    assert caught.value.message.startswith(f"F:{line}: ")
    assert "\n" not in caught.value.message
    return caught.value.message.removeprefix(f"F:{line}: "), line


def test_values_are_those_of_the_parser_and_have_their_line() -> None:
    """Tables, lists of tables, dotted and quoted keys, strings over many lines, comments that look like more."""
    text = (
        "\ufefftop = 1 # [no]\n[a]\nx.y = 2\n'q\"' = 3\n\"e\\u0041\" = 4\n\n[[b]]\nname = '''\n[a]\nz = 1\n'''\n"
        '[[b]]\nlist = [\n  1, # [\n  {k = "]"},\n]\nlate = """\\"""\n"""\n[b.sub]\ndeep = 5\n[a.more]\n'
    )
    toml = read_toml(text.encode(), "F")
    assert toml.values == tomllib.loads(text.removeprefix("\ufeff"))
    lines = {
        ("top",): 1, ("a",): 2, ("a", "x", "y"): 3, ("a", 'q"'): 4, ("a", "eA"): 5, ("b",): 7, ("b", 0): 7,
        ("b", 0, "name"): 8, ("b", 1): 12, ("b", 1, "list"): 13, ("b", 1, "list", 1, "k"): 13, ("b", 1, "late"): 17,
        ("b", 1, "sub", "deep"): 20, ("a", "more"): 21, ("b", 1, "missing"): 12, ("missing",): 1,
    }  # fmt: skip
    assert {path: toml.line_of(*path) for path in lines} == lines


@pytest.mark.parametrize(
    ("text", "words", "line"),
    [
        ("x = 1\nn = " + "9" * 5000, "cannot be read", 2),
        ("\nn = 0x" + "f" * 5000, "larger than 64 bits", 2),
        ("x = 1\ny = " + "[" * 10 + "]" * 10, "nested deeper than 8", 2),
        ("[a]\nb = [1,\n  {c = 0x" + "f" * 20 + "},\n]", "larger than 64 bits", 2),
        ("n = -9223372036854775809", "larger than 64 bits", 1),
        ("x = 1\ny = " + "[" * 30_000, "cannot be read", 2),
        ("x = 1\ny = " + "{a=" * 20_000, "cannot be read", 2),
        ("\n" + "a." * 30_000 + "a = 1", "nested deeper than 8", 2),
        ("\n[" + "a." * 30_000 + "a]", "nested deeper than 8", 2),
        ("x = {" + "a." * 30_000 + "a = 1}", "nested deeper than 8", 1),
        ("\n".join(f"k{number} = 1" for number in range(MAX_KEYS + 1)), "more than 512 keys", 1),
        ("x = [\n" + "1,\n" * 20_000 + "]", "more than 512 keys", 1),
        ("# " + "x" * 66_000, "larger than 64 KB", 1),
        ("a = 2024-13-01", "", 1),
        ("a = 1979-05-27T07:32:00+99:99", "", 1),
        ("x = 1\n" + '"""\\' * 16_000, "", 2),
        ("x = " + "'" * 60_000, "", 1),
        (b"x = 1\n\xff", "not UTF-8", 2),
    ],
    ids=lambda value: repr(value)[:24],
)
def test_what_is_beyond_the_limits_is_an_error_of_its_line(text: str | bytes, words: str, line: int) -> None:
    """Numbers, depth, keys, sizes and dates that would end or stop the parser never end anything else."""
    found = told(text)
    assert words in found[0]
    assert found[1] == line


@pytest.mark.parametrize(
    "piece",
    [
        "k{} = 1\n",
        "a.b.c{} = 1\n",
        "[t{}]\n",
        "[[t]]\nx{} = 1\n",
        "k{} = [1, {{a = 2}}]\n",
        'k{} = """x\n"""\n',
        "# {}\n",
    ],
)
def test_reading_costs_in_proportion(piece: str) -> None:
    """The lines are found once, whatever they hold, and looked up without another pass."""
    assert_in_proportion(
        lambda size: "".join(piece.format(number) for number in range(size)).encode(), _read_with_lines, 500
    )


def _read_with_lines(data: bytes) -> None:
    toml = read_toml(data, "F", times=100)
    for key in toml.values:
        toml.line_of(key)


KEYS = st.one_of(
    st.sampled_from(["a", "b", '"a"', "'b c'", '"\\u0061"']), st.from_regex(r"[A-Za-z0-9_-]{1,4}", fullmatch=True)
)
VALUES = st.recursive(
    st.sampled_from(["1", "-2.5", "true", "2024-01-15", '"x # = ]"', "'\"'", '"""a\n[b]\n\\""""', "'''\n'\n'''"]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda all_: "[" + ", # ]\n ".join(all_) + "\n]"),
        st.lists(st.tuples(KEYS, inner), max_size=2).map(
            lambda all_: "{" + ", ".join(f"{key} = {value}" for key, value in all_) + "}"
        ),
    ),
    max_leaves=4,
)
DOTTED = st.lists(KEYS, min_size=1, max_size=3).map(" . ".join)
STATEMENTS = st.one_of(
    DOTTED.map("[{}]".format),
    DOTTED.map("[[ {} ]]".format),
    st.tuples(DOTTED, VALUES).map(lambda pair: f"{pair[0]} = {pair[1]} # [c]"),
    st.just(""),
)


@settings(deadline=None)
@example(["[a . a . a]", "b . a . a = [[[-2.5]]]"])
@given(st.lists(STATEMENTS, max_size=8))
def test_the_lines_are_those_of_the_statements(statements: list[str]) -> None:
    """Whatever the parser takes, each value's line is where its statement begins, found without parsing prefixes."""
    text = "\n".join(statements) + "\n"
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        with pytest.raises(ConfigError):
            read_toml(text.encode(), "F")
        return
    try:
        toml = read_toml(text.encode(), "F")
    except ConfigError:
        assert _depth(values) > MAX_DEPTH
        return
    assert toml.values == values
    for path in _paths(values):
        assert toml.line_of(*path) == _first_line(text.split("\n"), path)


def _depth(value: object) -> int:
    """Return how many tables and lists are inside of each other below a value."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return max((1 + _depth(one) for one in inner if isinstance(one, dict | list)), default=0)


def _first_line(lines: list[str], path: tuple[str | int, ...]) -> int:
    """Parse every beginning of the text: the first that has the value ends with its statement."""
    begin = 0
    for count in range(1, len(lines) + 1):
        try:
            found = tomllib.loads("\n".join(lines[:count]) + "\n")
        except tomllib.TOMLDecodeError:
            continue
        if path in _paths(found):
            return begin + 1
        begin = count
    raise AssertionError(path)


def _paths(values: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    if isinstance(values, dict):
        return [one for key, value in values.items() for one in [(*path, key), *_paths(value, (*path, key))]]
    if isinstance(values, list):
        return [one for index, value in enumerate(values) for one in _paths(value, (*path, index))]
    return []
