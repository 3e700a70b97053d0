"""Manifests of the ecosystems: what each says about a repository."""

from __future__ import annotations
