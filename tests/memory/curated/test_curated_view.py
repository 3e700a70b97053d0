"""What the controller looks up in a folder before it decides: alike memories, and names that are taken."""

from __future__ import annotations

import os

import pytest

from memory.curated.control.view import View
from memory.curated.curated import Curated
from memory.errors import NotFoundError
from tests.memory.curated.conftest import Den, rules, write


def view_of(curated: Curated) -> View:
    """Return the view of the workspace's folder."""
    side = curated.sides["workspace"]
    return View(side.store, side.catalog, side.records, curated.root("workspace"))


def put(den: Den, name: str, body: str, file: str) -> None:
    """Write a memory as another program does."""
    folder = den.workspace / ".agh/memory"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / file).write_text(f"---\nname: {name}\ndescription: d\ntype: project\n---\n\n{body}\n")


def test_a_name_that_is_taken_makes_alike_memories_ambiguous(den: Den) -> None:
    """A person's new name is an add, the name of a memory that may be meant is not."""
    curated = den.open()
    for name in ("Deploy window", "Deploy gate"):
        write(den, curated, "project", name, f"the {name} is on Tuesday mornings", scope="workspace")
    body = "on Tuesday mornings after the review"
    same = write(den, curated, "reference", "deploy  WINDOW", body, scope="workspace")
    new = write(den, curated, "reference", "Deploy review", body, scope="workspace")
    assert (same.decision.op, rules(same)) == ("noop", ["controller.ambiguous_targets"])
    assert rules(new) == ["controller.explicit_target_filename", "controller.fresh_slot"]


def test_a_file_of_another_program_is_not_overwritten(den: Den) -> None:
    """The file that a write is about is read itself, whatever the time of its folder says."""
    curated = den.open()
    folder = den.workspace / ".agh/memory"
    for number in range(2):
        write(den, curated, "project", f"Gate {number}", f"number {number} of the gates", scope="workspace")
    at = os.stat(folder)
    put(den, "Fresh", "written by another program", "project_fresh.md")
    os.utime(folder, ns=(at.st_atime_ns, at.st_mtime_ns))
    made = write(den, curated, "project", "Fresh", "written here", scope="workspace")
    assert rules(made) == ["controller.exact_slug_collision"]
    assert made.decision.prior is not None
    assert b"written by another program" in made.decision.prior


def test_a_file_is_there_whatever_its_name(den: Den) -> None:
    """The controller sees a file in its way also where its name is none that memdeck would write."""
    curated = den.open()
    write(den, curated, "user", "Coffee", "likes oat milk")
    name = f"user_{'x' * 130}.md"
    folder = den.person / "memory"
    (folder / name).write_bytes((folder / "user_coffee.md").read_bytes())
    side = curated.sides["global"]
    view = View(side.store, side.catalog, side.records, curated.root("global"))
    assert view.file(name) is not None
    with pytest.raises(NotFoundError):
        curated.find(name)
