"""Consent: what memory files ask to run or to connect to, what a person approved of it, and what an approval covers."""

from __future__ import annotations
