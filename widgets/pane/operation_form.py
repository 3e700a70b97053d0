"""Forms made from the parameters of operations, and the calls that they make."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from memory.base.clock import BadMoment
from memory.document import Entry
from memory.errors import MemdeckError
from memory.files.operations import Call as FileCall
from memory.files.snapshot import Snapshot
from memory.operations import (
    RECURRING,
    Choice,
    Content,
    Input,
    Lines,
    Operation,
    Pairs,
    Parameter,
    Tag,
    Used,
    When,
    Whole,
    load,
)
from memory.operations.parameters import Flag, Suggested, Values
from memory.registry import VerbName, registered
from widgets.input.date_fields import as_written, date_field, recurrence_field
from widgets.input.fields import NO, PLACEHOLDERS, YES, FieldSpec, Kind

from .offers import Build, Call, FileBuild, FormPlan, Removal, question
from .offers import Values as Texts

_SHARED = (
    VerbName("supersede", "memory.proof.operations:supersede", ""),
    VerbName("fleet", "memory.fleet.operations:fleet", ""),
)
"""Verbs that are not about one system, and that panes offer."""
CONFIRMED = ("yes", "dry_run")
"""The flags with which an operation does what it otherwise only shows, or the reverse; no form asks for them."""


def operation_of(words: str) -> Operation:
    """Return the operation that `memdeck WORDS` runs; KeyError where there is none."""
    first = words.partition(" ")[0]
    every = (*_SHARED, *(verb for system in registered() for verb in system.verbs))
    verbs = [verb for verb in every if verb.name == first]
    return {one.does: one for verb in verbs for one in load(verb.place).walk()}[words]


LABELS = {
    "agent tier": "agent's tier", "already surfaced": "already shown", "at": "time", "attribute": "fact about it",
    "changes": "other fields", "dedupe": "how", "entity": "subject", "extra": "other fields", "fact id": "fact",
    "filename": "file", "idempotency key": "call key", "include already surfaced": "shown ones too",
    "include shadowed": "overridden too", "limit": "at most", "match": "contains", "op": "decision",
    "query text": "search for", "ref": "entry", "remediate": "fix", "slug": "name",
    "source sessions": "from sessions", "superseded by": "replaced by", "threshold": "alert when",
    "top k": "at most", "unset": "remove fields",
}  # fmt: skip
"""The labels of parameters whose names are not words that a person would use."""
TYPED = ("may be repeated", "- reads", "@FILE", "--set")
"""What only concerns the command line in the help of a parameter."""
OPTIONS = {"none": "add all", "line_hash": "new lines only", "section_replace": "replace sections", "noop": "no change"}
"""The words for values of choices, in the same way."""
TYPES = {"user": "about you", "feedback": "how to work", "project": "project", "reference": "where to look"}
"""What a memory that agents learned is about, by its type."""


class Near(NamedTuple):
    """The files and the time around a form: dates show what they mean, and fields complete from the entries there."""

    snapshot: Snapshot
    now: datetime


def asked(operation: Operation, names: Sequence[str] = ()) -> Iterator[Parameter]:
    """Yield the parameters that a form asks for: those of `names` in that order, or all, required ones first."""
    found = [one for one in operation.sent if one.name not in CONFIRMED and not isinstance(one.kind, Content)]
    if names:
        yield from sorted((one for one in found if one.name in names), key=lambda one: names.index(one.name))
    else:
        yield from sorted(found, key=lambda one: not one.required)


def fields_of(
    operation: Operation, given: Mapping[str, str], names: Sequence[str] = (), near: Near | None = None
) -> list[FieldSpec]:
    """Return the fields of a form for an operation; `given` are the values to begin with, `names` as for `asked`."""
    values = {one.name: given.get(one.name, given.get(one.sent_as, "")) for one in asked(operation, names)}
    return [_field(one, values[one.name], near, values) for one in asked(operation, names)]


def _field(one: Parameter, value: str, near: Near | None, texts: dict[str, str]) -> FieldSpec:
    """Return the field of a parameter; `texts` has the dates as they are typed, for fields that depend on them."""
    name = (one.name if one.many else one.sent_as).replace("_", " ")
    label = LABELS.get(name, name)
    kind = _kind(one)
    common: dict[str, Any] = {"required": one.required, "about": _about(one, label)}
    if common["about"] and (kind not in PLACEHOLDERS or kind in ("date", "cron")):
        words = one.help.partition(";")[0].rstrip(".")
        common["placeholder"] = words.partition(": ")[2] or words if kind in ("date", "cron") else words
    if near is not None and isinstance(one.kind, When):
        field = date_field(one.name, label, value, near.now, near.snapshot.zone, one.kind, **common)
        return replace(field, validate=partial(_noted, field, texts))
    if near is not None and one.kind is RECURRING:
        due = partial(_date, texts, value=texts.get("due", ""), near=near)
        return recurrence_field(one.name, label, value, due, near.now, near.snapshot.zone, **common)
    options: tuple[str, ...] = ()
    if isinstance(one.kind, Choice):
        offered = tuple(_words(one.name, word) for word in one.kind.words)
        options = offered if one.required or value or one.default else ("", *offered)
    suggested: tuple[str, ...] | Callable[[], tuple[str, ...]] = ()
    if isinstance(one.kind, Suggested):
        suggested = tuple(one.kind.words)
    elif near is not None and isinstance(one.kind, Used):
        suggested = partial(_completions, one.kind, near.snapshot)
    default = NO if kind == "bool" else "" if one.default in (None, ()) else str(one.default)
    value = _words(one.name, value or default)
    return FieldSpec(one.name, label, kind, value, options=options, suggestions=suggested, **common)


def _about(one: Parameter, label: str) -> str:
    """Return the help of a parameter without what concerns the command line; empty where it only repeats the label."""
    parts = (part for part in one.help.rstrip(".").split("; ") if not any(word in part for word in TYPED))
    words = "; ".join(parts)
    return "" if words.casefold() in ("", label, f"the {label}", f"a {label}") else f"{words}."


def _noted(field: FieldSpec, texts: dict[str, str], text: str) -> str | None:
    texts[field.name] = text
    return field.validate(text) if field.validate is not None else None


def _date(texts: Mapping[str, str], value: str, near: Near) -> str | None:
    """Return the due date in the form of the files, None where it is empty or incomplete."""
    with suppress(BadMoment):
        return as_written(texts.get("due", ""), value, near.now, near.snapshot.zone) or None
    return None


def _completions(kind: Used, snapshot: Snapshot) -> tuple[str, ...]:
    return tuple(word for word, _ in kind.completions(lambda: snapshot, ""))


def _kind(one: Parameter) -> Kind:
    match one.kind:
        case Choice():
            return "choice"
        case Flag():
            return "bool"
        case Whole():
            return "number"
        case Tag():
            return "tags"
        case Input() | Lines() | Pairs() | Values():
            return "multiline"
        case When():
            return "date"
        case kind if kind is RECURRING:
            return "cron"
        case _ if one.name in ("text", "content", "body", "notes"):
            return "multiline"
        case _:
            return "tags" if one.many and one.words else "text"


def values_of(operation: Operation, texts: Mapping[str, str], names: Sequence[str] = ()) -> dict[str, Any]:
    """Return the values of a call, from the texts of its form; UsageError as `Operation.read`."""
    given: dict[str, Any] = {}
    for one in asked(operation, names):
        text = texts.get(one.name, "").strip()
        if isinstance(one.kind, Flag):
            given[one.sent_as] = text == YES
        elif isinstance(one.kind, Lines):
            given[one.sent_as] = split_lines(text)
        elif one.many and text:
            given[one.sent_as] = [part.strip() for part in text.replace("\n", ",").split(",") if part.strip()]
        elif text:
            given[one.sent_as] = coded(one.name, text) if isinstance(one.kind, Choice) else text
    return operation.read(given)


def _words(name: str, value: str) -> str:
    """Return the words for a value of a parameter."""
    return (TYPES if name == "type" else OPTIONS).get(value, value)


def coded(name: str, words: str) -> str:
    """Return the value of a parameter that has these words."""
    known = TYPES if name == "type" else OPTIONS
    return next((value for value, said in known.items() if said == words), words)


def join_lines(lines: Iterable[str]) -> str:
    """Return lines as an editor shows them: one a line, continuation lines indented."""
    return "\n".join(line.replace("\n", "\n  ") for line in lines)


def split_lines(text: str) -> list[str]:
    """Return the lines of an editor's text; an indented line continues the one before."""
    lines: list[str] = []
    for line in filter(str.strip, text.split("\n")):
        if line[0] in " \t" and lines:
            lines[-1] += "\n" + line.strip()
        else:
            lines.append(line.strip())
    return lines


