"""Alerts: when one begins and ends, and where its messages go."""

from __future__ import annotations
