"""Manifests of the ecosystems: what each says of a repository."""

from __future__ import annotations
