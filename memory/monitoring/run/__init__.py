"""One run over the monitors that are due: claims, results, consequences, and writing back."""

from __future__ import annotations
