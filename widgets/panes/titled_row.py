"""What the rows of several panes share."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TitledRow:
    """A row with a ref that is unique in its pane, and a title."""

    ref: str
    title: str
