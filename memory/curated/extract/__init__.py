"""The extractor: turns of sessions become candidates in the inbox, and the controller decides on them."""

from __future__ import annotations
