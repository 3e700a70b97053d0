"""The catalogue at work: after writes of its own, beside other programs, and while it is made anew."""

from __future__ import annotations

import os

import pytest

from memory.curated.index import catalog as catalogs
from memory.search.word_index import WordIndex
from tests.memory.curated.conftest import Den, ask, write


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
