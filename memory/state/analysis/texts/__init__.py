"""Reads the texts of a repository: documents, docstrings, comments."""

from __future__ import annotations
