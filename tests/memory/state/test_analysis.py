"""The analysis of a repository on files that somebody made to hurt: links, devices, bombs, bytes that are no text."""

from __future__ import annotations

import errno
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.state.analysis import tree
from memory.state.analysis.analyse import analyse
from memory.state.analysis.documents import sections_of
from memory.state.entry_block import put_block, render_block
from memory.state.files import schema
from memory.state.files.model import bundle_paths
from memory.state.projections import path_of, render_projections
from tests.examples import examples
from tests.growth import assert_in_proportion

NOW = datetime(2026, 1, 1, tzinfo=UTC)
FILES = {
    "README.md": "# Kiln\n\nKiln plans the firing of pots.\n\n## Known issues\n\n- **Ash**: it falls. Use a lid.\n",
    "AGENTS.md": "# Agents\n\n`make test` tests.\n",
    "CHANGELOG.md": "# Changelog\n\n## [Unreleased]\n\n- Two kilns\n",
    "TODO.md": "# To do\n\n- [ ] Retry a firing: see `src/kiln/fire.py`\n- [x] Cool\n",
    "Makefile": "test:\n\ttrue\n",
    ".github/workflows/ci.yml": "jobs:\n  a:\n    steps:\n    - run: make test\n",
    ".gitignore": "*.log\n",
    "pyproject.toml": '[project]\nname = "kiln"\n[project.scripts]\nkiln = "kiln.fire:main"\n',
    "src/kiln/__init__.py": '"""Plans firings."""\n',
    "src/kiln/fire.py": '"""Fires."""\n',
    "package.json": '{"name": "kiln", "workspaces": ["web/*"], "scripts": {"test": "mocha"}}',
    "web/shop/package.json": '{"name": "shop", "main": "index.js"}',
    "web/shop/index.js": "/** Sells pots. */\n",
    "Cargo.toml": '[package]\nname = "kiln"\n[workspace]\nmembers = ["crates/*"]\n',
    "crates/ash/Cargo.toml": '[package]\nname = "ash"\n[[bin]]\nname = "ash"\npath = "src/main.rs"\n',
    "crates/ash/src/main.rs": "//! Ash.\n",
    "go.mod": "module example.org/kiln\n\ngo 1.22\n",
    "cmd/kiln/main.go": "// Command kiln fires.\npackage main\n",
    "pom.xml": "<project><artifactId>kiln</artifactId></project>",
    "src/main/java/Main.java": "/** Fires. */\nclass Main {}\n",
    "kiln.csproj": "<Project/>",
    "kiln.gemspec": 'name = "kiln"\n',
    "composer.json": '{"name": "pots/kiln"}',
    "mix.exs": "app: :kiln\n",
    "lib/kiln.ex": '@moduledoc "Fires."\n',
    "CMakeLists.txt": "project(kiln C)\n",
    "kiln.c": "/* Fires. */\n",
    "tests/test_fire.py": "import pytest\n",
}
NAMES = tuple(FILES)


def write(files: dict[str, str], folder: Path) -> Path:
    """Write a repository into the folder `shelf` of another, and return it."""
    root = folder / "shelf"
    root.mkdir()
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode())
    return root


def sound(root: Path) -> dict[str, Any]:
    """Return the bundle of a repository, which has the shape of the format and names only what exists."""
    bundle = analyse(root)
    assert schema.faults_of("bundle", bundle) == []
    assert [path for path in bundle_paths(bundle) if not (root / path).exists()] == []
    assert "\n" not in repr(bundle).replace("\\\\n", "")
    return bundle


def test_written_memory_changes_nothing(tmp_path: Path) -> None:
    """What init writes into a repository, projections and entry block, is not what the next analysis is about."""
    root = write(FILES, tmp_path)
    bundle = sound(root)
    for projection, text in render_projections(bundle, "0" * 64).items():
        path = root / path_of(projection)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    entry = root / bundle["project"]["recommendedEntryFile"]
    entry.write_bytes(put_block(entry.read_bytes(), render_block(bundle, "0" * 64)))
    (root / ".agent-memory").mkdir()
    (root / ".agent-memory" / "state.json").write_text("{}")
    assert analyse(root) == bundle


def test_links_out_are_not_read(tmp_path: Path) -> None:
    """A README, a manifest and a folder that are links to outside tell nothing of what is there."""
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "README.md").write_text("# Secret\n\nThe secret plan of the neighbours is this.\n")
    root = write({"main.py": ""}, tmp_path)
    (root / "README.md").symlink_to(tmp_path / "secret" / "README.md")
    (root / "src").symlink_to(tmp_path / "secret")
    (root / ".gitignore").symlink_to("/etc/passwd")
    (root / ".git").symlink_to(tmp_path / "secret")
    assert "ecret" not in repr(sound(root))


def test_special_files_do_not_block(tmp_path: Path) -> None:
    """A FIFO and a folder in the place of a file are passed over."""
    root = write({"main.py": ""}, tmp_path)
    os.mkfifo(root / "README.md")
    os.mkfifo(root / ".gitignore")
    (root / "pyproject.toml").mkdir()
    (root / "pyproject.toml" / "x.txt").write_text("x")
    sound(root)


