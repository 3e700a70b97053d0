"""The person's rules for agents: which changes are made at once, wait for the person, or are refused.

They are kept in the private state folder of the workspace (`review/policy.json`), where no repository brings any along.
"""

from __future__ import annotations

from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any, Literal, NamedTuple

from memory.errors import NotFoundError, UsageError
from memory.storage.changes import is_agent
from memory.storage.own_folders import PrivateState
from memory.storage.private.record import Settings

Decision = Literal["apply", "review", "deny"]
Kind = Literal["add", "move", "rewrite", "remove"]
DECISIONS: tuple[Decision, ...] = ("apply", "review", "deny")
ANY = "*"
"""The kind of a rule for all kinds."""
KINDS: dict[Kind, tuple[Decision, str]] = {
    "add": ("apply", "adds an entry, a field or a line"),
    "move": ("apply", "moves what a person wrote, starts, finishes or reopens it, or notes its progress"),
    "rewrite": ("review", "rewrites what a person wrote"),
    "remove": ("review", "removes what a person wrote"),
}
"""The kinds of changes: what happens to one where no rule says otherwise, and the kind in words.

What agents wrote, agents change at once; only a rule for all kinds is about that too.
"""


class Rule(NamedTuple):
    """One rule: for the agents that a pattern fits (`agent:*`), and a kind of change or `*`."""

    actor: str
    kind: str
    decision: Decision


Policy = tuple[Rule, ...]


def decide(policy: Policy, actor: str, kind: Kind, *, persons: bool = True) -> Decision:
    """Return what happens to a change of a kind by an agent: as the most exact rule says, else the usual.

    `persons` says whether it is about a person's text, or new.
    """
    kinds = (kind, ANY) if persons else (ANY,)
    fitting = [rule for rule in policy if rule.kind in kinds and fnmatchcase(actor.casefold(), rule.actor.casefold())]
    if not fitting:
        return KINDS[kind][0] if persons else "apply"
    return max(fitting, key=lambda rule: (rule.actor == actor, len(rule.actor), rule.kind != ANY)).decision


def read_policy(state: PrivateState) -> Policy:
    """Return the rules; ConfigError `review.policy` where the file holds anything else, RefusedError `state.*`.

    A damaged file is no reason to let an agent do what the person wanted to see first, so nothing counts as usual then.
    """
    return _SETTINGS.read(state)


def set_rule(state: PrivateState, actor: str, kind: str, decision: str | None, *, now: datetime) -> Policy:
    """Set the rule for an actor and a kind, or take it away without a decision; return all rules.

    UsageError `review.rule` for a rule that cannot hold, NotFoundError `review.no_rule`; errors as `read_policy`.
    """
    new = () if decision is None else (_rule(actor.strip(), kind, decision),)

    def change(old: Policy) -> Policy:
        others = tuple(rule for rule in old if (rule.actor, rule.kind) != (actor.strip(), kind))
        if not new and others == old:
            raise NotFoundError("review.no_rule", f"there is no rule for {actor} and {kind}", "list them")
        return (*others, *new)

    return _SETTINGS.change(state, change, command="review policy", now=now)


def _rule(actor: str, kind: str, decision: str) -> Rule:
    if not is_agent(actor) or len(actor) > 80 or not actor.isprintable():
        raise UsageError("review.rule", f"{actor[:80]!r} is not an agent", "write agent:NAME, or agent:* for all")
    if kind != ANY and kind not in KINDS:
        raise UsageError("review.rule", f"{kind[:40]!r} is not a kind of change", f"write {', '.join(KINDS)} or *")
    for one in DECISIONS:
        if one == decision:
            return Rule(actor, kind, one)
    raise UsageError("review.rule", f"{decision[:40]!r} is not a decision", f"write {', '.join(DECISIONS)}")


def _parse(document: dict[str, Any]) -> Policy:
    return tuple(_rule(rule["actor"], rule["kind"], rule["decision"]) for rule in document["rules"])


_SETTINGS = Settings[Policy](
    "review",
    "policy.json",
    (),
    _parse,
    lambda policy: {"rules": [rule._asdict() for rule in policy]},
    code="review.policy",
    what="the rules for agents",
    remedy="fix the file, or remove it and set them again; agents change nothing meanwhile",
)
