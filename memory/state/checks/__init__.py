"""What may be wrong in the files of the project state, and mending it."""

from __future__ import annotations
