"""Dialogs: questions, choices, plans, consent, and two versions side by side."""

from __future__ import annotations
