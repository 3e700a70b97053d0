"""Running an approved command so that none of its processes remains."""

from __future__ import annotations


class NotUsed(Exception):
    """Why the output of a command is not used."""


class NotInTime(NotUsed):
    """A command did not end in time."""
