"""The operations on the settings of config.md, and its edits."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from memory.base.values import split_field
from memory.document import Document, Section
from memory.errors import NotFoundError, UsageError
from memory.files.config import FILE, SCHEMA, SETTINGS, Setting, meant_key, unknown_key_words
from memory.files.edit import Edit, changed_value, check_field_value, started_document, with_end
from memory.files.operations import Part, outline
from memory.files.snapshot import Snapshot
from memory.operations import Context, Group, Used, argument, option
from memory.operations.result import Result

config = Group("config", "List, get, set and unset the workspace's settings (config.md).")


_key = argument("key", type=Used("config", "key"))


@config.look("list", "", "-o json")
def list_settings(context: Context) -> Result:
    """List the settings by section."""
    settings = context.snapshot.config
    sections: dict[str, list[tuple[str, str]]] = {}
    for one in settings.settings:
        remark = f" ({one.remark})" if one.remark else ""
        sections.setdefault(one.section or "Front matter", []).append((one.key, f"{one.value}{remark}"))
    parts: list[Part] = [(section, rows, {}) for section, rows in sections.items()]
    return Result(lambda: {"config": settings.json()}, lambda paint: outline(paint, parts, "no settings"))


@config.look("get", "maxJournalEntries")
@_key
def get(context: Context, key: str) -> Result:
    """Print the value of one setting."""
    setting = get_setting(context.snapshot, key)
    return Result(
        lambda: {"config": {key: context.snapshot.config.get(key)}}, lambda paint: [paint.line(setting.value)]
    )


@config.change("set", "pruneJournalAfterDays 60", "timezone Europe/Berlin")
@_key
@argument("value")
@option("--section", metavar="S", help="The section of a new setting (default: where it belongs).")
def set_value(context: Context, key: str, value: str, section: str | None) -> Result:
    """Set one setting. Values of known settings are checked; an unknown one is set with a warning."""
    found = _changed(
        context, "config.set", key, lambda looked: set_setting(looked, key, value, section=section, now=context.now)
    )
    if key in SETTINGS:
        return found
    words = unknown_key_words(key, meant_key(key))
    return Result(found.document, found.lines, notes=[f"warning: config.unknown_key: {words}"])


@config.change("unset", "maintenanceSchedule")
@_key
def unset(context: Context, key: str) -> Result:
    """Remove a setting from the file."""
    return _changed(context, "config.unset", key, lambda looked: unset_setting(looked, key, now=context.now))


def _changed(context: Context, operation: str, key: str, build: Callable[[Snapshot], Edit]) -> Result:
    outcome = context.change(operation, build)
    # Another program may have saved an older copy since.
    value = (outcome.snapshot or context.workspace.snapshot()).config.get(key)
    words = outcome.summary if outcome.change.files else f"{key} already has this value"
    return Result(lambda: {"config": {key: value}}, lambda paint: [paint.line(words)])


# -- edits ----------------------------------------------------------------------------------------------------------


def get_setting(snapshot: Snapshot, key: str) -> Setting:
    """Return the setting that counts for a key; raises NotFoundError `config.not_found`."""
    found = snapshot.config.setting(key)
    if found is None:
        raise NotFoundError(
            "config.not_found", f"config.md has no {key[:60]!r}", "`memdeck config list` shows the keys"
        )
    return found


def set_setting(snapshot: Snapshot, key: str, value: str, *, section: str | None = None, now: datetime) -> Edit:
    """Set a key: the first field of that name changes, else one is added to `section`, or to the key's home section.

    With `section` only that section counts. An unknown key goes to Workspace. The remark after a value stays where it
    still applies. Raises UsageError `config.value` for an invalid value of the key, `field.key`, `field.value`.
    """
    value = value.strip()
    document = started_document(snapshot, FILE, now)
    plain, _ = split_field(key, value)
    sentence = SCHEMA.problem(key, plain)
    if sentence is not None:
        takes = SETTINGS[key].value.takes
        raise UsageError("config.value", sentence, "give another" if takes in sentence else f"write {takes}", key=key)
    summary = f"set {key} to {value[:60]}"
    in_front = isinstance(document.meta.get(key), str) if document.front_raw else False
    if (
        section is None
        and document.front_raw
        and ((key in SETTINGS and not SETTINGS[key].section) or (in_front and key not in ("type", "updated")))
    ):
        return Edit({FILE: document.set_meta(key, value)}, summary)
    document, index, number = _place(document, key, section)
    block = document.block(index, number)
    new = check_field_value(block, key, changed_value(key, block.fields.get(key), value))
    if number is None and not block.body.strip():
        new = block.with_body(with_end(block.body, new.body[: len(new.body) - len(block.body)], document, index))
    return Edit({FILE: document.with_block(index, number, new)}, summary)


def _place(document: Document, key: str, section: str | None) -> tuple[Document, int, int | None]:
    """Return the document and the block (section, entry) that a key is set in; a missing section is added."""
    found = None if section is None else document.find(section)
    for index, number, block, _ in document.blocks():
        if (found is None or index in found) and key in block.fields:
            return document, index, number
    title = section or (key in SETTINGS and SETTINGS[key].section) or "Workspace"
    places = document.find(title)
    if places:
        return document, places[0], None
    new = Section.compose(title, newline=document.newline)
    # Workspace applies to all others, so it comes first.
    at = 0 if title == "Workspace" else len(document.sections)
    return document.insert_section(at, new), at, None


def unset_setting(snapshot: Snapshot, key: str, *, now: datetime) -> Edit:  # noqa: ARG001 - as the other edits
    """Remove a key from all its places; raises NotFoundError `config.not_found`, UsageError in the front matter."""
    get_setting(snapshot, key)
    document = snapshot.document(FILE)
    if document.front_raw and document.meta.get(key) is not None:
        raise UsageError("config.front", f"{key} is in the front matter", "remove it with an editor")
    for index, number, block, _ in document.blocks():
        if key in block.fields:
            document = document.with_block(index, number, block.unset_field(key))
    return Edit({FILE: document}, f"removed {key}")
