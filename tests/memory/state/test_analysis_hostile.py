"""Repositories that somebody made to hurt: links, devices, bombs, bytes that are no text, and very many files."""

from __future__ import annotations

import errno
import os
import zlib
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.state.analysis import analyse, tree
from memory.state.analysis.ignored import Ignore
from memory.state.analysis.texts.documents import parts_of
from memory.state.analysis.texts.prose import cut, plain, sentences
from tests.growth import assert_in_proportion

from .layouts import LAYOUTS, PYTHON, write
from .test_analysis_layouts import SHAPE, check_paths, check_shape

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_links_out_are_not_read(tmp_path: Path) -> None:
    """A README, a manifest and a folder that are links to outside tell nothing of what is there."""
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "README.md").write_text("# Secret\n\nThe secret plan of the neighbours is this.\n")
    root = write({"main.py": ""}, tmp_path)
    (root / "README.md").symlink_to(tmp_path / "secret" / "README.md")
    (root / "src").symlink_to(tmp_path / "secret")
    (root / ".gitignore").symlink_to("/etc/passwd")
    (root / ".git").symlink_to(tmp_path / "secret")
    bundle = analyse(root, now=NOW)
    assert "ecret" not in repr(bundle)
    check_shape(bundle, SHAPE)


def test_special_files_do_not_block(tmp_path: Path) -> None:
    """A FIFO, a socket name and a folder in the place of a file are passed over."""
    root = write({"main.py": ""}, tmp_path)
    os.mkfifo(root / "README.md")
    os.mkfifo(root / ".gitignore")
    (root / "pyproject.toml").mkdir()
    (root / "pyproject.toml" / "x.txt").write_text("x")
    check_shape(analyse(root, now=NOW), SHAPE)


