"""Calendar widgets: a month as a grid, a year as a heat map."""

from __future__ import annotations
