"""Alerts: when one begins and ends, and where its messages are sent."""

from __future__ import annotations
