"""The catalogue at work: after writes of its own, beside other programs, and while it is made anew."""

from __future__ import annotations

import os
import sqlite3
from typing import Any

import pytest

from memory.curated.index import catalog as catalogs
from memory.search.word_index import WordIndex
from tests.memory.curated.conftest import Den, ask, write


def test_a_workspace_without_an_identity_is_read_once(den: Den, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next process knows its files without reading them; nothing of that is in the workspace."""
    folder = den.workspace / ".agh/memory"
    folder.mkdir(parents=True)
    for number in range(5):
        text = f"---\nname: N{number}\ndescription: d\ntype: project\n---\n\nword{number}\n"
        (folder / f"project_n{number}.md").write_text(text)
    root = den.open().root("workspace")
    assert len(den.open().memories([root])) == 5
    assert not (den.workspace / ".agh/workspace.toml").exists()
    den.close()
    read = []
    real = catalogs.read_file
    monkeypatch.setattr(catalogs, "read_file", lambda *args: read.append(args[2]) or real(*args))
    assert len(den.open().memories([root])) == 5
    assert read == []
    den.close()
    write(den, den.open(), "project", "Six", "the sixth", scope="workspace")
    assert len(den.open().memories([root])) == 6


def test_a_workspace_without_files_gets_no_catalogue(den: Den) -> None:
    """A look at nothing leaves nothing behind."""
    curated = den.open()
    assert curated.memories(curated.visible()) == []
    assert not list(den.top.rglob("catalog-nameless.sqlite"))


def test_a_file_that_appears_beside_a_write_is_seen_at_once(den: Den) -> None:
    """Another program's file counts even where the folder has the time of our own write."""
    curated = den.open()
    write(den, curated, "user", "Coffee", "likes oat milk")
    write(den, curated, "user", "Tea", "likes green tea")
    folder = den.person / "memory"
    at = os.stat(folder)
    (folder / "user_water.md").write_text("---\nname: Water\ndescription: d\ntype: user\n---\n\nlikes still water\n")
    os.utime(folder, ns=(at.st_atime_ns, at.st_mtime_ns))
    assert len(curated.memories([curated.root("global")])) == 3
    (folder / "user_water.md").unlink()
    os.utime(folder, ns=(at.st_atime_ns, at.st_mtime_ns))
    assert len(curated.memories([curated.root("global")])) == 2


def test_a_file_that_is_changed_beside_a_write_is_seen_at_once(den: Den) -> None:
    """The time of the folder says nothing about a file that is written in its place."""
    curated = den.open()
    write(den, curated, "user", "Coffee", "likes oat milk")
    write(den, curated, "user", "Tea", "likes green tea")
    folder = den.person / "memory"
    at = os.stat(folder)
    path = folder / "user_coffee.md"
    path.write_text(path.read_text().replace("oat milk", "barley milk"))
    os.utime(folder, ns=(at.st_atime_ns, at.st_mtime_ns))
    (found,) = ask(den, curated, "barley milk please").entries
    assert found.memory.filename == "user_coffee.md"


def test_an_index_that_somebody_edited_is_rendered_as_a_whole(den: Den) -> None:
    """Lines of a person stay below, and every memory has its line again."""
    curated = den.open()
    for name in ("Coffee", "Tea", "Milk"):
        write(den, curated, "user", name, f"likes {name} in the morning")
    path = den.person / "memory/MEMORY.md"
    path.write_text("mine\n" + "\n".join(path.read_text().splitlines()[1:]) + "\n")
    write(den, curated, "user", "Water", "likes still water")
    lines = path.read_text().splitlines()
    assert [line.partition("]")[0] for line in lines if line.startswith("- ")] == [
        "- [Water", "- [Milk", "- [Tea", "- [Coffee"
    ]  # fmt: skip
    assert lines[-1] == "mine"


def test_a_reindex_shows_others_the_whole_catalogue_at_all_times(den: Den, monkeypatch: pytest.MonkeyPatch) -> None:
    """While one process makes it anew another one still finds everything, and does not build its own."""
    curated = den.open()
    for number in range(5):
        write(den, curated, "user", f"Drink {number}", f"likes drink number {number}")
    other = den.open()
    assert len(other.memories([other.root("global")])) == 5
    seen: list[int] = []
    real = catalogs.put_in

    def put_in(db: sqlite3.Connection, entries: Any) -> None:
        found = other.memories([other.root("global")])
        seen.append(len(found))
        real(db, entries)

    (den.person / "memory/user_new.md").write_text("---\nname: New\ndescription: d\ntype: user\n---\n\nnew\n")
    monkeypatch.setattr(catalogs, "put_in", put_in)
    root = curated.root("global")
    assert curated.sides["global"].catalog.rebuild([root]) == {"global": 6}
    assert seen == [5]
    assert len(other.memories([root])) == 6


def test_a_reindex_that_fails_leaves_the_catalogue_as_it_was(den: Den, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is one transaction: what was found before is found after."""
    curated = den.open()
    write(den, curated, "user", "Coffee", "likes oat milk")
    assert len(curated.memories([curated.root("global")])) == 1

    def broken(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(catalogs, "put_in", broken)
        with pytest.raises(KeyboardInterrupt):
            curated.sides["global"].catalog.rebuild([curated.root("global")])
    side = curated.sides["global"]
    found = side.catalog.read((), lambda db: WordIndex(db).total())
    assert found == 1
    assert len(curated.memories([curated.root("global")])) == 1
