"""The fields of entries in the words that agents write: each word becomes the field that the kind has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memory.errors import UsageError
from memory.files.fields.values import Schema, Value
from memory.files.monitors import SCHEMA as MONITORS
from memory.files.plans.model import SCHEMA as PLANS
from memory.files.tasks.reading import LEVELS
from memory.files.tasks.reading import SCHEMA as TASKS

_READERS = {"tasks": TASKS, "monitors": MONITORS, "plans": PLANS}
"""What the readers of files understand, which is understood here, too."""
_WORDS: Mapping[str, Mapping[str, str]] = {
    "tasks": {
        "section": "status, state, column, list",
        "recurring": "recurrence, recurs, repeat, repeats, every, cron, schedule, frequency, rrule",
        "notes": "note, description, details, body, text, comment, comments, content",
        "priority": "urgency, importance",
        "due": "when, date",
        "outcome": "result, resolution",
        "title": "name, task, subject",
    },
    "monitors": {
        "interval": "every, cron, period, runs, recurring, recurrence",
        "url": "address, link, target",
        "command": "run, script, check, shell",
        "threshold": "alert, fail if, fails if, alert on, expected",
        "alertPriority": "priority, severity",
        "autoRemediate": "fix, repair, remediate, remediation",
        "name": "title",
    },
    "knowledge": {
        "reason": "why, rationale, because, motivation",
        "date": "decided, decided on, decided at, when",
        "section": "category",
        "text": "title, content, description",
    },
    "gotchas": {
        "symptom": "problem, what, what happens, error",
        "cause": "why, reason, because, text, details, description",
        "correctPath": "fix, workaround, work around, solution, resolution, do instead, how",
    },
    "next-steps": {
        "why": "reason, because, text, details, description",
        "start": "how, where, first step",
        "done": "done when, finished when, acceptance",
    },
    "contacts": {
        "text": "notes, note, description, details, about, how to reach",
        "role": "job, position",
        "name": "title",
        "id": "channel id",
    },
    "plans": {"steps": "tasks, items, todos, phases"},
    "journal": {"lines": "notes, details, items, text, body, content", "time": "at, date, when, started"},
    "facts": {"tags": "tag, category, categories, labels, label, topic, kind, type"},
}
"""Further words for the fields of each kind."""
_SCHEMAS = {kind: Schema({key: Value(words=others) for key, others in words.items()}) for kind, words in _WORDS.items()}
_YES = (True, "true", "yes")


def plain_fields(kind: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields by the names that the kind has; `kind` is `gotchas` or `next-steps` for those of project state.

    A word that is no field of the kind stays as it is. UsageError `entry.field` where two words name one field.
    """
    found: dict[str, Any] = {}
    for word, value in fields.items():
        key = plain_field(kind, word)
        if kind == "tasks" and key == "completed" and value in _YES:
            key, value = "section", "completed"
        elif kind == "tasks" and key == "priority" and isinstance(value, str):
            value = LEVELS.get(value.strip().lower(), value)
        if key in found:
            raise UsageError("entry.field", f"{word[:40]!r} names the field {key}, which is given already", "send one")
        found[key] = value
    return found


def plain_field(kind: str, word: str) -> str:
    """Return the name of the field that a word means; the word itself where it means none."""
    found = (one.meaning(word) for one in (_SCHEMAS.get(kind), _READERS.get(kind)) if one is not None)
    return next((key for key in found if key is not None), word)
