"""Where an entry goes: the kinds in plain words, and the kind for something to remember that names none."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from memory.base.values import alike
from memory.base.word_lists import sounds_like_rule
from memory.operations import Kind
from memory.registry import kinds

from .field_words import plain_field

if TYPE_CHECKING:
    from memory.search.records import Record
    from memory.workspace import Workspace

MEMORY = "memory"
"""The kind of an entry for which memdeck chooses one."""
USES = {
    "tasks": "work, with due, assigned, notes; told when due or running",
    "journal": "what was done; the newest told",
    "preferences": "standing rules, how people want things; told",
    "decisions": "with fields.reason; told",
    "gotchas": "traps and the way around them; told",
    "next-steps": "of the repository; told",
    "knowledge": "other facts; found by search",
    "facts": "short notes; found by search",
    "contacts": "people, channels; found by search",
    "plans": "tasks in order; told while running",
    "monitors": "checks; told when failing",
    "config": "settings; found by search",
    "state": "project state: read, edit; told",
    "typed": "an agent's own notes; core ones told",
    "curated": "controlled memories; told",
    MEMORY: "memdeck chooses and says which",
}
"""The kinds that agents name, each with its use, and whether it is told when a session begins or found by search."""
ALIASES = {
    **{"orchestration": "plans", "fact": "facts", "task": "tasks", "contact": "contacts", "monitor": "monitors"},
    **{"todo": "tasks", "todos": "tasks", "reminder": "tasks", "reminders": "tasks", "log": "journal"},
    **{"setting": "config", "settings": "config", "check": "monitors", "checks": "monitors"},
    **{"person": "people", "persons": "people", "rule": "preferences", "rules": "preferences"},
    **{"lesson": "gotchas", "lessons": "gotchas", "trap": "gotchas", "traps": "gotchas"},
}
"""Other names of kinds; in refs, plans have the name of their file."""
_PLAIN: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "preferences": ("knowledge", {"section": "preferences"}),
    "decisions": ("knowledge", {"kind": "decision"}),
    "gotchas": ("state", {"section": "gotchas"}),
    "next-steps": ("state", {"section": "next-steps"}),
    "people": ("contacts", {"kind": "person"}),
    "channels": ("contacts", {"kind": "channel"}),
    "routes": ("contacts", {"kind": "route"}),
}
_WITHOUT: Mapping[str, tuple[tuple[str, str, Mapping[str, Any]], ...]] = {
    "preferences": (
        ("facts", "facts", {"tags": ["preference"]}),
        ("curated", "curated", {"type": "feedback", "scope": "workspace"}),
    ),
    "decisions": (("facts", "facts", {"tags": ["decision"]}), ("curated", "curated", {"type": "project"})),
    "gotchas": (
        ("files", "knowledge", {"section": "Gotchas"}),
        ("facts", "facts", {"tags": ["gotcha"]}),
        ("curated", "curated", {"type": "project"}),
    ),
    "next-steps": (("files", "tasks", {}), ("facts", "facts", {"tags": ["next-step"]})),
    "facts": (("files", "knowledge", {}), ("curated", "curated", {"type": "reference"})),
    "tasks": (("state", "state", {"section": "next-steps"}), ("facts", "facts", {"tags": ["task"]})),
}
"""Where an entry goes in a workspace without the system of its kind: the system, its kind, and fields."""
SECTIONS = {"preferences": "User Preferences", "decisions": "Decisions Made", "facts": "Technical Facts"}
"""The sections of knowledge.md in plain words."""

_TASK = re.compile(r"\b(?:to-?do|remind (?:me|us)|remember to|don't forget to|has to be done)\b", re.IGNORECASE)
_GOTCHA = re.compile(
    r"\b(?:gotcha|trap|pitfall|beware|careful|watch out|work ?around"
    r"|(?:breaks|fails|hangs|crashes)\b.*\b(?:if|when|unless|after|without))\b",
    re.IGNORECASE,
)
_DECISION = re.compile(
    r"\b(?:decided|decision|we (?:chose|choose|keep|stay with|switched|dropped)|instead of|rather than)\b",
    re.IGNORECASE,
)
_PREFERENCE = re.compile(r"\b(?:likes?|wants?|dislikes?|hates?|would (?:like|rather))\b", re.IGNORECASE)
_DUE = frozenset({"due", "priority", "assigned", "recurring", "action"})
_TRAP = frozenset({"symptom", "cause", "correctPath"})


class KindName(Kind):
    """The name of a kind; `chosen` are further names that the parameter takes."""

    def __init__(self, chosen: tuple[str, ...] = ()) -> None:
        """Keep the names."""
        self._chosen = chosen

    def schema(self) -> dict[str, Any]:
        """Return the schema with all names, those of other packages too."""
        names = [name for name in (*USES, *kinds()) if name != MEMORY or MEMORY in self._chosen]
        return {"type": "string", "enum": list(dict.fromkeys(names))}


class Place(NamedTuple):
    """The kind of a new entry, the fields that follow from the name that was used, and that name."""

    kind: str
    fields: Mapping[str, Any]
    name: str

    def words(self) -> str:
        """Return where the entry is, and whether agents are told it."""
        use = (USES.get(self.name) or USES.get(self.kind, "")).rpartition("; ")[2] or "found by search"
        told = {
            "told": "told when a session begins",
            "the newest told": "the newest are told when a session begins",
            "core ones told": "found by search; only core files are told when a session begins",
        }
        where = self.kind if self.kind == self.name else f"{self.kind}, as one of {self.name}"
        return f"it is in {where}: {told.get(use, use)}"


def plain_kind(name: str) -> tuple[str, Mapping[str, str]]:
    """Return the kind of a plain name, and the filter or fields that select its entries."""
    name = name.strip().casefold().replace(" ", "-").replace("_", "-")
    name = ALIASES.get(name, name)
    plural = name if name in USES or name in _PLAIN or name in kinds() else f"{name.removesuffix('s')}s"
    if name in ("memories", "remember", "note", "notes") and name not in kinds():
        plural = "memory"
    if plural in _PLAIN:
        return _PLAIN[plural]
    return (plural if plural in USES else name), {}


def place_of(workspace: Workspace, name: str, title: str, text: str, fields: Mapping[str, Any]) -> Place:
    """Return where a new entry goes, by its kind or plain name; by what it says if that is `memory` or empty."""
    kind, implied = plain_kind(name or MEMORY)
    chosen = kind == MEMORY and "client" not in fields  # A client's own memory has the name of that kind.
    if chosen:
        plain = _use_of(title, text, fields)
        kind, implied = _PLAIN.get(plain, (plain, {}))
    else:
        plain = next((key for key, one in _PLAIN.items() if implied and one == (kind, implied)), kind)
    present = workspace.system_names()
    owner = {"knowledge": "files", "tasks": "files"}.get(kind, kind)
    if owner not in present and (chosen or plain in _PLAIN):
        for system, other, more in _WITHOUT.get(plain, ()):
            if system in present:
                return Place(other, {**more, **_known(other, fields)}, plain)
    return Place(kind, {**implied, **fields}, plain)


def _known(kind: str, fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields that a fact has, or all of them for another kind."""
    return {key: value for key, value in fields.items() if kind != "facts" or key in ("tags", "scope")}


