"""The closed list of what a job may request of a host. Anything else is refused: no part of a job is ever a command."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from memory.errors import RefusedError
from memory.registry import kinds

TASK = "memdeck.job"
"""The engine's task that does jobs."""
TICK = "memdeck.tick"
"""The periodic task that adds a maintenance job for each workspace of a host."""
CLEAR = "memdeck.clear"
"""The periodic task that clears old records of jobs."""
MOST_HITS = 1_000


@dataclass(frozen=True, slots=True)
class Maintain:
    """Maintain a workspace, for a due time or, without one, for now."""

    due: datetime | None = None
    dry_run: bool = False
    actor: str = "maintain"


@dataclass(frozen=True, slots=True)
class Check:
    """Return the problems of a workspace."""


@dataclass(frozen=True, slots=True)
class Search:
    """Search in the files of a workspace."""

    query: str
    limit: int
    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Revert:
    """Take one change back; `approval` is the number of the approval in the catalogue."""

    change: str
    approval: int


Verb = Maintain | Check | Search | Revert


@dataclass(frozen=True, slots=True)
class WorkspaceJob:
    """A parsed job: a verb on a workspace, by its number in the catalogue."""

    workspace: int
    verb: Verb


def read_work(arguments: Mapping[str, Any]) -> WorkspaceJob:
    """Parse the arguments of a job; RefusedError `fleet.job_refused` for anything that is not on the list."""
    if set(arguments) != {"verb", "workspace", "arguments"}:
        raise _refused("a job has a verb, a workspace and arguments")
    name, workspace, given = arguments["verb"], arguments["workspace"], arguments["arguments"]
    if not isinstance(workspace, int) or isinstance(workspace, bool):
        raise _refused("the workspace is no number")
    if not isinstance(given, dict):
        raise _refused("the arguments are no object")
    if not isinstance(name, str) or name not in _VERBS:
        raise _refused(f"{str(name)[:40]!r} is no verb of jobs")
    known, read = _VERBS[name]
    for one in given:
        if one not in known:
            raise _refused(f"{str(one)[:40]!r} is no argument of this verb")
    return WorkspaceJob(workspace, read(given))


def name_of(verb: Verb) -> str:
    """Return the name of a verb in the arguments and the results of jobs."""
    return type(verb).__name__.lower()


def arguments_of(work: WorkspaceJob) -> dict[str, Any]:
    """Return the arguments of a job for the engine; `read_work` parses them."""
    given = {key: value for key, value in asdict(work.verb).items() if value is not None}
    if isinstance(work.verb, Maintain) and work.verb.due is not None:
        given["due"] = work.verb.due.isoformat()
    elif isinstance(work.verb, Search):
        given["kinds"] = list(work.verb.kinds)
    return {"verb": name_of(work.verb), "workspace": work.workspace, "arguments": given}


def _maintain(given: Mapping[str, Any]) -> Maintain:
    return Maintain(_time(given.get("due")), _flag(given.get("dry_run", False)), _actor(given))


def _check(_: Mapping[str, Any]) -> Check:
    return Check()


def _revert(given: Mapping[str, Any]) -> Revert:
    change, approval = given.get("change"), given.get("approval")
    if not _is_name(change) or not isinstance(approval, int) or isinstance(approval, bool):
        raise _refused("a revert names a change and an approval")
    return Revert(str(change), approval)


def _search(given: Mapping[str, Any]) -> Search:
    query, limit, some = given.get("query"), given.get("limit"), given.get("kinds", [])
    if not isinstance(query, str) or len(query) > 2_000:
        raise _refused("a search has a query of at most 2,000 characters")
    if not isinstance(limit, int) or isinstance(limit, bool) or not 0 <= limit <= MOST_HITS:
        raise _refused(f"the limit of a search is a number up to {MOST_HITS:,}")
    known = kinds()
    if not isinstance(some, list) or any(one not in known for one in some):
        raise _refused("a search names kinds that are not known")
    return Search(query, limit, tuple(some))


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise _refused("dry_run is true or false")
    return value


def _time(value: Any) -> datetime | None:
    if value is None:
        return None
    try:
        found = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise _refused("a due time is written as 2024-01-15T10:30:00+00:00") from None
    if found.tzinfo is None or not 1900 <= found.year <= 9998:
        raise _refused("a due time names its zone, and a year from 1900 to 9998")
    return found


def _actor(given: Mapping[str, Any]) -> str:
    actor = given.get("actor", "maintain")
    if not _is_name(actor):
        raise _refused("an actor is a name of at most 80 characters")
    return str(actor)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 80 and value.isprintable() and value == value.strip()


def _refused(why: str) -> RefusedError:
    return RefusedError("fleet.job_refused", f"the job is refused: {why}", "see docs/fleet.md for what a job may ask")


_VERBS: dict[str, tuple[frozenset[str], Callable[[Mapping[str, Any]], Verb]]] = {
    "maintain": (frozenset({"due", "dry_run", "actor"}), _maintain),
    "check": (frozenset(), _check),
    "search": (frozenset({"query", "limit", "kinds"}), _search),
    "revert": (frozenset({"change", "approval"}), _revert),
}
"""By its name: the arguments that a verb may have, and the function that reads them."""
