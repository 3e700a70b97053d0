"""Servers: what lets a browser, a program or an agent reach memdeck."""

from __future__ import annotations
