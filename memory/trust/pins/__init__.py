"""What is held on to with a command: the files that it names or loads, by their bytes."""

from __future__ import annotations