def form_of(
    words: str,
    title: str,
    given: Mapping[str, str] | None = None,
    focus: str | None = None,
    *,
    names: Sequence[str] = (),
    near: Near | None = None,
) -> FormPlan:
    """Return the form of an operation; what it writes goes the way of every change. `names` as for `asked`."""
    operation = operation_of(words)

    def check(texts: Texts) -> Mapping[str, str]:
        try:
            values_of(operation, texts, names)
        except MemdeckError as error:
            return {str(error.details.get("argument", "")): error.message}
        return {}

    def build(_changed: Texts, texts: Texts, now: datetime) -> Build:
        values = values_of(operation, texts, names)
        return edit_by(operation, now, values) if operation.edit is not None else Call(operation.does, (values,))

    fields = fields_of(operation, given or {}, names, near)
    return FormPlan(title, fields, build, operation.does.replace(" ", "."), focus=focus, check=check)


def add_form_of(words: str, title: str, fields: Sequence[FieldSpec], focus: str = "", **fixed: str) -> FormPlan:
    """Return the form of an operation that adds an entry to a memory file; `fixed` are values that are not asked.

    Fields that are no parameters of the operation are values of its pairs.
    """
    operation = operation_of(words)
    known = {one.name for one in operation.sent}

    def build(_changed: Texts, texts: Texts, now: datetime) -> Build:
        given = {name: text.strip() for name, text in texts.items() if text.strip()}
        values: dict[str, Any] = {**fixed, **{name: text for name, text in given.items() if name in known}}
        return edit_by(operation, now, {**values, "changes": {key: given[key] for key in given if key not in known}})

    return FormPlan(title, fields, build, operation.does.replace(" ", "."), focus=focus or None)


