"""The verbs on the workspace's settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from app.cli.printing import tell
from app.cli.session import Session
from memory.files.config import KNOWN_KEYS, get_setting, meant_key, set_setting, unknown_key_words, unset_setting
from memory.operations import Group, Kind, argument, option, under

if TYPE_CHECKING:
    from memory.files.edit import Edit
    from memory.files.snapshot import Snapshot

config = Group("config", "List, get, set and unset the workspace's settings (config.md).")


class _Key(Kind):
    """The name of a setting."""

    def completions(self, snapshot: Callable[[], Snapshot], begun: str) -> Iterator[tuple[str, str]]:
        """Yield the names in the file."""
        yield from ((one.key, "") for one in snapshot().config.settings if one.key.startswith(begun))


_key = argument("key", type=_Key())


@under(config, "list", serves="look", examples=("memdeck config list", "memdeck config list -o json"))
def list_settings(session: Session) -> None:
    """List the settings by section."""
    settings = session.snapshot.config

    def lines() -> Iterator[str]:
        paint = session.paint
        sections: dict[str, list[tuple[str, str]]] = {}
        for setting in settings.settings:
            remark = f"({setting.remark})" if setting.remark else ""
            sections.setdefault(setting.section or "", []).append((setting.key, f"{setting.value} {remark}".strip()))
        for index, (section, rows) in enumerate(sections.items()):
            yield from [""] if index else []
            yield paint.line(section or "Front matter")
            yield from paint.columns(rows)
        if not sections:
            yield "no settings"

    session.answer(lambda: {"config": settings.json()}, lines)


@under(config, "get", serves="look", examples=("memdeck config get maxJournalEntries",))
@_key
def get(session: Session, key: str) -> None:
    """Print the value of one setting."""
    setting = get_setting(session.snapshot, key)
    session.answer(
        lambda: {"config": {key: session.snapshot.config.get(key)}}, lambda: [session.paint.line(setting.value)]
    )


@under(
    config,
    "set",
    serves="change",
    examples=("memdeck config set pruneJournalAfterDays 60", "memdeck config set timezone Europe/Berlin"),
)
@_key
@argument("value")
@option("--section", metavar="S", help="The section of a new setting (default: where it belongs).")
def set_value(session: Session, key: str, value: str, section: str | None) -> None:
    """Set one setting; the values of those that memdeck knows are checked first, and of others it says so."""
    _changed(
        session, "config.set", key, lambda snapshot: set_setting(snapshot, key, value, section=section, now=session.now)
    )
    if key not in KNOWN_KEYS:
        tell(f"memdeck: warning: config.unknown_key: {unknown_key_words(key, meant_key(key))}")


@under(config, "unset", serves="change", examples=("memdeck config unset maintenanceSchedule",))
@_key
def unset(session: Session, key: str) -> None:
    """Take a setting out of the file."""
    _changed(session, "config.unset", key, lambda snapshot: unset_setting(snapshot, key, now=session.now))


def _changed(session: Session, operation: str, key: str, build: Callable[[Snapshot], Edit]) -> None:
    outcome = session.change(operation, build)
    value = session.left_by(outcome).config.get(key)
    sentence = outcome.summary if outcome.change.files else f"nothing to change in {key}"
    session.answer(lambda: {"config": {key: value}}, lambda: [session.paint.line(sentence)])
