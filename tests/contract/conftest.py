"""The fixtures of the contract suite: a place with a home of its own, in which memdeck is used as people and agents do.

The suite knows memdeck from outside: arguments, exit codes, what is printed, bytes on disk, HTTP and MCP. It imports
nothing of `app`, `widgets` and `memory` but the public names of the documentation, so it outlives every rebuilding.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contract.place import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return an empty folder `work` with a home, a state and a configuration folder of its own beside it."""
    return Place(tmp_path)


@pytest.fixture
def workspace(place: Place) -> Place:
    """Return a place whose folder is a workspace, as `memdeck init` makes it."""
    answer = place("init")
    assert answer.code == 0, answer.err
    return place
