"""What an ask is compared with: the decision about it before, and what is not as it was then."""

from __future__ import annotations

from memory.trust.pins.held_files import Pinned, Script

from .asks import Ask
from .decision import ConsentDecision, State
from .records import VERSION, ConsentPlace, ConsentRecord, identity_of

_PARTS = ("kind", "text", "threshold", "interval", "timeout", "environment_text", "fires", "settings")
_WORDS = {
    "kind": "type",
    "text": "command",
    "environment_text": "environment",
    "fires": "check that fires it",
    "settings": "fields",
}


def undecided(state: State, found: str, why: str, pinned: Pinned) -> ConsentDecision:
    """Return the decision about something that may not run."""
    return ConsentDecision(False, state, found, None, why, scripts=pinned.scripts, unknown=pinned.unknown)


def denied_before(record: ConsentRecord, ask: Ask, scripts: tuple[Script, ...], place: ConsentPlace) -> bool:
    """Tell whether an older version, which covered less, has denied this: a denial may well cover more."""
    if record.version == VERSION or record.verdict != "denied":
        return False
    return record.id == identity_of(ask, scripts, place, version=record.version)


def difference(old: ConsentRecord, ask: Ask, pinned: Pinned, place: ConsentPlace) -> str:
    """Say in a few words what is not as it was approved."""
    if old.version != VERSION:
        return "an approval covers more by now, look at it once again"
    scripts = pinned.scripts
    found = [_WORDS.get(part, part) for part in _PARTS if getattr(old.ask, part) != getattr(ask, part)]
    if old.unknown != pinned.unknown:
        found.append("files that cannot be known")
    if old.scripts != scripts:
        before, after = ({(one.path, one.hash) for one in some} for some in (old.scripts, scripts))
        found += [f"file {path}" for path in sorted({path for path, _ in before ^ after})[:3]]
    if old.place != place:
        found.append("folder of the workspace")
    return ", ".join(found) or "details"
