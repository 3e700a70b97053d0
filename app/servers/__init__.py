"""Servers: the ways for a browser, a program or an agent to reach memdeck."""

from __future__ import annotations
