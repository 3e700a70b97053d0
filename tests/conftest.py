"""What every test stands on: no setting of the machine may change what the application draws, no disk slow it down."""

from __future__ import annotations

import gc
import itertools
import os
import re
import shutil
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any
from weakref import WeakSet

import pytest
from hypothesis import HealthCheck, settings

from app.cli.marks import MARKS
from memory.search.searcher import Searcher
from memory.storage.database import Database
from memory.workspace import Workspace
from tests.examples import WHOLE, examples
from tests.temporary import PREFIX, place, session_folder

# A busy machine takes long for each example, and that is no fault of what is tested.
settings.register_profile(
    "memdeck", deadline=None, max_examples=examples(100), suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("memdeck")

if WHOLE:
    # With five times the examples a property may take five times as long.
    os.environ.setdefault("PYTEST_TIMEOUT", "1500")

# Textual reads the first two when it is imported; the others say that an agent runs what a test runs.
for _name in ("NO_COLOR", "TEXTUAL_THEME", "MEMDECK_DEBUG", "MEMDECK_ACTOR", *MARKS):
    os.environ.pop(_name, None)


OPEN_AT_MOST = 64
"""A property opens a workspace for each of its examples: the oldest are closed where there are more."""


def pytest_configure(config: pytest.Config) -> None:
    """Give the session its temporary folder; processes that share its work were given theirs inside it.

    Pictures of what is left out are not looked at, which is no failure.
    """
    if not WHOLE:
        config.option.warn_unused_snapshots = True
    if config.option.basetemp is None:
        config.option.basetemp = str(session_folder(place()))
    # A workspace that is opened without a state home must not use that of whoever runs the tests.
    os.environ["XDG_STATE_HOME"] = os.path.join(config.option.basetemp, "state-home")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Remove the temporary folder of a session that passed; what a failed one wrote stays until the next begins."""
    folder = session.config.option.basetemp
    if not exitstatus and os.path.basename(folder) == f"{PREFIX}{os.getpid()}":
        shutil.rmtree(folder, ignore_errors=True)


GARBAGE = (20_000, 10, 10)
"""How many new objects Python lets come before it searches the youngest for cycles, and how often it goes on to others.

An application makes a hundred thousand that stay until it ends: with the thresholds of Python (700) every sixth second
of its tests goes into looking at them again.
"""


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    """Search for garbage neither while the tests are collected, for all of them stay, nor among them later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(*GARBAGE)
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is `thorough` where nobody asked for the whole, for new pictures, or for a test by its name."""
    if WHOLE or config.option.update_snapshots or any("::" in argument for argument in config.args):
        return
    numbers: Counter[str] = Counter()
    left = []
    for item in items:
        function = item.nodeid.partition("[")[0]
        if _is_thorough(item, numbers[function]):
            left.append(item)
        numbers[function] += 1
    if left:
        config.hook.pytest_deselected(items=left)
        gone = set(left)
        items[:] = [item for item in items if item not in gone]


def _is_thorough(item: pytest.Item, number: int) -> bool:
    """Whether a test is left out: it is `thorough`, not one of the cases in `but`, and not the first of `one_of`."""
    mark = item.get_closest_marker("thorough")
    if mark is None:
        return False
    named = getattr(getattr(item, "callspec", None), "id", "") in mark.kwargs.get("but", ())
    return not named and ("one_of" not in mark.kwargs or number % mark.kwargs["one_of"] > 0)


LONG = 100
"""Characters of a case from which its test is named by the first of them only."""


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name a case of a long text by its beginning: the processes that share the work tell each other all names."""
    return ascii(val[:LONG])[:LONG] if isinstance(val, (str, bytes)) and len(val) > LONG else None


_NUMBERS = itertools.count()


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return an empty folder that goes with a test that passed.

    pytest would compare the names of all folders before it numbers one, thousands of times with thousands of them.
    """
    name = re.sub(r"\W", "_", request.node.name)[:26]
    folder = tmp_path_factory.mktemp(f"{name}{next(_NUMBERS)}", numbered=False)
    failed = request.session.testsfailed
    yield folder
    if request.session.testsfailed == failed:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(autouse=True)
def databases_that_close() -> Iterator[None]:
    """Close the databases that a test opened when it ends, as the end of a process does.

    No test asks for it; a fixture of the same name in a module would take its place.
    """
    made: deque[Database | Searcher] = deque()

    def noted(begin: Callable[..., None]) -> Callable[..., None]:
        def start(self: Database | Searcher, *arguments: object, **options: object) -> None:
            begin(self, *arguments, **options)
            made.append(self)
            # What lives in memory would be gone.
            if len(made) > OPEN_AT_MOST and getattr(made[0], "folder", None) is not None:
                made.popleft().close()

        return start

    # One of its own, for a test may undo what it patched.
    patch = pytest.MonkeyPatch()
    for kind in (Database, Searcher):
        patch.setattr(kind, "__init__", noted(kind.__init__))
    workspaces: WeakSet[Workspace] = WeakSet()
    begin_workspace = Workspace.__init__

    def start_workspace(self: Workspace, *arguments: Any, **options: Any) -> None:
        begin_workspace(self, *arguments, **options)
        workspaces.add(self)

    patch.setattr(Workspace, "__init__", start_workspace)
    yield
    patch.undo()
    # What their systems opened goes with them.
    for workspace in list(workspaces):
        workspace.close()
    while made:
        made.pop().close()
