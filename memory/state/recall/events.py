"""Builds the events that memdeck itself writes, and those of imported sessions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from memory.state.files.json_text import digest
from memory.state.files.model import LOCAL_SOURCE, OWN_REF, SIGNALS, Json

_MOST, _MOST_PATHS = 12, 16
_LONGEST = 400


def tool_run(name: str, command: str, bundle: Json, bundle_hash: str, created: str, summary: str, diff: Any) -> Json:
    """Return the event of a command that wrote a bundle; `diff` is what a recall changed, None for other commands."""
    return {
        "id": name,
        "kind": "tool_run",
        "sourceId": LOCAL_SOURCE,
        "externalItemId": None,
        "createdAt": created,
        "contentHash": digest({"bundleHash": bundle_hash, "commandName": command, "diffSummary": diff}),
        "summary": summary,
        "signals": signals_of(bundle),
        "sourceRef": OWN_REF + command,
    }


def signals_of(bundle: Json) -> dict[str, list[str]]:
    """Return the content of a bundle as signals, the first few of each kind."""
    project, parts, focus = bundle["project"], bundle["projectMap"], bundle["currentFocus"]
    snapshot = focus["validationSnapshot"]
    return {
        "decisions": _some(
            [*parts["architectureNotes"], *(f"{m['path']}: {m['responsibility']}" for m in parts["modules"])]
        ),
        "gotchas": _some(f"{one['title']}: {one['cause']}" for one in bundle["gotchas"]),
        "nextStepHints": _some(f"{one['title']}: {one['start']}" for one in bundle["nextSteps"]),
        "keyPaths": _some(
            [*project["keyPaths"], *(one["path"] for one in parts["entrypoints"]), *parts["firstFilesToRead"]],
            _MOST_PATHS,
        ),
        "validationObservations": _some(
            [snapshot["summary"], *(f"{one['command']}: {one['summary']}" for one in snapshot["results"])]
        ),
    }


def _some(texts: Iterable[str], most: int = _MOST) -> list[str]:
    return list(dict.fromkeys(text for text in texts if text.strip()))[:most]


def imported(name: str, source: str, item: Any) -> Json:
    """Return the event of an imported session (`imports.ImportedItem`)."""
    return {
        "id": name,
        "kind": "imported_session",
        "sourceId": source,
        "externalItemId": item.external_item_id,
        "createdAt": item.created_at,
        "contentHash": item.content_hash,
        "summary": item.summary if item.summary.strip() else f"Session {item.external_item_id}",
        "signals": {kind: [one for one in item.signals.get(kind, ()) if one.strip()] for kind in SIGNALS},
        "sourceRef": item.source_ref,
    }


def short(text: str) -> str:
    """Return a text on one line that is short enough for a summary."""
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
