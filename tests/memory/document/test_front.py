"""Front matter: the guard, scalars as text, and edits of one line."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.document import front_matter as front_module
from memory.document.front_matter import FrontMatter, set_key
from memory.document.guarded_yaml import read_yaml
from memory.errors import MemdeckError, UsageError
from tests.patience import PATIENCE

TASKS = "---\ntype: task-list\nupdated: 2024-01-15T10:30:00Z\n---\n"
RICH = """\
---
# what this is
type: "task-list"  # quoted
updated:   2024-13-45     # impossible
at: 10:30
single: 'it''s'
empty:
nothing:   # later
tags: [a, b]
nested:
  deep: {x: 1}
  list:
  - one
long: |
  two
  lines
last: true
---
"""
KEYS = st.sampled_from(["type", "updated", "a-b", "x_1", "new"])
VALUE = st.one_of(
    st.text(max_size=20),
    st.text(alphabet="ab1:# '\"\\-[]{},&*!|>%@`?=~.é\t", max_size=12),
    st.sampled_from(
        ["10:30", "true", "null", "~", "no", "0123", "0x1F", "1e3", ".inf", "2024-01-15", "---", "...", "<<"]
    ),
)
LINE = st.one_of(
    st.tuples(st.sampled_from(["a", "b", "c_1", "type"]), st.sampled_from([":", ": ", ":  ", " : "]), VALUE).map(
        "".join
    ),
    st.sampled_from(["", "# note", "  # note", "- x", "  y: z", "plain"]),
)
NEWLINES = st.sampled_from(["\n", "\r\n", "\r"])


def _wrap(inner: str, newline: str = "\n") -> str:
    return f"---{newline}{inner}{newline}---{newline}"


def test_flat_front_matter() -> None:
    """Keys and values of the usual lines, with their lines in the file."""
    meta = FrontMatter.read(TASKS)
    assert meta.data == {"type": "task-list", "updated": "2024-01-15T10:30:00Z"}
    assert (meta.get("type"), meta.get("missing"), meta.line_of("updated")) == ("task-list", None, 2)
    assert (meta.opaque, meta.problems) == (False, ())


def test_every_scalar_is_text() -> None:
    """Dates, times, numbers, truth values and quoted text come as they are written, also inside lists."""
    meta = FrontMatter.read(RICH)
    assert meta.data == {
        "type": "task-list",
        "updated": "2024-13-45",
        "at": "10:30",
        "single": "it's",
        "empty": "",
        "nothing": "",
        "tags": ["a", "b"],
        "nested": {"deep": {"x": "1"}, "list": ["one"]},
        "long": "two\nlines\n",
        "last": "true",
    }
    assert (meta.opaque, meta.problems, meta.get("tags"), meta.line_of("last")) == (False, (), None, 16)


@pytest.mark.parametrize(
    ("inner", "line", "code"),
    [
        ("a: &x 1", 1, "front.anchor"),
        ("a: 1\nb: &x [1]", 2, "front.anchor"),
        ("a: *x", 1, "front.alias"),
        ("a: !!str 1", 1, "front.tag"),
        ("a: !x [1]", 1, "front.tag"),
        ("a: !!python/object/apply:os.system [id]", 1, "front.tag"),
        ("<<: {a: 1}", 1, "front.merge"),
        ("a:\n  <<: {b: 1}", 2, "front.merge"),
        ("a: 1\n--- b", 2, "front.documents"),
        ("--- \na: 1", 1, "front.documents"),
        ("- a", 1, "front.mapping"),
        ("just words", 1, "front.mapping"),
        ("[a]: b", 1, "front.key"),
        ("? {a: b}\n: c", 1, "front.key"),
        ("a: b: c", 1, "front.syntax"),
        ("a: 1\nb: [1", 3, "front.syntax"),
        ("a: 1\n\tb: 2", 2, "front.syntax"),
        ('a: "\\UFFFFFFFF"', 1, "front.syntax"),
        ('a: "\\ud83d"', 1, "front.character"),
        ("a: 1\nb: \x00", 2, "front.character"),
        ("a: 1\r\nb: caf\udce9", 2, "front.character"),
        ("a: 1\nb: x\u2028c: 2", 2, "front.character"),
        ("a: " + "[" * 9 + "]" * 9, 1, "front.nesting"),
        ("a: " + "{b: " * 9 + "}" * 9, 1, "front.nesting"),
        ("\n".join("  " * depth + "a:" for depth in range(12)), 10, "front.nesting"),
        ("a: 1\n" * 512 + "b: 2", 513, "front.lines"),
        ("a: " + "x" * 65_534, 0, "front.size"),
        ("a: " + "é" * 40_000, 0, "front.size"),
    ],
)
def test_the_guard_refuses(inner: str, line: int, code: str) -> None:
    """What could crash, run code, unfold or change meaning makes the front matter opaque, with its line."""
    meta = FrontMatter.read(_wrap(inner))
    ((found_line, found_code, sentence),) = meta.problems
    assert (found_line, found_code, meta.opaque, meta.data) == (line, code, True, {})
    assert sentence.startswith(("the front matter", "a key in"))


@pytest.mark.parametrize(
    "inner",
    [
        "a: " + "[" * 8 + "]" * 8,
        "\n".join(["a: x", *["# comment"] * 511]),
        "a: " + "x" * 65_500,
        "a: '&x'\nb: \"*y\"\nc: x & y\nd: a!b",
    ],
)
def test_the_guard_allows(inner: str) -> None:
    """The limits themselves, and harmless uses of the refused signs, are read."""
    assert not FrontMatter.read(_wrap(inner)).opaque


BOMB = "\n".join(["a0: &a0 [x]", *(f"a{n}: &a{n} {{<<: *a{n - 1}, k: *a{n - 1}}}" for n in range(1, 40))])


@pytest.mark.parametrize(
    "inner",
    [
        "[" * 50_000,
        "a: " + "[" * 50_000,
        "{" * 50_000,
        "a: " + "{a: " * 15_000,
        "? " * 30_000,
        "- " * 30_000,
        "a: [" + "[]," * 20_000,
        "a: {" + "k: v," * 12_000 + "}",
        "a: " + "b " * 30_000,
        'a: "' + "\\\\" * 30_000,
        "key" * 20_000,
        " " * 60_000,
        BOMB,
    ],
    ids=lambda inner: inner[:8],
)
def test_hostile_front_matter_stays_small(inner: str) -> None:
    """Deep, unfolding, long and broken front matter never crashes, and says no more than what stands there."""
    assert len(str(FrontMatter.read(_wrap(inner)).data)) < 2 * len(inner) + 100


def test_equal_keys() -> None:
    """Of equal keys the first counts; the second is reported with its line, in flat and in nested lines."""
    flat = FrontMatter.read(_wrap("a: 1\nb: 2\na: 3"))
    assert (flat.get("a"), [problem[:2] for problem in flat.problems]) == ("1", [(3, "front.duplicate")])
    nested = FrontMatter.read(_wrap("a:\n  b: 1\n  b: 2\na: 'x'"))
    assert nested.data == {"a": {"b": "1"}}
    assert [problem[:2] for problem in nested.problems] == [(3, "front.duplicate"), (4, "front.duplicate")]
    assert not nested.opaque


@given(st.lists(LINE, max_size=5), NEWLINES)
def test_reading_never_fails(lines: list[str], newline: str) -> None:
    """Any lines are read, or opaque with one problem."""
    meta = FrontMatter.read(_wrap(newline.join(lines), newline))
    assert not meta.opaque or (not meta.data and len(meta.problems) == 1)


@given(st.lists(LINE, max_size=5), NEWLINES)
def test_the_short_way_agrees_with_yaml(lines: list[str], newline: str) -> None:
    """Whatever is read without YAML has the same keys, values and places as YAML gives it."""
    source = [line + newline for line in re.split(r"\r\n|\r|\n", newline.join(lines))]
    flat = front_module._read_flat(source)
    if flat is None:
        return
    items, _ = read_yaml("".join(source))
    assert [(item.key, item.value, item.line, item.start, item.end) for item in flat] == [
        (item.key, item.value, item.line, item.start, item.end) for item in items
    ]


@pytest.mark.parametrize(
    ("key", "value", "old", "new"),
    [
        ("type", "notes", 'type: "task-list"  # quoted', 'type: "notes"  # quoted'),
        ("type", 'say "x\\y"', 'type: "task-list"', 'type: "say \\"x\\\\y\\""'),
        ("updated", "2024-01-16", "updated:   2024-13-45     #", "updated:   2024-01-16     #"),
        ("at", "11:45", "at: 10:30", 'at: "11:45"'),
        ("at", "noon # sharp", "at: 10:30", 'at: "noon # sharp"'),
        ("single", "it's not", "'it''s'", "'it''s not'"),
        ("empty", "full", "empty:", "empty: full"),
        ("nothing", "x", "nothing:   # later", "nothing: x   # later"),
        ("tags", "c", "tags: [a, b]", "tags: c"),
        ("last", "false", "last: true", "last: false"),
        ("last", "", "last: true", 'last: ""'),
        ("last", "Größe 12", "last: true", "last: Größe 12"),
        ("last", "no", "last: true", 'last: "no"'),
        ("last", "0123", "last: true", 'last: "0123"'),
        ("last", "2024-01-15T10:30:00Z", "last: true", "last: 2024-01-15T10:30:00Z"),
        ("new", "value", "last: true\n", "last: true\nnew: value\n"),
    ],
)
def test_set_key(key: str, value: str, old: str, new: str) -> None:
    """One line changes: comment, spacing and quotes stay, and what YAML would misread is quoted."""
    assert old in RICH
    changed = set_key(RICH, key, value)
    assert changed == RICH.replace(old, new, 1)
    assert FrontMatter.read(changed).get(key) == value


@given(
    KEYS,
    VALUE,
    st.sampled_from([TASKS, RICH, "---\n---\n", "---\n  type: x\n...", "---\n{type: a, x_1: 'b'}\n---\n"]),
    NEWLINES,
)
def test_set_key_changes_one_line(key: str, value: str, front: str, newline: str) -> None:
    """Whatever is written is read back as that text, and no other line and no line end changes."""
    front = front.replace("\n", newline)
    try:
        changed = set_key(front, key, value)
    except MemdeckError as error:
        expected = not value.isprintable() if isinstance(error, UsageError) else "{type" in front
        if not expected:
            raise
        return
    assert FrontMatter.read(changed).get(key) == value
    before, after = (re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text) for text in (front, changed))
    if key in FrontMatter.read(front).data:
        assert len(before) == len(after)
        assert sum(old != new for old, new in zip(before, after, strict=True)) <= 1
    else:
        assert before == [*after[:-2], after[-1]]
        assert after[-2].endswith(newline)
    assert set_key(changed, key, value) == changed


@pytest.mark.parametrize(
    ("front", "key", "value", "code"),
    [
        (_wrap("a: &x 1"), "a", "2", "front.opaque"),
        (_wrap("{a: 1}"), "b", "2", "front.opaque"),
        (RICH, "long", "short", "front.multiline"),
        (RICH, "nested", "flat", "front.multiline"),
        (RICH, "a b", "x", "front.key"),
        (RICH, "", "x", "front.key"),
        (RICH, "type", "a\nb", "front.value"),
        (RICH, "type", "a\x1bb", "front.value"),
        (RICH, "type", "caf\udce9", "front.value"),
    ],
)
def test_set_key_refuses(front: str, key: str, value: str, code: str) -> None:
    """What is opaque, has several lines or cannot be written is left alone, with a code."""
    with pytest.raises(MemdeckError) as caught:
        set_key(front, key, value)
    assert caught.value.code == code


def test_usual_front_matter_loads_no_yaml() -> None:
    """Reading and writing `key: value` lines imports no YAML library."""
    code = (
        "import sys\nfrom memory.document.front_matter import FrontMatter, set_key\n"
        f"front = set_key({TASKS!r}, 'updated', '2024-01-16T08:00:00Z')\n"
        "print(FrontMatter.read(front).get('updated'), 'yaml' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert done.stdout.strip() == "2024-01-16T08:00:00Z False"
