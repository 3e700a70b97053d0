"""Where the person's own files go."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory.storage.own_folders import config_home, state_home


@pytest.mark.parametrize(
    ("environ", "state", "config"),
    [
        ({"HOME": "/home/ann"}, "/home/ann/.local/state", "/home/ann/.config"),
        ({"HOME": "/home/ann", "XDG_STATE_HOME": "/s", "XDG_CONFIG_HOME": "/c"}, "/s", "/c"),
        (
            {"HOME": "/home/ann", "XDG_STATE_HOME": "", "XDG_CONFIG_HOME": "c"},
            "/home/ann/.local/state",
            "/home/ann/.config",
        ),
    ],
)
def test_homes(environ: dict[str, str], state: str, config: str) -> None:
    """The variable counts where it is an absolute path, else the usual place in the home folder."""
    assert state_home(environ) == Path(state)
    assert config_home(environ) == Path(config)
