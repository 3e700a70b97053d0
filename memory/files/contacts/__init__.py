"""Contacts: people, channels and rules of alerts, read and edited."""

from __future__ import annotations
