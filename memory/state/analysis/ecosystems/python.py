"""Python: pyproject.toml, setup.cfg, setup.py, requirements, and the tools that manage them."""

from __future__ import annotations

import re
from collections.abc import Callable

from memory.state.analysis.found import Command, Ecosystem, Entrypoint, Package
from memory.state.analysis.tree import Tree

from .values import folders_with, fullest, members, name_at, read_manifest, table_at, text_at, texts_at

_MANIFESTS = ("pyproject.toml", "setup.cfg", "setup.py", "requirements.txt", "Pipfile")
_LOCKS = (("uv.lock", "uv"), ("poetry.lock", "Poetry"), ("pdm.lock", "PDM"), ("Pipfile", "Pipenv"))
_TOOLS = (("uv", "uv"), ("poetry", "Poetry"), ("pdm", "PDM"))
_RUN = {"uv": ("uv", "run"), "Poetry": ("poetry", "run"), "PDM": ("pdm", "run"), "Pipenv": ("pipenv", "run")}
_RUN_IN: dict[str, Callable[[str], tuple[str, ...]]] = {
    "uv": lambda folder: ("uv", "run", "--directory", folder),
    "Poetry": lambda folder: ("poetry", "--directory", folder, "run"),
}
"""The options that make managers run something in another folder."""
_SETUP = r"^[ \t]*{key}[ \t]*=[ \t]*(?:[rub]?[\"']([^\"'\n]{{1,300}})[\"']|([^\"'\n(]{{1,300}}))"
_TARGET = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?::[\w.]+)?(?:\s*\[.*\])?\Z")


def look(tree: Tree) -> Ecosystem | None:
    """Return what the Python manifests at the root say, None where there are none."""
    manifests = [name for name in _MANIFESTS if tree.has(name)]
    manifests += [name for name in tree.top_files() if re.fullmatch(r"requirements[\w.-]*\.txt", name)]
    inner = folders_with(tree, "pyproject.toml")
    if not manifests and not inner:
        return None
    found = Ecosystem("Python", ("Python",), "pip", manifests=list(dict.fromkeys(manifests)))
    # A file that is not there is read as an empty one.
    data = read_manifest(tree, "pyproject.toml", found) or {}
    found.manager = _manager(tree, data)
    found.manifests = found.manifests or [f"{folder}/pyproject.toml" for folder in inner[:3]]
    name = name_at(data, "project", "name") or name_at(data, "tool", "poetry", "name") or _setup(tree, "name")
    description = (
        text_at(data, "project", "description")
        or text_at(data, "tool", "poetry", "description")
        or _setup(tree, "description")
    )
    if name:
        found.packages.append(Package("", name, description))
    _scripts(tree, data, found)
    for path in sorted(tree.named("__main__.py")):
        folder = path.rpartition("/")[0]
        if folder and path.count("/") <= 2 and not tree.is_sample(folder):
            module = folder.removeprefix("src/").replace("/", ".")
            found.entrypoints.append(Entrypoint(path, f"what `python -m {module}` runs"))
    found.enter(tree, "manage.py", "Django's command line")
    _workspace(tree, data, found)
    version = text_at(data, "project", "requires-python") or text_at(data, "tool", "poetry", "dependencies", "python")
    if version:
        found.notes.append(f"Runs on Python {version}.")
    _commands(tree, data, found)
    return found


def _manager(tree: Tree, data: dict[str, object]) -> str:
    tools = table_at(data, "tool")
    managers = [manager for lock, manager in _LOCKS if tree.has(lock)]
    managers += [manager for tool, manager in _TOOLS if tool in tools]
    return next(iter(managers), "Hatch" if table_at(tools, "hatch", "envs") else "pip")


def _setup(tree: Tree, key: str) -> str:
    """Return a plain value of setup.cfg or setup.py; neither is run."""
    for path in ("setup.cfg", "setup.py"):
        match = re.search(_SETUP.format(key=key), tree.text(path), re.MULTILINE)
        if match is not None:
            value = (match[1] or match[2] or "").strip()
            if value and (path == "setup.cfg" or match[1]):
                return " ".join(value.split())
    return ""


def module_path(tree: Tree, target: str, folder: str = "") -> str | None:
    """Return the file of a module such as `app.main:main`; it is searched beside the manifest and in `src`."""
    match = _TARGET.match(target)
    if match is None:
        return None
    path = match[1].replace(".", "/")
    top = f"{folder}/" if folder else ""
    for start in (top, f"{top}src/", f"{top}lib/"):
        for end in (".py", "/__init__.py"):
            if tree.has(f"{start}{path}{end}"):
                return f"{start}{path}{end}"
    return None


