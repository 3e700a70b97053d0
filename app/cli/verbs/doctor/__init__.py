"""What `memdeck doctor` looks at."""

from __future__ import annotations
