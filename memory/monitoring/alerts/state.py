"""When a failing check becomes an alert, when it ends, and when messages are silenced: a pure state machine.

An alert counts as reported only after a message was sent: until then every run sends it again. Checks always continue;
mutes, maintenance windows and a parent that is down silence messages, not checks.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal

from memory.base.clock import format_utc
from memory.monitoring.run.ledger import read_stamp

Kind = Literal["alert", "recovered", "reminder", "flapping"]
Told = Literal["no", "held", "yes"]
REMEMBERED = 12
"""How many of a monitor's last outcomes count for flapping."""
FLAPS = 4
"""With this many changes among them a monitor flaps; it has settled when there are fewer than two."""


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
    the message waits for the end of quiet hours), `outcomes` the newest ones as `h` and `f`, the newest last.
    """

    alerting: bool = False
    since: datetime | None = None
    failures: int = 0
    successes: int = 0
    told: Told = "no"
    told_at: datetime | None = None
    outcomes: str = ""
    flapping: bool = False
    state: str = ""
    summary: str = ""
    checked: datetime | None = None

    @property
    def known(self) -> bool:
        """Whether it was ever measured."""
        return bool(self.outcomes)

    def json(self) -> dict[str, Any]:
        """Return the state for storage; values at their default are left out."""
        fresh = AlertState()
        values = {name: getattr(self, name) for name in self.__slots__ if getattr(self, name) != getattr(fresh, name)}
        return {name: format_utc(value) if isinstance(value, datetime) else value for name, value in values.items()}

    @classmethod
    def read(cls, values: Mapping[str, Any] | None) -> AlertState:
        """Parse a stored state; values that are missing or of another type get their default."""
        fresh = cls()
        found: dict[str, Any] = {}
        for name, value in (values or {}).items():
            if name in ("since", "told_at", "checked"):
                with suppress(TypeError, ValueError):
                    found[name] = read_stamp(value)
            elif name in cls.__slots__ and type(value) is type(getattr(fresh, name)):
                found[name] = value
        return replace(fresh, **found)


@dataclass(frozen=True, slots=True)
class Happening:
    """An event to report: `first` if it is new (and goes into the journal), false if it is only repeated.

    `occurrences` are failures in a row, `lasted` the duration of the alert, `silenced` why no message is sent now;
    empty if one is.
    """

    kind: Kind
    first: bool
    occurrences: int
    lasted: timedelta
    silenced: str = ""


def advance(
    state: AlertState, outcome: str, now: datetime, settings: AlertSettings, *, summary: str = ""
) -> tuple[AlertState, tuple[Happening, ...]]:
    """Return the state after a check, and the events.

    `outcome` is the state of a result: `failing` and `error` are failures, because a monitor that cannot be checked
    cannot be called healthy. `blocked` and `skipped` measure nothing and change only the shown state.
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
        new, turned = replace(new, alerting=True, since=now), True
    elif new.alerting and new.successes >= max(1, settings.successes_before):
        new, turned = replace(new, alerting=False, since=now), True
    happenings: list[Happening] = []
    flapping = _flaps(new)
    if flapping and not new.flapping:
        happenings.append(Happening("flapping", True, new.failures, timedelta(0)))
    new = replace(new, flapping=flapping)
    happening = _tell(state, new, turned, now, settings)
    if happening is not None:
        happenings.append(replace(happening, silenced="flapping" if new.flapping else ""))
    if not new.alerting and new.told == "no":
        new = replace(new, told_at=None)
    return new, tuple(happenings)


def _flaps(state: AlertState) -> bool:
    """Return whether a monitor flaps now: it begins and ends with different numbers of changes."""
    turns = sum(a != b for a, b in zip(state.outcomes, state.outcomes[1:], strict=False))
    return turns >= (2 if state.flapping else FLAPS)


def _tell(
    before: AlertState, state: AlertState, turned: bool, now: datetime, settings: AlertSettings
) -> Happening | None:
    """Return the event to report after a check."""
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
        case "flapping":
            return state
        case "recovered":
            return replace(state, told="no", told_at=None)
        case _:
            return replace(state, told="yes", told_at=now)


def held(state: AlertState, kind: Kind, now: datetime) -> AlertState:
    """Return the state after a message was held for later: it waits once, and is not sent again meanwhile."""
    if kind == "alert":
        return replace(state, told="held")
    return told(state, kind, now) if kind == "recovered" else state
