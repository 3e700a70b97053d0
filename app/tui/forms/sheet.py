"""Sheet: one form while it is filled in, and what the person started from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from widgets.pane.base import Pane
    from widgets.pane.offers import FormPlan, Values


@dataclass(slots=True, eq=False)
class Sheet:
    """One form: the pane and the entry it is about (no item: a new one), and the values that the person started from.

    `plan` follows the files; `base` stays what it was when the person began.
    """

    pane: Pane
    plan: FormPlan
    item: Any = None
    base: Values = field(default_factory=dict)
    ref: str | None = None
    title: str = ""
    draft_id: str = ""
    section: str | None = None
    tries: int = 0

    def given(self, name: str) -> str:
        """What the person started from."""
        if name in self.base:
            return self.base[name]
        return next((spec.value for spec in self.plan.fields if spec.name == name), "")

    def changes(self, values: Mapping[str, str]) -> Values:
        """The values that the person changed."""
        return {name: value for name, value in values.items() if value != self.given(name)}
