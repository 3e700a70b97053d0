"""The shape of the application: no circle of files, a small `MemdeckApp`, and every action done by one function."""

from __future__ import annotations

import ast
from functools import cached_property
from pathlib import Path

from textual.app import App

from app.tui.app import MemdeckApp
from app.tui.commands import interface
from tests.app.tui.tui_helpers import make_app

ROOT = Path(__file__).parents[3]


def imported(path: Path) -> set[str]:
    """The modules that a file names anywhere, also for types only."""
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    package = name.rpartition(".")[0]
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*parts, base] if base else parts)
            found |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
    return found - {name}


def test_no_files_of_the_application_import_each_other_in_a_circle() -> None:
    """Whoever is left when files are taken away that import none of the others is part of a circle."""
    files = [path for path in (ROOT / "app/tui").rglob("*.py") if path.name != "__init__.py"]
    names = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in files}
    left = {name: imported(path) & names.keys() for name, path in names.items()}
    assert len(left) > 50
    while free := {name for name, others in left.items() if not others & left.keys()}:
        left = {name: others for name, others in left.items() if name not in free}
    assert not left


def test_the_application_has_few_attributes_of_its_own() -> None:
    """Parts and settings, those included that are made with their first use: at most 25."""
    app = make_app(None)
    own = set(vars(app)) - set(vars(App()))
    for kind in type(app).__mro__:
        if kind.__module__.startswith("app."):
            own |= {name for name, value in vars(kind).items() if isinstance(value, cached_property)}
    assert isinstance(app, MemdeckApp)
    assert "navigation" in own
    assert len(own) <= 25, sorted(own)


def test_every_kind_of_step_is_performed() -> None:
    """The performer names each step that a command can return."""
    own = [
        kind for kind in vars(interface).values() if isinstance(kind, type) and kind.__module__ == interface.__name__
    ]
    kinds = {kind.__name__ for kind in own if issubclass(kind, tuple)}
    source = (ROOT / "app/tui/commands/perform.py").read_text("utf-8")
    named = {
        node.cls.id
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.MatchClass) and isinstance(node.cls, ast.Name)
    }
    assert "ApplyEdit" in kinds
    assert kinds == named
