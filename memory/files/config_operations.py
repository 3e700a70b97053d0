"""The operations on the settings of a workspace."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from memory.operations import Context, Group, Kind, argument, option, under
from memory.operations.result import Paint, Result

from .config import KNOWN_KEYS, get_setting, meant_key, set_setting, unknown_key_words, unset_setting
from .edit import Edit
from .snapshot import Snapshot

config = Group("config", "List, get, set and unset the workspace's settings (config.md).")


class _Key(Kind):
    """The name of a setting."""

    def completions(self, snapshot: Callable[[], Snapshot], begun: str) -> Iterator[tuple[str, str]]:
        """Yield the names in the file."""
        yield from ((one.key, "") for one in snapshot().config.settings if one.key.startswith(begun))


_key = argument("key", type=_Key())


@under(config, "list", serves="look", examples=("memdeck config list", "memdeck config list -o json"))
def list_settings(context: Context) -> Result:
    """List the settings by section."""
    settings = context.snapshot.config

    def lines(paint: Paint) -> Iterator[str]:
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

    return Result(lambda: {"config": settings.json()}, lines)


@under(config, "get", serves="look", examples=("memdeck config get maxJournalEntries",))
@_key
def get(context: Context, key: str) -> Result:
    """Print the value of one setting."""
    setting = get_setting(context.snapshot, key)
    return Result(
        lambda: {"config": {key: context.snapshot.config.get(key)}}, lambda paint: [paint.line(setting.value)]
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
def set_value(context: Context, key: str, value: str, section: str | None) -> Result:
    """Set one setting; the values of those that memdeck knows are checked first, and of others it says so."""
    found = _changed(
        context, "config.set", key, lambda looked: set_setting(looked, key, value, section=section, now=context.now)
    )
    if key in KNOWN_KEYS:
        return found
    words = unknown_key_words(key, meant_key(key))
    return Result(found.document, found.lines, notes=[f"warning: config.unknown_key: {words}"])


@under(config, "unset", serves="change", examples=("memdeck config unset maintenanceSchedule",))
@_key
def unset(context: Context, key: str) -> Result:
    """Take a setting out of the file."""
    return _changed(context, "config.unset", key, lambda looked: unset_setting(looked, key, now=context.now))


def _changed(context: Context, operation: str, key: str, build: Callable[[Snapshot], Edit]) -> Result:
    outcome = context.change(operation, build)
    value = context.left_by(outcome).config.get(key)
    words = outcome.summary if outcome.change.files else f"nothing to change in {key}"
    return Result(lambda: {"config": {key: value}}, lambda paint: [paint.line(words)])