def _scripts(tree: Tree, data: object, found: Ecosystem, folder: str = "") -> None:
    scripts = {**table_at(data, "project", "scripts"), **table_at(data, "tool", "poetry", "scripts")}
    for name, target in sorted(scripts.items())[:20]:
        path = module_path(tree, target, folder) if isinstance(target, str) else None
        if path is not None and name.isprintable() and len(name) < 60:
            found.entrypoints.append(Entrypoint(path, f"the command `{name}`"))


def _workspace(tree: Tree, data: object, found: Ecosystem) -> None:
    """Add the members of a workspace: those of uv, or every folder with its own pyproject.toml."""
    patterns = texts_at(data, "tool", "uv", "workspace", "members")
    if patterns:
        found.workspace = "uv workspace"
        excluded = [f"!{pattern}" for pattern in texts_at(data, "tool", "uv", "workspace", "exclude")]
        folders = sorted(members(tree, [*patterns, *excluded], "pyproject.toml"))
    else:
        folders = folders_with(tree, "pyproject.toml")
    for folder in folders[:50]:
        inner = read_manifest(tree, f"{folder}/pyproject.toml", found)
        if inner is None:
            continue
        name = name_at(inner, "project", "name") or name_at(inner, "tool", "poetry", "name")
        description = text_at(inner, "project", "description") or text_at(inner, "tool", "poetry", "description")
        found.packages.append(Package(folder, name or folder.rpartition("/")[2], description))
        _scripts(tree, inner, found, folder)


def _commands(tree: Tree, data: object, found: Ecosystem) -> None:
    run = _RUN.get(found.manager, ())
    tools = table_at(data, "tool")
    texts = "\n".join(tree.text(name) for name in found.manifests)
    if all("/" in manifest for manifest in found.manifests):
        _inner_commands(tree, found)
        return
    has_tests = any(path.endswith(".py") and _is_pytest(path) for path in tree.files)
    has_pytest = "pytest" in tools or tree.has("pytest.ini") or (has_tests and "pytest" in texts)
    has_ruff = "ruff" in tools or tree.has("ruff.toml") or tree.has(".ruff.toml")
    has_flake8 = tree.has(".flake8") or any("[flake8]" in tree.text(path) for path in ("setup.cfg", "tox.ini"))
    django, unittest = (*run, "python3", "manage.py", "test"), (*run, "python3", "-m", "unittest", "discover")
    tests = (
        (has_pytest, Command("test", "pytest", (*(run or ("python3", "-m")), "pytest"), "Runs the tests.")),
        (tree.has("tox.ini"), Command("test", "tox", (*run, "tox"), "Runs the tests in their environments.")),
        (tree.has("manage.py"), Command("test", "Django tests", django, "Runs the tests of the Django project.")),
        (has_tests, Command("test", "unittest", unittest, "Runs the tests.")),
    )
    lints = (
        (has_ruff, Command("lint", "ruff", (*run, "ruff", "check", "."), "Checks the style of the code.")),
        (has_flake8, Command("lint", "flake8", (*run, "flake8"), "Checks the style of the code.")),
        ("mypy" in tools, Command("lint", "mypy", (*run, "mypy", "."), "Checks the types.")),
    )
    for choices in (tests, lints):
        found.commands += [command for used, command in choices if used][:1]


def _inner_commands(tree: Tree, found: Ecosystem) -> None:
    """Add the tests of the project below the root that has tests and, of those, most sources."""
    inner = folders_with(tree, "pyproject.toml")
    tested = [one for one in inner if any(_is_pytest(path) for path in tree.below(one) if path.endswith(".py"))]
    folder = fullest(tree, tested)
    if not folder:
        return
    manager = next((manager for lock, manager in _LOCKS if tree.has(f"{folder}/{lock}")), "")
    run = _RUN_IN[manager](folder) if manager in _RUN_IN else ("python3", "-m")
    where = () if manager in _RUN_IN else (folder,)
    purpose = f"Runs the tests of `{folder}`."
    if "pytest" in tree.text(f"{folder}/pyproject.toml") or tree.has(f"{folder}/pytest.ini"):
        found.commands.append(Command("test", "pytest", (*run, "pytest", *where), purpose))
    else:
        python = (*run, "python3", "-m") if manager in _RUN_IN else run
        start = ("-s", *where) if where else ()
        found.commands.append(Command("test", "unittest", (*python, "unittest", "discover", *start), purpose))


def _is_pytest(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name.startswith("test_") or name.endswith("_test.py")
