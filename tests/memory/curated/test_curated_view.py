"""What the controller looks up in a folder before it decides: alike memories, and names that are taken."""

from __future__ import annotations

import os
import random

import pytest

from memory.curated.control.view import View
from memory.curated.curated import Curated
from memory.curated.index import catalog as catalogs
from memory.errors import NotFoundError
from tests.memory.curated.conftest import Den, rules, write

WORDS = [
    "deploy",
    "window",
    "staging",
    "gateway",
    "Tuesday",
    "数据库版本",
    "部署窗口",
    "café",
    "naïve",
    "v2版本",
    "the",
    "on",
]


def view_of(curated: Curated) -> View:
    """Return the view of the workspace's folder."""
    side = curated.sides["workspace"]
    return View(side.store, side.catalog, side.records, curated.root("workspace"))


def put(den: Den, name: str, body: str, file: str) -> None:
    """Write a memory as another program does."""
    folder = den.workspace / ".agh/memory"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / file).write_text(f"---\nname: {name}\ndescription: d\ntype: project\n---\n\n{body}\n")


def test_the_quick_look_for_alike_memories_says_what_the_full_one_says(den: Den) -> None:
    """Whether there are two or more is the same for texts of few and many words, of one script and of several."""
    chance = random.Random(3)
    for number in range(25):
        put(den, f"N{number}", " ".join(chance.sample(WORDS, chance.randint(1, 4))), f"project_n{number}.md")
    view = view_of(den.open())
    seen = set()
    for _ in range(150):
        mixed = [chance.choice([*WORDS, "apples", "pears", "quinces"]) for _ in range(chance.randint(1, 5))]
        text = " ".join([*mixed, *(f"filler{number}" for number in range(chance.choice([0, 0, 70])))])
        several = len(view.alike(text)) > 1
        assert view.has_several_alike(text) == several, text
        seen.add(several)
    assert seen == {True, False}


@pytest.mark.parametrize(
    ("name", "there"),
    [
        ("Deploy Window", True),
        ("  deploy   WINDOW ", True),
        ("Deploy", False),
        ("Window Deploy", False),
        ("the deploy window", False),
        ("部署窗口", True),
        ("部署", False),
        ('Say "no"', True),
        ("say no", False),
        ("STRASSE", True),
        ("!?", True),
        ("…", True),
    ],
)
def test_a_name_is_taken_whatever_its_case_and_spaces(den: Den, name: str, there: bool) -> None:
    """Only the whole name counts; one without letters cannot be looked up and counts as taken."""
    for number, one in enumerate(("Deploy window", "部署窗口", "'Say \"no\"'", "Straße", "The deploy window of May")):
        put(den, one, f"body{number}", f"project_n{number}.md")
    assert view_of(den.open()).has_name(name) is there


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


def test_a_write_reads_two_of_the_many_texts_that_share_its_words(den: Den) -> None:
    """However many memories may be meant, a person's new one is compared with as many as tell that they are several."""
    for number in range(300):
        put(den, f"N{number}", f"apples pears quinces word{number}", f"project_n{number}.md")
    curated = den.open()
    write(den, curated, "project", "First", "the first one", scope="workspace")
    said: list[str] = []
    curated.sides["workspace"].catalog._open().set_trace_callback(said.append)
    made = write(den, curated, "project", "Second", "apples pears quinces too", scope="workspace")
    assert rules(made) == ["controller.explicit_target_filename", "controller.fresh_slot"]
    assert len([one for one in said if one.startswith("SELECT body")]) == 2
    assert not [one for one in said if "bm25" in one]


def test_writes_list_no_folder(den: Den, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once the folder is known, writes of one process do not list it; a reader sees what another program did."""
    monkeypatch.setattr(catalogs, "_TRUSTED", 600.0)
    curated = den.open()
    folder = den.workspace / ".agh/memory"
    for number in range(3):
        write(den, curated, "project", f"Gate {number}", f"number {number} of the gates", scope="workspace")

    def refused(*_: object) -> None:
        raise AssertionError("the folder is listed")

    with monkeypatch.context() as patch:
        patch.setattr(catalogs, "has_names", refused)
        patch.setattr(catalogs, "seen_in", refused)
        at = os.stat(folder)
        put(den, "Foreign", "written by another program", "project_foreign.md")
        os.utime(folder, ns=(at.st_atime_ns, at.st_mtime_ns))
        write(den, curated, "project", "Gate 4", "number 4 of the gates", scope="workspace")
    assert "project_foreign.md" in {one.filename for one in curated.memories([curated.root("workspace")])}
    write(den, curated, "project", "Gate 5", "number 5 of the gates", scope="workspace")
    lines = (folder / "MEMORY.md").read_text().splitlines()
    assert sorted(line.partition("]")[0] for line in lines) == [
        "- [Foreign", "- [Gate 0", "- [Gate 1", "- [Gate 2", "- [Gate 4", "- [Gate 5"
    ]  # fmt: skip


def test_a_file_of_another_program_is_not_overwritten_unlisted(den: Den) -> None:
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
