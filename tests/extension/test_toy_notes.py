"""A memory system of another package: what goes over all systems covers it, and its failures stay its own."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.patience import PATIENCE

NOW = "2024-01-15T12:00:00Z"
HOUSE = Path(__file__).parents[2]
Run = Callable[..., subprocess.CompletedProcess[str]]

FACT = '{"id":"m-1","text":"Milk is kept cold","tags":[],"scope":"workspace","ts":"2024-01-01T00:00:00Z"}\n'


class Place:
    """A workspace with facts and notes, and memdeck as a process that has another package on its path."""

    def __init__(self, top: Path, site: Path) -> None:
        """Make the workspace."""
        self.root, self.site = top / "shop", site
        (self.root / ".notes").mkdir(parents=True)
        (self.root / ".aegis" / "memory").mkdir(parents=True)
        (self.root / ".aegis" / "memory" / "memories.jsonl").write_text(FACT)
        home = top / "home"
        home.mkdir()
        self.environ = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "MEMDECK_"))},
            "HOME": str(home),
            "PYTHONPATH": os.pathsep.join([str(site), str(HOUSE)]),
        }

    def run(self, *words: str, code: int = 0) -> str:
        """Run memdeck in the workspace and return stdout; it must end with `code`."""
        return self._start("app.main", *words, "--now", NOW, code=code)

    def _start(self, *words: str, code: int = 0) -> str:
        done = subprocess.run(
            [sys.executable, "-m", *words],
            cwd=self.root,
            env=self.environ,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    def picture(self, pane: str) -> str:
        """Return what a pane of the application shows."""
        return self._start("tests.extension.picture", pane, NOW)

    def data(self, *words: str, code: int = 0) -> Any:
        """Run memdeck and return its JSON."""
        return json.loads(self.run(*words, "-o", "json", code=code))

    def note(self, name: str) -> Path:
        """Return the file of a note."""
        return self.root / ".notes" / f"{name}.txt"


@pytest.fixture
def place(tmp_path: Path, toy: Path) -> Place:
    """Make a workspace of a process in which the toy package is installed."""
    return Place(tmp_path, toy)


def break_hook(place: Place, tmp_path: Path, old: str, new: str, *files: str) -> None:
    """Give the process a copy of the installed package in which some source is another one."""
    site = tmp_path / "broken"
    shutil.copytree(place.site, site)
    for file in files or ("system.py",):
        source = site / "toy_notes" / file
        text = source.read_text()
        assert re.search(old, text), f"{old!r} is in {file}"
        source.write_text(re.sub(old, new, text, count=1))
    place.environ["PYTHONPATH"] = os.pathsep.join([str(site), str(HOUSE)])


def test_every_verb_covers_it(place: Place) -> None:
    """Verbs of its own, search, check, status, maintain, changes, undo and redo work as with memdeck's own systems."""
    assert "Other systems:" in place.run("--help")
    place.run("notes", "add", "shopping", "Milk and bread")
    assert place.data("notes", "list") == {"notes": [{"ref": "notes#shopping", "title": "Milk and bread"}]}

    kinds = {one["ref"] for one in place.data("search", "milk")["results"]}
    assert kinds == {"notes#shopping", "facts#m-1"}
    assert [one["ref"] for one in place.data("search", "milk", "--in", "notes")["results"]] == ["notes#shopping"]
    assert place.data("status")["systems"]["notes"] == {"counts": {"notes": 1}}

    place.note("untitled").write_text("\nno title\n")
    (problem,) = place.data("check", code=4)["problems"]
    assert (problem["file"], problem["line"], problem["code"]) == (".notes/untitled.txt", 1, "notes.untitled")
    assert place.data("check", ".notes/shopping.txt")["problems"] == []
    place.note("untitled").write_text("  \n")

    report = place.data("--maintain")
    rule = next(rule for rule in report["rules"] if rule["rule"] == "clear-empty-notes")
    assert (rule["before"], rule["kept"], rule["cleared"]) == (2, 1, 1)
    assert not place.note("untitled").exists()

    operations = [one["operation"] for one in place.data("changes", "list")["changes"]]
    assert operations[0] == "notes.clear"
    assert "notes.add" in operations
    place.run("undo", "--actor", "maintain")
    assert place.note("untitled").read_text() == "  \n"
    place.run("undo")
    assert not place.note("shopping").exists()
    place.run("redo")
    assert place.note("shopping").read_text() == "Milk and bread\n"


