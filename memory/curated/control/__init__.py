"""The controller: candidates, the content scan, the rules, decisions and how they are applied."""

from __future__ import annotations
