"""The extractor: turns of sessions become candidates, candidates wait in the inbox, the controller decides on them."""

from __future__ import annotations
