"""How other programs start this memdeck."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from memory.base.programs import find_program


def this_command(*, portable: bool = False) -> list[str]:
    """Return the command that runs this memdeck from any folder.

    With `portable` it is just `memdeck`, for files that others share, if the search path finds this one by that name.
    """
    here, beside = Path(sys.argv[0]), Path(sys.executable).with_name("memdeck")
    own = os.path.abspath(here) if here.name == "memdeck" and here.is_file() else None
    # Not a program in the current folder.
    found = find_program("memdeck", os.environ.get("PATH", ""))
    if portable and found is not None and (own is None or os.path.realpath(found) == os.path.realpath(own)):
        return ["memdeck"]
    if own is not None or found is not None or os.access(beside, os.X_OK):
        return [own or found or str(beside)]
    # Without -P a folder `app` of the workspace would be run.
    return [sys.executable, "-P", "-m", "app.main"]
