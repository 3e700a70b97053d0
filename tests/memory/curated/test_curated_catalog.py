"""The catalogue at work: after writes of its own, beside other programs, and while it is made anew."""

from __future__ import annotations

import os
import sqlite3
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.curated.curated import Curated
from memory.curated.files.index_file import IndexLine, rendered, renewed
from memory.curated.index import catalog as catalogs
from memory.curated.index.catalog import Catalog
from memory.curated.index.entries import index_lines, memories
from tests.memory.curated.conftest import Den, ask, forget, write

_NAMES = st.sampled_from([f"user_{letter}.md" for letter in "abcd"])
_BELOW = st.sampled_from(["", "my own words", "- [A](user_a.md) — mine\n\n- [Z](user_z.md)", "\n\n# Title\n\ntext\n"])


@given(first=st.lists(_NAMES, unique=True), below=_BELOW, steps=st.lists(st.tuples(_NAMES, st.booleans()), max_size=6))
def test_a_renewed_index_is_the_rendered_one(first: list[str], below: str, steps: list[tuple[str, bool]]) -> None:
    """One line put on top or taken out gives the same bytes as the whole index rendered."""
    lines = [IndexLine(name, name, "about") for name in first]
    data = rendered(below.encode(), lines)
    for number, (name, gone) in enumerate(steps):
        line = None if gone else IndexLine(name, name, f"about {number}")
        others = [one for one in lines if one.filename != name]
        whole = rendered(data, others if line is None else [line, *others], (name,))
        quick = renewed(data, line, (name,)) if others else None
        assert quick in (None, whole)
        assert quick is not None or not others or b"mine" in data
        lines, data = (others if line is None else [line, *others]), whole


def rows(curated: Curated) -> list[Any]:
    """Return what the catalogue of the person's side says."""
    root = curated.root("global")
    return curated.sides["global"].catalog.read(
        (root,), lambda db: [memories(db, (root,)), db.execute("SELECT * FROM memory_terms").fetchall()]
    )


def test_a_write_is_taken_over_without_a_look_at_the_other_files(den: Den, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once the folder is known a write, an update and a delete list no folder, and all is found as after a reindex."""
    monkeypatch.setattr(catalogs, "_TRUSTED", 600.0)
    curated = den.open()
    for number in range(5):
        write(den, curated, "user", f"Drink {number}", f"likes drink number {number}")
    ask(den, curated, "which drink number")

    def refused(*_: object) -> None:
        raise AssertionError("the whole folder is listed")

    with monkeypatch.context() as patch:
        patch.setattr(catalogs, "seen_in", refused)
        write(den, curated, "user", "Tea", "likes green tea with honey")
        write(den, curated, "user", "Drink 3", "likes another drink now")
        forget(den, curated, "user_drink-1.md")
        (found,) = ask(den, curated, "green honey tea").entries[:1]
        assert found.memory.filename == "user_tea.md"
        before = rows(curated)
    fresh = den.open()
    fresh.sides["global"].catalog.rebuild([fresh.root("global")])
    assert rows(fresh)[0] == before[0]
    index = (den.person / "memory/MEMORY.md").read_text()
    lines = fresh.sides["global"].catalog.read((), lambda db: index_lines(db, fresh.root("global")))
    assert sorted(index.splitlines()) == sorted(rendered(b"", lines).decode().splitlines())
    assert index.splitlines()[0].startswith("- [Drink 3]")


def test_a_write_costs_the_same_among_few_and_many(den: Den) -> None:
    """The catalogue does as many steps for a memory among 30 as among 480 that have nothing to do with it."""
    steps: dict[int, int] = {}
    for most in (30, 480):
        folder = den.workspace / ".agh/memory"
        folder.mkdir(parents=True, exist_ok=True)
        for number in range(most):
            text = f"---\nname: N{number}\ndescription: d\ntype: project\n---\n\nword{number} other{number}\n"
            (folder / f"project_n{number}.md").write_text(text)
        curated = den.open()
        write(den, curated, "project", f"First {most}", "the first one", scope="workspace")
        done = [0]

        def count(done: list[int] = done) -> int:
            done[0] += 1
            return 0

        curated.sides["workspace"].catalog._open().set_progress_handler(count, 10)
        write(den, curated, "project", f"Second {most}", "apples pears quinces", scope="workspace")
        steps[most] = done[0]
        den.close()
    assert 0 < steps[480] < 2 * steps[30]


def test_a_workspace_without_an_identity_is_read_once(den: Den, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next process knows its files, and so does the one that made the identity; nothing lies in the workspace."""
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
    den.close()
    curated = den.open()
    write(den, curated, "project", "Six", "the sixth", scope="workspace")
    assert len(den.open().memories([root])) == 6
    assert set(read) == {"project_six.md"}


def test_a_workspace_without_files_gets_no_catalogue(den: Den) -> None:
    """A look at nothing leaves nothing behind."""
    curated = den.open()
    assert curated.memories(curated.visible()) == []
    assert not list(den.top.rglob("catalog-nameless.sqlite"))


def test_a_file_that_appears_beside_a_write_is_seen_at_once(den: Den, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program's file counts even where the folder has the time of our own write."""
    # However slowly the test runs, all of it happens in the moment of the write.
    monkeypatch.setattr(catalogs, "_SETTLED_NS", 10**15)
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


def test_a_file_that_is_replaced_beside_a_write_is_seen_soon(den: Den, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be told from our own write is seen once the folder is looked at as a whole again."""
    curated = den.open()
    write(den, curated, "user", "Coffee", "likes oat milk")
    write(den, curated, "user", "Tea", "likes green tea")
    folder = den.person / "memory"
    at = os.stat(folder)
    path = folder / "user_coffee.md"
    path.write_text(path.read_text().replace("oat milk", "barley milk"))
    os.utime(folder, ns=(at.st_atime_ns, at.st_mtime_ns))
    clock = catalogs.time.monotonic()
    monkeypatch.setattr(catalogs.time, "monotonic", lambda: clock + 60)
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

    def broken(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(catalogs, "put_in", broken)
        with pytest.raises(KeyboardInterrupt):
            curated.sides["global"].catalog.rebuild([curated.root("global")])
    side = curated.sides["global"]
    found = side.catalog.read((), lambda db: db.execute("SELECT count(*) FROM memory_chunks_fts").fetchone())
    assert found == (1,)
    assert len(curated.memories([curated.root("global")])) == 1


def test_a_small_part_of_a_side_is_made_anew_by_itself(den: Den, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reindex of one small folder reads that one only, and the others stay in the catalogue."""
    curated = den.open()
    for number in range(9):
        write(den, curated, "user", f"Drink {number}", f"likes drink number {number}")
    write(den, curated, "user", "Tone", "short and dry", scope="agent", agent="reviewer", tier="global")
    read: list[str] = []
    real = catalogs.read_file

    def read_file(store: Any, root: Any, name: str) -> Any:
        read.append(name)
        return real(store, root, name)

    monkeypatch.setattr(catalogs, "read_file", read_file)
    roots = [curated.root("agent", "reviewer", "global")]
    catalog: Catalog = curated.sides["global"].catalog
    assert catalog.rebuild(roots, curated.all_roots()) == {"agent:global:reviewer": 1}
    assert read == ["user_tone.md"]
    assert len(ask(den, curated, "which drink number likes").entries) == 5
