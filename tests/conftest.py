"""What every test stands on: no setting of the machine may change what the application draws."""

from __future__ import annotations

import os

# Textual reads both when it is imported.
for _name in ("NO_COLOR", "TEXTUAL_THEME", "MEMDECK_DEBUG"):
    os.environ.pop(_name, None)
