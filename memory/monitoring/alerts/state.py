"""When a failing check becomes an alert, when it ends, and what has to be told of it: a pure state machine.

An alert counts as told only after a message was sent: until then every run sends it again. Checks always continue;
mutes, maintenance windows and a parent that is down silence messages, not checks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal

from memory.base.clock import format_utc
from memory.monitoring.run.ledger import read_stamp

Kind = Literal["alert", "recovered", "reminder"]
Told = Literal["no", "held", "yes"]


@dataclass(frozen=True, slots=True)
class AlertSettings:
    """The alert settings of a monitor: failures in a row before an alert, successes in a row before it ends, and after
    how long a reminder follows (None: never).
    """

    failures_before: int = 1
    successes_before: int = 1
    remind: timedelta | None = None


@dataclass(frozen=True, slots=True)
class AlertState:
    """The alert state of a monitor, kept from one run to the next.

    `alerting` since `since`, `failures` and `successes` in a row, `told` whether a message of the alert was sent (held:
    it waits for the end of quiet hours) and `told_at` when, `checked` when it was measured last.
    """

    alerting: bool = False
    since: datetime | None = None
    failures: int = 0
    successes: int = 0
    told: Told = "no"
    told_at: datetime | None = None
    state: str = ""
    summary: str = ""
    checked: datetime | None = None

    @property
    def known(self) -> bool:
        """Whether it was ever measured."""
        return self.checked is not None

    def json(self) -> dict[str, Any]:
        """Return the state for storage."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return {name: format_utc(value) if isinstance(value, datetime) else value for name, value in values.items()}

    @classmethod
    def read(cls, values: Mapping[str, Any] | None) -> AlertState:
        """Parse a stored state; missing values get their default, and one that cannot be parsed is a fresh one."""
        found = dict(values or {})
        try:
            found |= {name: read_stamp(found[name]) for name in ("since", "told_at", "checked") if found.get(name)}
            return cls(**found)
        except (TypeError, ValueError):
            return cls()


@dataclass(frozen=True, slots=True)
class Happening:
    """An event to report: `first` if it is new (and goes into the journal), false if it is only repeated.

    `occurrences` are failures in a row, `lasted` is the duration of the alert.
    """

    kind: Kind
    first: bool
    occurrences: int
    lasted: timedelta


def advance(
    state: AlertState, outcome: str, now: datetime, settings: AlertSettings, *, summary: str = ""
) -> tuple[AlertState, Happening | None]:
    """Return the state after a check, and the event if there is one.

    `outcome` is the state of a result: `failing` and `error` are failures, because a monitor that cannot be checked
    cannot be called healthy. `blocked` and `skipped` measure nothing and change only the shown state.
    """
    if outcome not in ("healthy", "failing", "error"):
        return replace(state, state=outcome, summary=summary), None
    well = outcome == "healthy"
    new = replace(
        state,
        state=outcome,
        summary=summary,
        checked=now,
        failures=0 if well else state.failures + 1,
        successes=state.successes + 1 if well else 0,
        since=state.since or now,
    )
    turned = (
        new.successes >= settings.successes_before if new.alerting else new.failures >= settings.failures_before
    )  # fmt: skip
    if turned:
        new = replace(new, alerting=not new.alerting, since=now)
    lasted = now - (state.since or now)
    if new.alerting and (turned or new.told == "no"):
        return new, Happening("alert", turned, new.failures, timedelta(0) if turned else lasted)
    if new.alerting:
        since_told = None if new.told_at is None or new.told != "yes" else now - new.told_at
        if settings.remind is not None and since_told is not None and since_told >= settings.remind:
            return new, Happening("reminder", False, new.failures, lasted)
    elif turned or new.told != "no":
        return new, Happening("recovered", turned, state.failures, lasted if turned else timedelta(0))
    return new, None


def told(state: AlertState, kind: Kind, now: datetime) -> AlertState:
    """Return the state after a message was sent."""
    if kind == "recovered":
        return replace(state, told="no", told_at=None)
    return replace(state, told="yes", told_at=now)


def held(state: AlertState, kind: Kind, now: datetime) -> AlertState:
    """Return the state after a message was held for later: it waits once, and is not sent again meanwhile."""
    if kind == "alert":
        return replace(state, told="held")
    return told(state, kind, now) if kind == "recovered" else state
