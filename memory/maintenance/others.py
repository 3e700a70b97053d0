"""What the rules of other systems than the memory files did, as a report tells it."""

from __future__ import annotations

from memory.named_tuple import NamedTuple


class Gone(NamedTuple):
    """Something of another system that its rule let go; `to` says where it is found again, `date` when it changed."""

    ref: str | None
    title: str
    to: str
    date: str = ""

    def json(self) -> dict[str, str | None]:
        """Return the keys `ref`, `title`, `to`."""
        return {"ref": self.ref, "title": self.title, "to": self.to}


class Stays(NamedTuple):
    """Something of another system that its rule looked at and left where it is, with the reason in words."""

    ref: str | None
    title: str
    reason: str

    def json(self) -> dict[str, str | None]:
        """Return the keys `ref`, `title`, `reason`."""
        return {"ref": self.ref, "title": self.title, "reason": self.reason}
