"""When a failing check becomes an alert, when it is over, and when nobody wants to hear of it: a pure state machine.

An alert counts as told only after a message was sent: until then every run says it again. Measuring always goes on;
mutes, maintenance windows and a parent that is down silence messages, not checks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal

from memory.monitoring.run.ledger import read_stamp, stamp

Kind = Literal["alert", "recovered", "reminder", "flapping"]
Told = Literal["no", "held", "yes"]
REMEMBERED = 12
"""So many outcomes of a monitor count for flapping."""
FLAPS = 4
"""With so many turns among them a monitor flaps; it has settled when there are less than two."""


@dataclass(frozen=True, slots=True)
class AlertSettings:
    """By what a monitor alerts: failures in a row before an alert, successes in a row before it is over, and after how
    long a reminder follows (None: never).
    """

    failures_before: int = 1
    successes_before: int = 1
    remind: timedelta | None = None


@dataclass(frozen=True, slots=True)
class AlertState:
    """How a monitor stands, from one run to the next.

    `alerting` since `since`, `failures` and `successes` in a row, `told` whether somebody was told of the alert (held:
    the message waits for the end of quiet hours), `outcomes` the newest ones as `h` and `f`, the newest last.
    """

    alerting: bool = False
    since: datetime | None = None
    failures: int = 0
    successes: int = 0
    told: Told = "no"
    told_at: datetime | None = None
    reminders: int = 0
    outcomes: str = ""
    flapping: bool = False
    flapping_told: bool = False
    state: str = ""
    summary: str = ""
    checked: datetime | None = None

    @property
    def triggered(self) -> bool:
        """Whether a message of the alert was sent."""
        return self.told == "yes"

    @property
    def known(self) -> bool:
        """Whether it was ever measured."""
        return bool(self.outcomes)

    def json(self) -> dict[str, Any]:
        """Return the state as it is kept; what stands at its default is left out."""
        fresh = AlertState()
        values = {name: getattr(self, name) for name in self.__slots__ if getattr(self, name) != getattr(fresh, name)}
        return {name: stamp(value) if isinstance(value, datetime) else value for name, value in values.items()}

    @classmethod
    def read(cls, values: Mapping[str, Any] | None) -> AlertState:
        """Read a state back; what is missing or of another kind is at its default."""
        fresh = cls()
        found: dict[str, Any] = {}
        for name, value in (values or {}).items():
            if name not in cls.__slots__:
                continue
            try:
                if name in ("since", "told_at", "checked"):
                    found[name] = read_stamp(value)
                elif type(value) is type(getattr(fresh, name)):
                    found[name] = value
            except (TypeError, ValueError):
                continue
        return replace(fresh, **found)


@dataclass(frozen=True, slots=True)
class Happening:
    """Something to tell: `first` where it is new (and goes into the journal), not where it is only told again.

    `occurrences` are failures in a row, `lasted` how long the alert has stood or stood, `silenced` why nobody is to be
    told now; empty where somebody is.
    """

    kind: Kind
    first: bool
    occurrences: int
    lasted: timedelta
    silenced: str = ""


def advance(
    state: AlertState, outcome: str, now: datetime, settings: AlertSettings, *, summary: str = "", silenced: str = ""
) -> tuple[AlertState, tuple[Happening, ...]]:
    """Return the state after a check, and what happened.

    `outcome` is the state of a result: `failing` and `error` are failures, for what cannot be looked at cannot be
    called well; `blocked` and `skipped` measure nothing and change nothing but what is shown.
    """
    if outcome not in ("healthy", "failing", "error"):
        return replace(state, state=outcome, summary=summary), ()
    well = outcome == "healthy"
    new = replace(
        state,
        state=outcome,
        summary=summary,
        checked=now,
        failures=0 if well else state.failures + 1,
        successes=state.successes + 1 if well else 0,
        outcomes=(state.outcomes + ("h" if well else "f"))[-REMEMBERED:],
        since=state.since or now,
    )
    turned = False
    if not new.alerting and new.failures >= max(1, settings.failures_before):
        new, turned = replace(new, alerting=True, since=now, reminders=0), True
    elif new.alerting and new.successes >= max(1, settings.successes_before):
        new, turned = replace(new, alerting=False, since=now), True
    happenings: list[Happening] = []
    new, began = _flap(new)
    if began:
        happenings.append(Happening("flapping", True, new.failures, timedelta(0), silenced))
    happening = _tell(state, new, turned, now, settings)
    if happening is not None:
        if new.flapping and not silenced:
            silenced = "flapping"
        happenings.append(replace(happening, silenced=silenced))
    if not new.alerting and new.told == "no":
        new = replace(new, told_at=None, reminders=0)
    return new, tuple(happenings)


def _flap(state: AlertState) -> tuple[AlertState, bool]:
    """Return the state with flapping begun or ended; True where it began."""
    turns = sum(a != b for a, b in zip(state.outcomes, state.outcomes[1:], strict=False))
    if not state.flapping and turns >= FLAPS:
        return replace(state, flapping=True, flapping_told=False), True
    if state.flapping and turns < 2:
        return replace(state, flapping=False, flapping_told=False), False
    return state, False


def _tell(
    before: AlertState, state: AlertState, turned: bool, now: datetime, settings: AlertSettings
) -> Happening | None:
    """Return what is to be told of the state after a check."""
    if state.alerting:
        lasted = now - (state.since or now)
        if turned or state.told == "no":
            return Happening("alert", turned, state.failures, lasted)
        if (
            state.told == "yes"
            and settings.remind is not None
            and state.told_at is not None
            and now - state.told_at >= settings.remind
        ):
            return Happening("reminder", False, state.failures, lasted)
        return None
    if turned or state.told != "no":
        lasted = now - (before.since or now) if turned else timedelta(0)
        return Happening("recovered", turned, before.failures, lasted)
    return None


def told(state: AlertState, kind: Kind, now: datetime) -> AlertState:
    """Return the state after a message was sent."""
    match kind:
        case "alert":
            return replace(state, told="yes", told_at=now)
        case "reminder":
            return replace(state, told_at=now, reminders=state.reminders + 1)
        case "recovered":
            return replace(state, told="no", told_at=None, reminders=0)
        case "flapping":
            return replace(state, flapping_told=True)


def held(state: AlertState, kind: Kind) -> AlertState:
    """Return the state after a message was put aside until later: it waits once, and is not said again meanwhile."""
    if kind == "alert":
        return replace(state, told="held")
    return replace(state, told="no", told_at=None, reminders=0) if kind == "recovered" else state
