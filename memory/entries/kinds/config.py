"""Settings of config.md as entries: the title is the key, the field `value` its value."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memory.entries.model import derived_ref
from memory.errors import NotFoundError, UsageError

from .in_files import InFiles
from .values import refuse_unknown, text_of, texts_of

if TYPE_CHECKING:
    from memory.entries.model import Changes
    from memory.files.edit import Edit
    from memory.files.snapshot import Snapshot
    from memory.search import Record


class ConfigEntries(InFiles):
    """The settings of config.md; of a key that stands twice the one that counts."""

    name = verb = "config"
    compact = True

    def located(self, snapshot: Snapshot, ref: str) -> Record:
        """Return the record of a setting."""
        from memory.search import records

        found = [record for record in records(snapshot, (self.name,)) if derived_ref(record) == ref]
        if not found:
            raise NotFoundError(
                "config.not_found", f"no setting has the ref {ref[:60]!r}", "list them to see their refs"
            )
        counts = snapshot.config.setting(found[0].title)
        return next((record for record in found if record.item is counts), found[0])

    def source(self, record: Record) -> str:
        """Return nothing: the value is a field."""
        return ""

    def added(self, snapshot: Snapshot, title: str, fields: Mapping[str, Any], text: str | None, now: datetime) -> Edit:
        """Set a key that is not there yet."""
        from memory.files.config import FILE, set_setting

        refuse_unknown(fields, ("value", "section"), "a setting")
        values = texts_of(fields)
        value = values.get("value") or (text or "")
        if not value.strip():
            raise UsageError("config.value", "a setting needs a value", "send it as the field value")
        if snapshot.config.setting(title) is not None:
            raise UsageError("config.exists", f"config.md has {title[:60]!r} already", "edit it by its ref")
        edit = set_setting(snapshot, title, value, section=values.get("section"), now=now)
        return _with_ref(edit, FILE, title)

    def edited(self, snapshot: Snapshot, record: Record, ref: str, changes: Changes, now: datetime) -> Edit:
        """Give it another value."""
        from memory.files.config import FILE, set_setting

        refuse_unknown({**changes.set, **dict.fromkeys(changes.unset)}, ("value",), "a setting")
        value = changes.text if changes.text is not None else changes.set.get("value")
        if value is None:
            raise UsageError("config.value", "a setting needs a value", "remove it to take it away")
        return _with_ref(set_setting(snapshot, record.title, text_of("value", value), now=now), FILE, record.title)

    def removed(self, snapshot: Snapshot, ref: str, now: datetime) -> Edit:
        """Take the key out."""
        from memory.files.config import unset_setting

        return unset_setting(snapshot, self.located(snapshot, ref).title, now=now)


def _with_ref(edit: Edit, file: str, key: str) -> Edit:

    from memory.files.refs.refs import identity_hex

    return edit._replace(ref=f"config#{identity_hex('config', file, key)}")
