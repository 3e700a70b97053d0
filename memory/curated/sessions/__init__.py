"""Sessions: their events while they run, and the ledger that is made of these at the end."""

from __future__ import annotations