def _use_of(title: str, text: str, fields: Mapping[str, Any]) -> str:
    """Return the plain name of the kind for something to remember."""
    said = f"{title}\n{text}"
    if any(plain_field("tasks", key) in _DUE for key in fields) or _TASK.search(title):
        return "tasks"
    if not _TRAP.isdisjoint(fields) or _GOTCHA.search(said):
        return "gotchas"
    if any(plain_field("knowledge", key) == "reason" for key in fields) or _DECISION.search(said):
        return "decisions"
    if sounds_like_rule(title) or _PREFERENCE.search(title):
        return "preferences"
    return "facts"


def is_same(record: Record, kind: str, title: str, text: str, fields: Mapping[str, Any]) -> bool:
    """Return whether an entry already says the text to add to its kind."""
    whole = alike(f"{title} {text}")
    if alike(record.title) not in ((whole,) if kind == "facts" else (whole, alike(title))):
        return False
    if kind == "journal":
        lines = [line.removeprefix("- ").strip() for line in text.splitlines() if line.strip()]
        return lines == list(record.item.lines)
    told = record.item.json() if hasattr(record.item, "json") else {}
    if kind == "contacts":
        return bool(told.get("kind") == fields.get("kind", "person"))
    if kind == "state":
        return (record.ref or "").startswith(f"state#{str(fields.get('section', '')).removesuffix('s')}-")
    return True
