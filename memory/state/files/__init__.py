"""The files of the project state: their shapes, read strictly and written in one transaction."""

from __future__ import annotations
