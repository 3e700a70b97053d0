"""Completion of values in the shell: words, and the refs of entries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from memory.errors import MemdeckError

from .session import Session

if TYPE_CHECKING:
    import click
    from click.shell_completion import CompletionItem

_MOST = 200


def choices_of(*words: str) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """Return a function that completes some words; other values are accepted, too."""
    return lambda _context, _parameter, incomplete: [word for word in words if word.startswith(incomplete)]


def refs_of(*kinds: str) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """Return a function that completes a ref of some kinds (`tasks`, `journal`, …) from the workspace."""

    def complete(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        session = context.find_root().obj
        if not isinstance(session, Session):
            session = Session()
        try:
            return _find(session, kinds, incomplete)
        except (MemdeckError, OSError):
            return []  # completion must not print errors

    return complete


def _find(session: Session, kinds: tuple[str, ...], incomplete: str) -> list[CompletionItem]:
    from itertools import islice

    from click.shell_completion import CompletionItem

    from memory.base.safe_text import clip, visible

    found = []
    for kind in kinds:
        for item in islice(_items(session, kind), 2000):
            hexadecimal = item.ref.partition("#")[2]
            shown = item.ref if "#" in incomplete else hexadecimal
            if shown.startswith(incomplete):
                found.append(CompletionItem(shown, help=clip(visible(_title(item)), 60)))
                if len(found) >= _MOST:
                    return found
    return found


def _items(session: Session, kind: str) -> Iterator[Any]:
    snapshot = session.snapshot
    match kind:
        case "tasks":
            return iter(snapshot.tasks.tasks)
        case "journal":
            return iter(snapshot.journal.entries(limit=_MOST))
        case "knowledge":
            return iter(snapshot.knowledge.items)
        case "contacts":
            return iter(snapshot.contacts.all())
        case _:
            return iter(snapshot.monitors.monitors)


def _title(item: object) -> str:
    for name in ("title", "name", "text", "channel"):
        value = getattr(item, name, None)
        if value:
            return str(value)
    return ""
