"""Monitors: what is checked and how, read and edited."""

from __future__ import annotations
