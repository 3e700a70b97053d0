"""The tutorial of a system of one's own works as it is written, from the first file to the last command."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from memory import extension
from tests.app.servers.mcp.serving import COMMAND, serving
from tests.extension.packages import install
from tests.extension.test_toy_notes import Place
from tests.patience import PATIENCE

HOUSE = Path(__file__).parents[1]
PAGE = (HOUSE / "docs" / "extending.md").read_text("utf-8")
FILES = dict(re.findall(r"^`([\w/]+\.(?:py|toml))`.*?\n\n```\w+\n(.*?)```", PAGE, re.DOTALL | re.MULTILINE))


@pytest.fixture(name="site", scope="module")
def _site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the package of the page; return the folder it is in."""
    top = tmp_path_factory.mktemp("page")
    for name, code in FILES.items():
        path = top / "toy-notes" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code)
    return install(top / "toy-notes", top)


def test_the_commands_of_the_page_run(site: Path, tmp_path: Path) -> None:
    """A note is added, found, taken back and brought back; the pane shows it."""
    place = Place(tmp_path, site)
    lines = PAGE.partition("```sh\n")[2].partition("```")[0].splitlines()
    typed = [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("memdeck ")]
    said = [place.run(*words) for words in typed if words]
    assert "shopping" in said[1]
    assert place.data("notes", "list") == {"notes": []}
    place.run("redo")
    assert place.data("notes", "list") == {"notes": [{"ref": "notes#shopping", "title": "Milk and bread"}]}
    assert re.search(r"▌\s+Milk and bread\s+shopping", place.picture("notes"))


def test_a_form_is_made_from_the_table(site: Path, tmp_path: Path) -> None:
    """The form of a new note asks for the arguments of its operation."""
    place = Place(tmp_path, site)
    code = (
        "from toy_notes.pane import NotesPane; from datetime import datetime\n"
        "print([(one.name, one.required) for one in NotesPane().adding(datetime.now()).fields])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=place.environ, capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert done.stdout.strip() == "[('name', True), ('text', True)]"


def test_programs_and_agents_reach_it_by_the_table(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its operations are HTTP routes, and agents add, read, remove and take back notes with the tools of all kinds."""
    place = Place(tmp_path, site)
    paths = json.loads(place.run("api", "--openapi"))["paths"]
    assert {path for path in paths if "/notes/" in path} == {
        f"/api/v1/notes/{one}" for one in ("list", "add", "remove")
    }
    monkeypatch.setenv("PYTHONPATH", place.environ["PYTHONPATH"])
    with serving(place.root, start=COMMAND) as server:
        server.hello()
        added = server.call("add", kind="notes", title="tea", text="Tea at five")
        assert (added["ref"], place.note("tea").read_text()) == ("notes#tea", "Tea at five\n")
        assert [one["title"] for one in server.call("read", kind="notes")["entries"]] == ["Tea at five"]
        assert server.call("add", kind="notes", title="tea")["error"]["code"] == "usage.missing"
        assert server.call("edit", ref="notes#tea", set={"text": "x"})["error"]["code"] == "entry.read_only"
        server.call("remove", ref="notes#tea")
        assert not place.note("tea").exists()
        server.call("edit", undo=True)
        assert place.note("tea").exists()


def test_the_names_for_other_packages_stay() -> None:
    """`memory.extension` has these names; more may come, and none may go."""
    assert {
        *("AmbiguousError", "BlockedError", "BriefLine", "BusyError", "ConfigError", "ConflictError", "Contribution"),
        *("Gone", "MemdeckError", "NotFoundError", "Outcome", "PlainReading", "Problem", "Record"),
        *("RefusedError", "Report", "RuleReport", "Snapshot", "System", "UsageError", "Workspace", "act"),
        *("names_in", "system_of"),
    } <= set(extension.__all__)
    assert all(hasattr(extension, name) for name in extension.__all__)


def test_the_package_needs_no_other_name_of_the_core() -> None:
    """What packages import of `memory` comes from there, the registry, or the table of operations."""
    toy = "\n".join(path.read_text("utf-8") for path in (HOUSE / "tests/extension/toy_notes").rglob("*.py"))
    for source in (toy, PAGE):
        modules = set(re.findall(r"^ *from (memory[\w.]*) import", source, re.MULTILINE))
        assert modules == {"memory.extension", "memory.operations", "memory.registry"}
