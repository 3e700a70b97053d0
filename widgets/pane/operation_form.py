"""Forms made from the parameters of operations, and the calls that they make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any

from memory.errors import MemdeckError
from memory.operations import (
    DUE,
    RECURRING,
    Choice,
    Content,
    Group,
    Input,
    Lines,
    Operation,
    Pairs,
    Parameter,
    Tag,
    Whole,
)
from memory.operations.parameters import Flag, Suggested, Values
from memory.registry import VerbName, registered
from widgets.input.fields import NO, YES, FieldSpec, Kind

from .offers import Call, FormPlan, Removal
from .offers import Values as Texts
from .removing import question

CONFIRMED = ("yes", "dry_run")
"""The flags with which an operation does what it otherwise only shows, or the reverse; no form asks for them."""


@cache
def _group(place: str) -> Group | Operation:
    module, _, name = place.partition(":")
    found: Group | Operation = getattr(import_module(module), name)
    return found


def operations_of(verb: VerbName) -> tuple[Operation, ...]:
    """Return the operations of a verb of the command line."""
    found = _group(verb.place)
    return tuple(found.walk()) if isinstance(found, Group) else (found,)


def operation_of(words: str) -> Operation:
    """Return the operation that `memdeck WORDS` runs; KeyError where there is none."""
    first = words.partition(" ")[0]
    verbs = [verb for system in registered() for verb in system.verbs if verb.name == first]
    return {one.does: one for verb in verbs for one in operations_of(verb)}[words]


def asked(operation: Operation) -> Iterator[Parameter]:
    """Yield the parameters that a form asks for, required ones first."""
    yield from sorted(
        (one for one in operation.sent if one.name not in CONFIRMED and not isinstance(one.kind, Content)),
        key=lambda one: not one.required,
    )


def fields_of(operation: Operation, given: Mapping[str, str]) -> list[FieldSpec]:
    """Return the fields of a form for an operation; `given` are the values to begin with."""
    return [_field(one, given.get(one.name, given.get(one.sent_as, ""))) for one in asked(operation)]


def _field(one: Parameter, value: str) -> FieldSpec:
    kind = _kind(one)
    options: tuple[str, ...] = ()
    suggested: tuple[str, ...] = ()
    if isinstance(one.kind, Choice):
        options = tuple(one.kind.words) if one.required else ("", *one.kind.words)
    if isinstance(one.kind, Suggested):
        suggested = tuple(one.kind.words)
    default = "" if one.default in (None, (), False) else str(one.default)
    return FieldSpec(
        one.name,
        one.sent_as.replace("_", " "),
        kind,
        value or (NO if kind == "bool" else default),
        options=options,
        suggestions=suggested,
        required=one.required,
        about=one.help,
    )


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
        case kind if kind is DUE:
            return "date"
        case kind if kind is RECURRING:
            return "cron"
        case _ if one.name in ("text", "content", "body", "notes"):
            return "multiline"
        case _:
            return "tags" if one.many and one.words else "text"


def values_of(operation: Operation, texts: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of a call, from the texts of its form; UsageError as `Operation.read`."""
    given: dict[str, Any] = {}
    for one in asked(operation):
        text = texts.get(one.name, "").strip()
        if isinstance(one.kind, Flag):
            given[one.sent_as] = text == YES
        elif one.many and text:
            given[one.sent_as] = [part.strip() for part in text.replace("\n", ",").split(",") if part.strip()]
        elif text:
            given[one.sent_as] = text
    return operation.read(given)


def form_of(words: str, title: str, given: Mapping[str, str] | None = None, focus: str | None = None) -> FormPlan:
    """Return the form of an operation; what it writes goes the way of every change."""
    operation = operation_of(words)

    def check(texts: Texts) -> Mapping[str, str]:
        try:
            values_of(operation, texts)
        except MemdeckError as error:
            return {str(error.details.get("argument", "")): error.message}
        return {}

    return FormPlan(
        title,
        fields_of(operation, given or {}),
        lambda _changed, texts, _now: Call(operation.does, (values_of(operation, texts),)),
        operation.does.replace(" ", "."),
        focus=focus,
        check=check,
    )


def removal_of(words: str, name: str, titles: Sequence[str], values: Sequence[Mapping[str, str]]) -> Removal:
    """Return the question before an operation that removes entries is run for each of them."""
    operation = operation_of(words)
    calls = tuple(values_of(operation, one) for one in values)
    return Removal(*question(name, titles), lambda _now: Call(words, calls), words.replace(" ", "."))
