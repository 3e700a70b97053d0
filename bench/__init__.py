"""Benchmarks: what is measured, against what, with one command (`python -m bench`)."""

from __future__ import annotations
