"""Sessions: their events while they run, and the ledger that is made of them at the end."""

from __future__ import annotations