def test_another_program_writes_a_note(place: Place) -> None:
    """The history notes a change from outside, and takes it back."""
    place.run("notes", "add", "shopping", "Milk")
    place.run("changes", "list")
    place.note("shopping").write_text("Wine\n")
    change = place.data("changes", "list")["changes"][0]
    assert (change["actor"], change["file"]) == ("outside", ".notes/shopping.txt")
    place.run("changes", "revert", change["id"])
    assert place.note("shopping").read_text() == "Milk\n"


@pytest.mark.thorough
def test_the_application_shows_it(place: Place) -> None:
    """Its pane, the sidebar and Brief show the notes."""
    place.run("notes", "add", "shopping", "Milk and bread")
    pane = place.picture("notes")
    assert re.search(r"▌\s+\d\s+Notes\s+1", pane)
    assert "shopping         Milk and bread" in pane
    brief = place.picture("brief")
    assert "1 notes" in brief
    assert "1 of 500 facts" in brief


def test_a_folder_of_notes_alone_is_a_workspace(place: Place) -> None:
    """A workspace is found by the mark of the system, from a folder within."""
    shutil.rmtree(place.root / ".aegis")
    within = place.root / "a" / "b"
    within.mkdir(parents=True)
    place.run("notes", "add", "shopping", "Milk", "-w", str(within))
    assert place.note("shopping").exists()


FUTURE = "from __future__ import annotations\n"


@pytest.mark.thorough
def test_a_hook_that_raises(place: Place, tmp_path: Path) -> None:
    """What fails in it is said by check and doctor, while all verbs work for the other systems."""
    place.run("notes", "add", "shopping", "Milk and bread")
    break_hook(place, tmp_path, r"(    def check\(self.*?:\n)", r"\1        raise ZeroDivisionError('toy')\n")
    problems = place.data("check", code=4)["problems"]
    assert [(one["file"], one["code"]) for one in problems] == [(".notes", "system.failed")]
    assert problems[0]["message"] == "notes failed at check: ZeroDivisionError: toy"
    findings = place.data("doctor", code=4)["checks"]
    assert any(one["name"] == "notes" and one["message"] == problems[0]["message"] for one in findings)
    assert place.data("status")["systems"]["facts"]["counts"]["facts"] == 1
    assert any(rule["rule"] == "prune-facts" for rule in place.data("--maintain")["rules"])
    assert "Milk is kept cold" in place.picture("facts")


def test_a_package_that_does_not_load(place: Place, tmp_path: Path) -> None:
    """It is said by check and doctor, and nothing else fails."""
    break_hook(place, tmp_path, FUTURE, FUTURE + "raise SystemExit('toy')\n", "__init__.py")
    (problem,) = place.data("check")["problems"]
    assert (problem["level"], problem["file"], problem["code"]) == ("warning", "toy-notes:notes", "system.unusable")
    assert problem["message"] == "it does not load: SystemExit: toy"
    assert any(problem["message"] in one["message"] for one in place.data("doctor")["checks"])
    assert place.data("search", "milk")["results"][0]["ref"] == "facts#m-1"


def test_a_repository_brings_no_code(place: Place, toy: Path) -> None:
    """A package in the current folder is not looked at, although `python -m` puts that folder on the import path."""
    place.environ["PYTHONPATH"] = str(HOUSE)
    shutil.copytree(toy, place.root, dirs_exist_ok=True)
    assert "Other systems:" not in place.run("--help")


def test_nothing_is_loaded_for_nothing(place: Place) -> None:
    """Without a package that offers a system, a verb imports neither the library of entry points nor any package."""
    place.environ["PYTHONPATH"] = str(HOUSE)
    script = (
        "import sys; from app.main import run; code = run(['search', 'milk']);"
        "print(code, sorted({'importlib.metadata', 'toy_notes'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=place.root,
        env=place.environ,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.stdout.splitlines()[-1] == "0 []", done.stderr
