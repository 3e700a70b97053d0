"""What only a person does: decide about what agents want, and set the rules for them."""

from __future__ import annotations

from memory.errors import RefusedError
from memory.storage.changes import may_need_review


def refuse_agents(actor: str, what: str) -> None:
    """Raise RefusedError `review.person_only` for anybody but a person; `what` is what they wanted to do."""
    if may_need_review(actor):
        raise RefusedError("review.person_only", f"only a person may {what}, not {actor[:80]}", "ask the person")
