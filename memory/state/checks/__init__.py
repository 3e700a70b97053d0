"""Checks for problems in the files of the project state, and their repair."""

from __future__ import annotations