@pytest.mark.thorough(but=("0", "1", "5", "6", "7", "11", "19"))
@pytest.mark.parametrize(
    "content",
    [
        b"\0" * 4096,
        b"\xff\xfe" * 2000,
        b"[" * 200_000,
        b'{"a":' * 100_000,
        b"a = " + b"9" * 100_000,
        b'{"name": ["x"], "workspaces": {"packages": [1, null, "*"]}, "scripts": [], "bin": [], "main": {}}',
        b'[project]\nname = 1\ndescription = ["x"]\nscripts = "x"\n[tool]\nuv = 1\npoetry = []\n',
        b'[package]\nname = []\n[workspace]\nmembers = "x"\n[[bin]]\npath = 1\n',
        b"# " + b" " * 200_000 + b"x\n",
        b"\n" * 200_000 + b"x",
        b"*" * 200_000,
        b"[" * 50_000 + b"]" * 50_000,
        b"> " * 50_000,
        b"`" * 100_001,
        b"<!--" * 60_000,
        b"- [ ] " * 40_000,
        b"<project>" + b"<build>" * 30_000,
        b"run: |\n" * 40_000,
        b"//\n" * 80_000 + b"package x\n",
        b"project(" * 30_000,
        b'"""' + b"\\" * 200_000,
        b"#\n" * 100_000,
    ],
    ids=range(22),
)
def test_any_content_of_any_file(content: bytes, tmp_path: Path) -> None:
    """Whatever one content stands in all files that are read, a bundle of the right shape comes out."""
    root = write(dict.fromkeys(NAMES, ""), tmp_path)
    for path in NAMES:
        (root / path).write_bytes(content)
    sound(root)


@settings(max_examples=examples(40), deadline=None)
@given(path=st.sampled_from(NAMES), place=st.integers(0, 200), junk=st.text(st.characters(codec="utf-8"), max_size=20))
def test_damaged_files_give_a_bundle(
    tmp_path_factory: pytest.TempPathFactory, path: str, place: int, junk: str
) -> None:
    """A repository of which one file is cut or overwritten in the middle gives a bundle of the right shape."""
    text = FILES[path]
    for number, damaged in enumerate((text[:place], text[:place] + junk + text[place:], junk)):
        sound(write({**FILES, path: damaged}, tmp_path_factory.mktemp(f"repository{number}")))


def test_names_that_are_no_text(tmp_path: Path) -> None:
    """Files whose names are not UTF-8 or hold line ends are left out."""
    root = write({"ok.py": "x = 1\n"}, tmp_path)
    (Path(os.fsdecode(os.fsencode(root) + b"/\xff.py"))).write_text("")
    (root / "two\nlines.py").write_text("")
    (root / "<!-- x -->.md").write_text("# a\n")
    bundle = sound(root)
    assert "\\udcff" not in repr(bundle)
    assert "\\n" not in repr(bundle)


def test_more_files_than_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a repository with too many files those near the root count, and the bundle says that there are more."""
    monkeypatch.setattr(tree, "MOST_FILES", 20)
    root = write({"main.py": "", **{f"deep/{number}.py": "" for number in range(50)}}, tmp_path)
    found = tree.Tree(root)
    assert len(found.files) == 20
    assert found.has("main.py")
    assert "larger than what was looked at" in repr(sound(root)["currentFocus"]["knownRisks"])


def test_what_cannot_be_read_is_a_known_risk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bundle that was made without a file that could not be read says so, with the reason; a whole one does not."""
    root = write({"README.md": "# Shop\n\nIt sells tea to people who like tea.\n", "main.py": "print()\n"}, tmp_path)
    whole = sound(root)
    real = tree.open_beneath

    def refused(path: str, beneath: str) -> int:
        if path == "README.md":
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return real(path, beneath)

    monkeypatch.setattr(tree, "open_beneath", refused)
    said = "Could not be read, so nothing of it is known: `README.md` (Permission denied)."
    assert said in sound(root)["currentFocus"]["knownRisks"]
    assert said not in whole["currentFocus"]["knownRisks"]


@pytest.mark.parametrize("line", ["# x\n\ntext `a` *b* [c](d)\n\n- one\n- two\n\n", "`", "[", "<!-- a\n", "- x\n  y\n"])
def test_documents_cost(line: str) -> None:
    """Reading a document takes time in proportion to its length."""
    assert_in_proportion(lambda size: line * size, sections_of, 400)


def test_tree_cost(tmp_path: Path) -> None:
    """An analysis takes time in proportion to the number of files and folders."""

    def make(size: int) -> Path:
        root = tmp_path / str(size)
        for number in range(size):
            folder = root / f"top{number % 40}" / f"part{number // 5}"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"a{number}.py").write_text('"""A part."""\n')
        return root

    assert_in_proportion(make, lambda root: analyse(root), 150)
