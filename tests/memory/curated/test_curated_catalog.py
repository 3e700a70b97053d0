"""The catalogue at work: after writes of its own, beside other programs, and while it is made anew."""

from __future__ import annotations

import os
from threading import Thread

from tests.memory.curated.conftest import Den, write
from tests.patience import join


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


def test_threads_use_a_catalogue_one_after_the_other(den: Den) -> None:
    """A look of one thread while others look, and while it is closed, gives every memory."""
    curated = den.open()
    for number in range(3):
        write(den, curated, "project", f"Name {number}", f"about {number}")
    found: list[int] = []

    def look() -> None:
        for _ in range(30):
            found.append(len(curated.memories(curated.visible())))
            for side in curated.sides.values():
                side.catalog.close()

    threads = [Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        join(thread)
    assert set(found) == {3}
    assert len(found) == 120
