"""Contacts: channels, routes and people, and how they are reached."""

from __future__ import annotations
