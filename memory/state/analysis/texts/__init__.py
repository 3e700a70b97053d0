"""What the texts of a repository say: documents, docstrings, comments."""

from __future__ import annotations