def edit_form_of(
    words: str, title: str, item: Any, fields: Sequence[FieldSpec], focus: str = "",
    values: Callable[[Any], Texts | None] | None = None, **fixed: str,
) -> FormPlan:  # fmt: skip
    """Return the form of an operation that edits an entry of a memory file: what changed is set, the rest stays.

    `values` returns the values of a newer version of the entry, for edits that do not refuse concurrent changes
    themselves; `fixed` are values that are not asked.
    """
    operation = operation_of(words)
    known = {one.name: one for one in operation.sent}
    paired = any(isinstance(one.kind, Pairs) for one in operation.sent)

    def build(changed: Texts, texts: Texts, now: datetime) -> Build:
        given: dict[str, Any] = {}
        for name, text in texts.items():
            if name in changed or (name in known and known[name].required):
                lines = isinstance(known[name].kind, Lines) if name in known else False
                given[name] = (
                    (split_lines(text) or [""]) if lines else text.strip() if "\n" not in text else text.rstrip()
                )
        sent = {"changes": given} if paired else given
        return edit_by(operation, now, {**fixed, "ref": item.ref, **sent}, getattr(item, "entry", None))

    def current(snapshot: Snapshot) -> Texts | None:
        found = next((one for one in ENTRIES[words.partition(" ")[0]](snapshot) if one.ref == item.ref), None)
        return None if found is None or values is None else values(found)

    plan = FormPlan(title, fields, build, operation.does.replace(" ", "."), focus=focus or None)
    return plan if values is None else plan._replace(current=current)


def edit_by(operation: Operation, now: datetime, values: Mapping[str, Any], base: Entry | None = None) -> FileBuild:
    """Return the edit that an operation on the entries of a memory file makes."""
    assert operation.edit is not None
    edit = operation.edit
    return lambda snapshot: edit(FileCall(snapshot, now, base=base), **values)


def removal_of(words: str, name: str, titles: Sequence[str], values: Sequence[Mapping[str, str]]) -> Removal:
    """Return the question before an operation removes entries; those of a memory file are removed in one change."""
    operation = operation_of(words)

    def build(now: datetime) -> Build:
        if operation.edit is not None:
            return edit_by(operation, now, {"ref": [one["ref"] for one in values]})
        return Call(words, tuple(values_of(operation, one) for one in values))

    return Removal(*question(name, titles), build, words.replace(" ", "."))


ENTRIES: Mapping[str, Callable[[Snapshot], Iterable[Any]]] = {
    "contacts": lambda snapshot: snapshot.contacts.items,
    "journal": lambda snapshot: snapshot.journal.entries(),
    "knowledge": lambda snapshot: snapshot.knowledge.items,
    "monitors": lambda snapshot: snapshot.monitors.items,
    "orchestration": lambda snapshot: snapshot.plans.items,
}
"""The entries of each memory file, by the noun of their operations."""
