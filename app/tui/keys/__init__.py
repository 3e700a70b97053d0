"""Keys: the registry of actions, the keymap, palette, help, and keys typed ahead."""

from __future__ import annotations
