"""Completion in the shell: its script, and what completes a ref."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

from app.cli.lazy_groups import verb
from app.cli.session import Session
from memory.errors import MemdeckError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_SHELLS = ("bash", "zsh", "fish")
_MOST = 200


@verb(
    "completion",
    serves="machine",
    examples=(
        "memdeck completion bash > ~/.local/share/bash-completion/completions/memdeck",
        "memdeck completion zsh > ~/.zfunc/_memdeck",
        "memdeck completion fish > ~/.config/fish/completions/memdeck.fish",
    ),
)
@click.argument("shell", type=click.Choice(_SHELLS))
def completion(session: Session, shell: str) -> None:
    """Print a script that completes verbs, options and refs in bash, zsh or fish."""
    from click.shell_completion import ShellComplete, get_completion_class

    from app.cli.root import root

    kind = get_completion_class(shell)
    assert kind is not None
    # The class for bash would first start a bash to ask for its version.
    script = ShellComplete.source(kind(root, {}, "memdeck", "_MEMDECK_COMPLETE"))
    session.answer(lambda: {"shell": shell, "script": script}, lambda: script.rstrip("\n").split("\n"))


def choices_of(*words: str) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """Return a function that completes some words, where others are taken too."""
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
            return []  # a completion is no place for errors

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
