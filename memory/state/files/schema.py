"""The shapes of the format, checked strictly: every fault has its place in the object.

Keys unknown to the format are left alone, because another tool may have written them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from .model import SCHEMA_VERSION, SCOPES, SIGNALS, SOURCE_TYPES, moment, number_of

_HASH = re.compile(r"[0-9a-f]{64}")


class Fault(NamedTuple):
    """A fault at one place (`bundle.project.name`) of an object."""

    where: str
    what: str

    def __str__(self) -> str:
        """Return both as one sentence."""
        return f"{self.where} {self.what}" if self.where else self.what


Faults = list[Fault]
Rule = Callable[[Any, str, Faults], None]


def text(value: Any, where: str, faults: Faults) -> None:
    """Accept text that is not blank and can be written as UTF-8."""
    if not isinstance(value, str):
        faults.append(Fault(where, "is not a text"))
    elif not value.strip():
        faults.append(Fault(where, "is blank"))
    elif not value.isascii() and _has_surrogate(value):
        faults.append(Fault(where, "is not valid Unicode"))


def _has_surrogate(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return True
    return False


def fitting(fits: Callable[[Any], bool], what: str) -> Rule:
    """Return the rule that accepts the values for which `fits` is true; `what` says of any other what it is."""

    def check(value: Any, where: str, faults: Faults) -> None:
        if not fits(value):
            faults.append(Fault(where, what))

    return check


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_hash(value: Any) -> bool:
    return isinstance(value, str) and _HASH.fullmatch(value) is not None


time = fitting(lambda value: moment(value) is not None, "is not a time such as 2026-01-31T12:00:00.000Z")
"""Accepts a time in UTC with milliseconds and Z."""
hexes = fitting(_is_hash, "is not a SHA-256 in 64 hex digits")
"""Accepts the hex digits of a SHA-256."""
count = fitting(_is_count, "is not a whole number from 0")
"""Accepts a whole number from 0."""
flag = fitting(lambda value: isinstance(value, bool), "is neither true nor false")
"""Accepts true or false."""
event_ref = fitting(lambda value: number_of(value) > 0, "is not the id of an event such as evt-000001")
"""Accepts the id of an event."""
checkpoint_ref = fitting(lambda value: number_of(value, "chk") > 0, "is not the id of a checkpoint such as chk-000001")
"""Accepts the id of a checkpoint."""


def or_null(rule: Rule) -> Rule:
    """Return the rule that also accepts null."""

    def check(value: Any, where: str, faults: Faults) -> None:
        if value is not None:
            rule(value, where, faults)

    return check


def one_of(*values: Any) -> Rule:
    """Return the rule that accepts only the given values."""

    def check(value: Any, where: str, faults: Faults) -> None:
        if not any(type(value) is type(one) and value == one for one in values):
            faults.append(Fault(where, f"is none of {', '.join(map(str, values))}"))

    return check


def many(rule: Rule, most: int = 0, least: int = 0) -> Rule:
    """Return the rule for a list, of `least` to `most` (0: any number of) entries."""

    def check(value: Any, where: str, faults: Faults) -> None:
        if not isinstance(value, list):
            faults.append(Fault(where, "is not a list"))
            return
        if most and len(value) > most:
            faults.append(Fault(where, f"has {len(value)} entries, at most {most} are allowed"))
        if len(value) < least:
            faults.append(Fault(where, "is empty"))
        if rule is text and all(type(one) is str and one.isascii() and one.strip() for one in value):
            return
        for index, one in enumerate(value):
            rule(one, f"{where}[{index}]", faults)

    return check


def record(**fields: Rule) -> Rule:
    """Return the rule for an object that has all the given keys."""
    items = tuple(fields.items())

    def check(value: Any, where: str, faults: Faults) -> None:
        if not isinstance(value, dict):
            faults.append(Fault(where, "is not an object"))
            return
        prefix = f"{where}." if where else ""
        for key, rule in items:
            if key in value:
                rule(value[key], prefix + key, faults)
            else:
                faults.append(Fault(prefix + key, "is missing"))

    return check


def relative(value: Any, where: str, faults: Faults) -> None:
    """Accept a path relative to the workspace that does not lead out of it."""
    text(value, where, faults)
    if isinstance(value, str) and not stays_inside(value):
        faults.append(Fault(where, "leads out of the workspace"))


def stays_inside(path: str) -> bool:
    """Return whether a path, judged by its text alone, is below the workspace."""
    return not (path.startswith(("/", "~")) or "\0" in path or ".." in path.replace("\\", "/").split("/"))


TEXTS = many(text)
PATHS = many(relative)

PROVIDER = record(name=text, binary=text, model=or_null(text), sessionId=or_null(text))
BUNDLE = record(
    project=record(
        name=text,
        summary=text,
        primaryEcosystem=text,
        packageManager=text,
        workspaceManager=text,
        recommendedEntryFile=relative,
        keyPaths=PATHS,
    ),
    projectMap=record(
        modules=many(record(name=text, path=relative, responsibility=text)),
        entrypoints=many(record(path=relative, role=text)),
        denseSourceAreas=many(record(path=relative, note=text)),
        architectureNotes=TEXTS,
        firstFilesToRead=PATHS,
    ),
    currentFocus=record(
        summary=text,
        currentState=TEXTS,
        knownRisks=TEXTS,
        validationSnapshot=record(
            status=one_of("not-run", "passed", "failed", "mixed"),
            validatedAt=or_null(time),
            summary=text,
            results=many(
                record(label=text, command=text, status=one_of("passed", "failed", "unavailable"), summary=text)
            ),
        ),
        suggestedNextActions=TEXTS,
    ),
    gotchas=many(record(title=text, symptom=text, cause=text, correctPath=text)),
    nextSteps=many(record(title=text, why=text, start=text, done=text)),
    validationCommands=many(record(label=text, command=many(text, least=1), purpose=text), most=2),
)
_CURSOR = record(lastRecalledAt=or_null(time), lastRecalledEventId=or_null(event_ref))
MAINTENANCE = record(
    lastRecalledAt=or_null(time),
    lastRecalledEventId=or_null(event_ref),
    latestCheckpointId=or_null(checkpoint_ref),
    historyEventCount=count,
    importSourceCount=count,
    recallCursors=record(**dict.fromkeys(SCOPES, _CURSOR)),
)
STATE = record(
    schemaVersion=one_of(SCHEMA_VERSION),
    generatorVersion=text,
    provider=PROVIDER,
    generatedAt=time,
    bundleHash=hexes,
    bundle=BUNDLE,
    maintenance=MAINTENANCE,
)
EVENT = record(
    id=event_ref,
    kind=one_of("tool_run", "imported_session"),
    sourceId=text,
    externalItemId=or_null(text),
    createdAt=time,
    contentHash=hexes,
    summary=text,
    signals=record(**dict.fromkeys(SIGNALS, TEXTS)),
    sourceRef=text,
)
CHECKPOINT = record(
    id=checkpoint_ref, createdAt=time, eventId=or_null(event_ref), bundleHash=hexes, bundle=BUNDLE, summary=text
)
SOURCE = record(
    id=text,
    type=one_of(*SOURCE_TYPES),
    path=text,
    createdAt=time,
    updatedAt=time,
    lastSyncedAt=or_null(time),
    lastSyncStatus=one_of("never", "passed", "failed"),
    lastSyncError=or_null(text),
    lastImportedCount=count,
)
MANIFEST = record(
    createdAt=time,
    archivedEventIds=many(event_ref),
    archivedCheckpointIds=many(checkpoint_ref),
    historyMaxAgeDays=count,
    checkpointMaxAgeDays=count,
    keepRecent=count,
    expireAfterDays=count,
)


def faults_of(rule: Rule, value: Any, where: str = "") -> Faults:
    """Return the faults of a value, empty where it has the shape."""
    faults: Faults = []
    rule(value, where, faults)
    return faults


def first_of(faults: Faults) -> str:
    """Return the first few faults as one sentence."""
    more = f", and {len(faults) - 3} more" if len(faults) > 3 else ""
    return "; ".join(map(str, faults[:3])) + more
