"""What the command line prints: data, words, columns and errors."""

from __future__ import annotations
