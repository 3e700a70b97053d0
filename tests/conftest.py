"""What every test stands on: no setting of the machine may change what the application draws, no disk slow it down."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

from tests.examples import examples

# A busy machine takes long for each example, and that is no fault of what is tested.
settings.register_profile(
    "memdeck", deadline=None, max_examples=examples(100), suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("memdeck")

# Textual reads both when it is imported.
for _name in ("NO_COLOR", "TEXTUAL_THEME", "MEMDECK_DEBUG"):
    os.environ.pop(_name, None)


def _has_room(folder: str) -> bool:
    """Whether a folder can hold what the tests write: some hundred MB at a time."""
    if not os.access(folder, os.W_OK | os.X_OK):
        return False
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize > 2 << 30


# Workspaces lie in memory where the machine has a place for that: each change of one is forced to the disk several
# times, which takes as long as other programs keep the disk busy.
if "PYTEST_DEBUG_TEMPROOT" not in os.environ and _has_room("/dev/shm"):
    os.environ["PYTEST_DEBUG_TEMPROOT"] = "/dev/shm"