@pytest.mark.parametrize(
    "content",
    [
        b"\0" * 4096,
        b"\xff\xfe" * 2000,
        b"[" * 200_000,
        b'{"a":' * 100_000,
        b"a = " + b"[" * 100_000,
        b"a = " + b"9" * 100_000,
        b'{"name": ' + b"9" * 100_000 + b"}",
        b'{"name": ["x"], "workspaces": {"packages": [1, null, "*"]}, "scripts": [], "bin": [], "main": {}}',
        b'[project]\nname = 1\ndescription = ["x"]\nscripts = "x"\n[tool]\nuv = 1\npoetry = []\n',
        b'[package]\nname = []\n[workspace]\nmembers = "x"\n[[bin]]\npath = 1\n',
        b"# " + b" " * 200_000 + b"x\n",
        b"\n" * 200_000 + b"x",
        b"*" * 200_000,
        b"[" * 50_000 + b"]" * 50_000,
        b"`" * 100_001,
        b"<!--" * 60_000,
        b"- [ ] " * 40_000,
        b"<project>" + b"<build>" * 30_000,
        b"use (" * 50_000,
        b"//\n" * 80_000 + b"package x\n",
        b"project(" * 30_000,
        b'"""' + b"\\" * 200_000,
        b"#\n" * 100_000,
    ],
    ids=range(23),
)
@pytest.mark.thorough(but=tuple(map(str, range(0, 23, 3))))
def test_any_content_of_any_manifest(content: bytes, tmp_path: Path) -> None:
    """Whatever one content stands in all files that are looked at, a bundle of the right shape comes out."""
    names = {path for files in LAYOUTS.values() for path in files if not path.startswith((".git/", ".venv/"))}
    root = tmp_path / "shelf"
    for path in sorted(names):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)
    bundle = analyse(root, now=NOW)
    check_shape(bundle, SHAPE)
    check_paths(bundle, root)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_damaged_files_give_a_bundle(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """A layout of which one file is cut, doubled or overwritten gives a bundle of the right shape."""
    files = dict(data.draw(st.sampled_from([files for files in LAYOUTS.values() if files])))
    path = data.draw(st.sampled_from(sorted(files)))
    text = files[path]
    place = data.draw(st.integers(0, len(text)))
    junk = data.draw(st.text(alphabet=st.characters(codec="utf-8"), max_size=20))
    files[path] = data.draw(st.sampled_from([text[:place], text[:place] + junk + text[place:], text + text, junk]))
    root = write(files, tmp_path_factory.mktemp("repository"))
    bundle = analyse(root, now=NOW)
    check_shape(bundle, SHAPE)
    check_paths(bundle, root)


def test_boxes_without_words_are_no_steps(tmp_path: Path) -> None:
    """A box with nothing behind it, or with dots, is not what to do next."""
    root = write({"TODO.md": "# To do\n\n- [ ]\n- [ ] ...\n- [ ] Retry feeds\n"}, tmp_path)
    bundle = analyse(root, now=NOW)
    check_shape(bundle, SHAPE)
    assert [step["title"] for step in bundle["nextSteps"]] == ["Retry feeds"]


def test_names_that_are_no_text(tmp_path: Path) -> None:
    """Files whose names are not UTF-8 or hold line ends are left out."""
    root = write({"ok.py": ""}, tmp_path)
    (Path(os.fsdecode(os.fsencode(root) + b"/\xff.py"))).write_text("")
    (root / "two\nlines.py").write_text("")
    (root / "<!-- x -->.md").write_text("# a\n")
    bundle = analyse(root, now=NOW)
    assert "\\udcff" not in repr(bundle)
    assert "\\n" not in repr(bundle)


def test_more_files_than_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a repository with too many files those near the root count, and the bundle says that there are more."""
    monkeypatch.setattr(tree, "MOST_FILES", 20)
    root = write({"main.py": "", **{f"deep/{number}.py": "" for number in range(50)}}, tmp_path)
    found = tree.Tree(root)
    assert len(found.files) == 20
    assert found.has("main.py")
    assert any(
        "larger than what was looked at" in risk for risk in analyse(root, now=NOW)["currentFocus"]["knownRisks"]
    )


def test_commit_object_that_is_a_bomb(tmp_path: Path) -> None:
    """A commit of a gigabyte of one letter costs no more than the part of it that is read."""
    root = write(PYTHON, tmp_path)
    packer = zlib.compressobj(9)
    data = (
        packer.compress(b"commit 1\0\n\n")
        + b"".join(packer.compress(b"x" * (1 << 20)) for _ in range(200))
        + packer.flush()
    )
    path = root / ".git" / "objects" / "11" / ("1" * 38)
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    state = analyse(root, now=NOW)["currentFocus"]["currentState"]
    assert len(state[0]) < 300


@pytest.mark.parametrize(
    ("patterns", "path", "folder", "ignored"),
    [
        ("secret/", "secret", True, True),
        ("secret/", "secret", False, False),
        ("*.log\n!keep.log", "a/keep.log", False, False),
        ("*.log\n!keep.log", "a/other.log", False, True),
        ("/only", "only", True, True),
        ("/only", "deep/only", True, False),
        ("**/gen", "deep/gen", True, True),
        ("docs/*.txt", "docs/a.txt", False, True),
        ("# x\n\n", "x", False, False),
    ],
)
def test_gitignore(patterns: str, path: str, folder: bool, ignored: bool) -> None:
    """Patterns are read as git reads them, the last that fits decides."""
    assert Ignore(patterns).ignores(path, folder=folder) is ignored


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("**Bold** and *thin* of `a_b*c`", "Bold and thin of `a_b*c`"),
        ("[![Badge](x.png)](y) Hello [there](z)", "Hello there"),
        ("<b>Hi</b> <!-- no --> you", "Hi you"),
        ("2 * 3 * 4 snake_case_name", "2 * 3 * 4 snake_case_name"),
    ],
)
def test_plain(markdown: str, text: str) -> None:
    """Inline Markdown becomes the text that a reader sees."""
    assert plain(markdown) == text


def test_sentences() -> None:
    """Abbreviations and version numbers end no sentence."""
    assert sentences("It reads e.g. Feeds. Version 1.2 is old! `Code` follows.") == [
        "It reads e.g. Feeds.",
        "Version 1.2 is old!",
        "`Code` follows.",
    ]


@given(st.text(max_size=300), st.integers(10, 100))
def test_cut(text: str, most: int) -> None:
    """A cut text is never longer than asked for."""
    assert len(cut(text, most)) <= most


@pytest.mark.parametrize("line", ["# x\n\ntext `a` *b* [c](d)\n\n- one\n- two\n\n", "`", "[", "<!-- a\n", "- x\n  y\n"])
def test_documents_cost(line: str) -> None:
    """Reading a document takes time in proportion to its length."""
    assert_in_proportion(lambda size: line * size, parts_of, 400)


def test_tree_cost(tmp_path: Path) -> None:
    """An analysis takes time in proportion to the number of files and folders."""

    def make(size: int) -> Path:
        root = tmp_path / str(size)
        for number in range(size):
            folder = root / f"top{number % 40}" / f"part{number // 5}"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"a{number}.py").write_text('"""A part."""\n')
        return root

    assert_in_proportion(make, lambda root: analyse(root, now=NOW), 150)


def test_what_cannot_be_read_is_a_known_risk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bundle that was made without a file that could not be read says so, with the reason; a whole one does not."""
    root = write({"README.md": "# Shop\n\nIt sells tea to people who like tea.\n", "main.py": "print()\n"}, tmp_path)
    whole = analyse(root, now=NOW)
    real = tree.open_beneath

    def refused(path: str, beneath: str) -> int:
        if path == "README.md":
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return real(path, beneath)

    monkeypatch.setattr(tree, "open_beneath", refused)
    bundle = analyse(root, now=NOW)
    said = "Could not be read, so nothing of it is known: `README.md` (Permission denied)."
    assert said in bundle["currentFocus"]["knownRisks"]
    assert "tea" in whole["project"]["summary"]
    assert not any("Could not be read" in risk for risk in whole["currentFocus"]["knownRisks"])
