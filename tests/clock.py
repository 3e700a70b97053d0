"""memdeck on a machine whose clock stands still, for agents, who may not set the time of a change themselves."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import datetime


def standing(moment: str) -> Callable[[], datetime]:
    """Return a clock that always says this aware moment in ISO form."""
    found = datetime.fromisoformat(moment)
    return lambda: found


def stand(moment: str) -> None:
    """Let the clock of this process stand."""
    from app.cli import session

    session.machine_time = standing(moment)


if __name__ == "__main__":
    from app.main import main

    stand(sys.argv.pop(1))
    sys.exit(main())
