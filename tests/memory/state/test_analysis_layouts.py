"""The bundle of a repository, for many layouts: compared whole with what a person read and found right."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.state.analysis import analyse
from memory.state.projections.entry_block import put_block, render_block
from memory.state.projections.files import path_of, render_projections

from .layouts import DOCUMENTS, EMPTY, LAYOUTS, PYTHON, write

NOW = datetime(2026, 1, 1, tzinfo=UTC)
GOLDEN = Path(__file__).parents[2] / "fixtures" / "state"
ROOT = Path(__file__).parents[3]

SHAPE = {
    "project": {
        "name": "", "summary": "", "primaryEcosystem": "", "packageManager": "", "workspaceManager": "",
        "recommendedEntryFile": "", "keyPaths": [""],
    },
    "projectMap": {
        "modules": [{"name": "", "path": "", "responsibility": ""}],
        "entrypoints": [{"path": "", "role": ""}],
        "denseSourceAreas": [{"path": "", "note": ""}],
        "architectureNotes": [""],
        "firstFilesToRead": [""],
    },
    "currentFocus": {
        "summary": "", "currentState": [""], "knownRisks": [""],
        "validationSnapshot": {
            "status": "", "validatedAt": None, "summary": "",
            "results": [{"label": "", "command": "", "status": "", "summary": ""}],
        },
        "suggestedNextActions": [""],
    },
    "gotchas": [{"title": "", "symptom": "", "cause": "", "correctPath": ""}],
    "nextSteps": [{"title": "", "why": "", "start": "", "done": ""}],
    "validationCommands": [{"label": "", "command": [""], "purpose": ""}],
}  # fmt: skip


def check_shape(value: object, shape: object, where: str = "bundle") -> None:
    """Fail where a value has not the keys and types of a shape, or holds a blank text."""
    if isinstance(shape, dict):
        assert isinstance(value, dict), where
        assert set(value) == set(shape), where
        for key, inner in shape.items():
            check_shape(value[key], inner, f"{where}.{key}")
    elif isinstance(shape, list):
        assert isinstance(value, list), where
        for one in value:
            check_shape(one, shape[0], f"{where}[]")
    elif shape is None:
        assert value is None or isinstance(value, str), where
    else:
        assert isinstance(value, str), where
        assert value.strip(), where
        assert value == value.strip(), where
        assert "\n" not in value, where


def check_paths(bundle: dict, root: Path) -> None:
    """Fail where a path of a bundle is not in the repository."""
    parts = bundle["projectMap"]
    paths = [*bundle["project"]["keyPaths"], *parts["firstFilesToRead"]]
    paths += [one["path"] for key in ("modules", "entrypoints", "denseSourceAreas") for one in parts[key]]
    assert [path for path in paths if not (root / path).exists()] == []


@pytest.mark.parametrize("name", LAYOUTS)
def test_bundle_of_layout(name: str, tmp_path: Path) -> None:
    """Each layout gives the bundle that stands in its file."""
    root = write(LAYOUTS[name], tmp_path)
    bundle = analyse(root, now=NOW)
    assert bundle == json.loads((GOLDEN / f"{name}.json").read_text())


@pytest.mark.parametrize("name", LAYOUTS)
def test_shape_and_paths(name: str, tmp_path: Path) -> None:
    """Each bundle has the shape of a state file, no blank text, at most two commands, and names what exists."""
    root = write(LAYOUTS[name], tmp_path)
    bundle = analyse(root, now=NOW)
    check_shape(bundle, SHAPE)
    check_paths(bundle, root)
    assert len(bundle["validationCommands"]) <= 2


@pytest.mark.parametrize("name", LAYOUTS)
def test_written_memory_changes_nothing(name: str, tmp_path: Path) -> None:
    """What init writes into a repository, projections and entry block, is not what the next analysis is about."""
    root = write(LAYOUTS[name], tmp_path)
    bundle = analyse(root, now=NOW)
    for projection, text in render_projections(bundle, "0" * 64).items():
        path = root / path_of(projection)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    entry = root / bundle["project"]["recommendedEntryFile"]
    entry.write_bytes(put_block(entry.read_bytes() if entry.exists() else b"", render_block("0" * 64)))
    (root / ".agent-memory").mkdir()
    (root / ".agent-memory" / "state.json").write_text("{}")
    assert analyse(root, now=NOW) == bundle


def test_same_files_same_bundle(tmp_path: Path) -> None:
    """The order in which files were made and their times do not matter."""
    first = write(PYTHON, tmp_path)
    (tmp_path / "other").mkdir()
    second = write(dict(reversed(PYTHON.items())), tmp_path / "other")
    assert analyse(first, now=NOW) == analyse(second, now=datetime(2030, 1, 1, tzinfo=UTC))


def test_own_repository() -> None:
    """The bundle of memdeck says what it is, what its rooms are for, and how it is tested."""
    bundle = analyse(ROOT, now=NOW)
    check_shape(bundle, SHAPE)
    check_paths(bundle, ROOT)
    assert bundle["project"]["name"] == "memdeck"
    assert bundle["project"]["summary"].startswith("A terminal workspace for the memory of AI agents.")
    modules = {module["path"]: module["responsibility"] for module in bundle["projectMap"]["modules"]}
    assert {"app", "widgets", "memory", "tests", "docs"} <= set(modules)
    assert modules["memory"] == "The headless core."
    assert [one["command"] for one in bundle["validationCommands"]] == [["make", "test"], ["make", "check"]]
    assert bundle["projectMap"]["entrypoints"][0] == {"path": "app/main.py", "role": "The command `memdeck`."}


def test_nothing_runs_and_nothing_is_written(tmp_path: Path) -> None:
    """An analysis starts no program, opens no connection and opens files for reading only, git's own included."""
    root = write({**PYTHON, "setup.py": "raise SystemExit(1)\n", "conftest.py": "raise SystemExit(1)\n"}, tmp_path)
    (root / ".git" / "config").write_text(
        "[core]\n\tfsmonitor = touch ran\n\tpager = touch ran\n[alias]\n\tstatus = !touch ran\n"
    )
    code = (
        "import sys, os\n"
        "from datetime import datetime, UTC\n"
        "from memory.state.analysis import analyse\n"
        "BAD = ('subprocess.', 'os.system', 'os.exec', 'os.fork', 'os.posix_spawn', 'os.spawn', 'socket.', 'os.mkdir',"
        " 'os.rename', 'os.remove', 'os.rmdir', 'os.link', 'os.symlink', 'os.truncate', 'exec', 'import')\n"
        "analyse(sys.argv[1], now=datetime.now(UTC))\n"
        "def hook(event, args):\n"
        "    if event.startswith(BAD) or (event == 'open' and isinstance(args[2], int) and args[2] & 3):\n"
        "        print('did', event, args); os._exit(3)\n"
        "sys.addaudithook(hook)\n"
        "print(analyse(sys.argv[1], now=datetime.now(UTC))['project']['name'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(root)], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert (done.returncode, done.stdout) == (0, "feedmill\n"), done.stderr
    assert not list(tmp_path.rglob("ran"))


@pytest.mark.parametrize("files", [EMPTY, DOCUMENTS])
def test_no_command_where_nothing_can_be_run(files: dict[str, str], tmp_path: Path) -> None:
    """Where nothing can be tested the snapshot says so instead of asking for a run."""
    bundle = analyse(write(files, tmp_path), now=NOW)
    assert bundle["validationCommands"] == []
    assert bundle["currentFocus"]["validationSnapshot"]["summary"] == "No command is known that validates the work."
