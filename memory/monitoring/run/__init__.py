"""One run over the monitors that are due: claims, results, consequences, what is written."""

from __future__ import annotations
