"""What memdeck must have said about a hostile workspace, so that one that was never read does not pass."""

from __future__ import annotations

import json

from .case import Case
from .client import Verdict


def missing(case: Case, verdict: Verdict) -> list[str]:
    """Return a sentence for everything that should have been said and was not."""
    if verdict.skip or not case.asks:
        return []
    wrong = []
    try:
        rows = json.loads(verdict.printed.get("trust json", ""))["trust"]
    except ValueError:
        rows = []
    found = {f"{row['state']} {row['role']} {row['name'].strip()}" for row in rows}
    wrong += [f"trust list does not say: {ask}, but {sorted(found)}" for ask in case.asks if ask not in found]
    checks = any(ask.split()[1] in ("check", "url") for ask in case.asks)
    if checks and verdict.exits.get("monitors check") != case.ends:
        wrong.append(f"monitors check ends with {verdict.exits.get('monitors check')}")
    return wrong
