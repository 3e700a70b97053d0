"""Providers: programs of other packages that are told of memory and add to what agents read."""

from __future__ import annotations

from .interface import NotHandled, Provider

__all__ = ["NotHandled", "Provider"]
