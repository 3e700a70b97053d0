"""The person's rules for agents: which changes are made at once, wait for the person, or are refused.

They are kept in the private state folder of the workspace (`review/policy.json`), where no repository brings any along.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any, Literal, NamedTuple

from memory.errors import NotFoundError, UsageError
from memory.storage.changes import OWN, PERSONS, is_agent
from memory.storage.own_folders import PrivateState
from memory.storage.private.settings import Settings

Decision = Literal["apply", "review", "deny"]
Kind = Literal["add", "status", "move", "rewrite", "remove", "agents", "own"]


DECISIONS: tuple[Decision, ...] = ("apply", "review", "deny")
KINDS: tuple[Kind, ...] = ("add", "status", "move", "rewrite", "remove", "agents", "own")
ANY = "*"
"""The kind of a rule for all kinds."""
USUAL: dict[Kind, Decision] = {
    "add": "apply",
    "status": "apply",
    "move": "apply",
    "rewrite": "review",
    "remove": "review",
    "agents": "apply",
    "own": "apply",
}
"""The policy for an agent where no rule of the person says otherwise."""
WORDS: dict[Kind, str] = {
    "add": "adds an entry, a field or a line",
    "status": "starts, finishes or reopens what a person wrote, and notes its progress",
    "move": "moves what a person wrote, and leaves it as it is",
    "rewrite": "rewrites what a person wrote",
    "remove": "removes what a person wrote",
    "agents": "changes what other agents wrote",
    "own": "changes what it wrote itself",
}
"""The kinds in words."""


class Rule(NamedTuple):
    """One rule: for the actors that a pattern fits (`agent:*`), and a kind of change or `*`."""

    actor: str
    kind: str
    decision: Decision

    def json(self) -> dict[str, str]:
        """Return it for programs."""
        return {"actor": self.actor, "kind": self.kind, "decision": self.decision}


class Policy(NamedTuple):
    """All rules of a workspace; the most exact one for an actor and a kind counts, else the usual decision."""

    rules: tuple[Rule, ...] = ()

    def covers(self, actor: str) -> bool:
        """Tell whether anything holds for an actor: for every agent, and for whom a rule names."""
        return is_agent(actor) or any(fnmatchcase(actor, rule.actor) for rule in self.rules)

    def decide(self, actor: str, kind: Kind) -> Decision:
        """Return what happens to a change of a kind by an actor."""
        fitting = [
            rule
            for rule in self.rules
            if rule.kind in (kind, ANY) and (rule.actor == actor or fnmatchcase(actor, rule.actor))
        ]
        if not fitting:
            return USUAL[kind] if is_agent(actor) else "apply"
        return max(fitting, key=lambda rule: (rule.actor == actor, len(rule.actor), rule.kind != ANY)).decision

    def strictest(self, actor: str, kinds: Iterable[Kind]) -> Decision:
        """Return what happens to a change that is of several kinds."""
        return max((self.decide(actor, kind) for kind in kinds), key=DECISIONS.index, default="apply")

    def with_rule(self, rule: Rule) -> Policy:
        """Return the rules with one more, in place of that for the same actor and kind."""
        others = tuple(one for one in self.rules if (one.actor, one.kind) != (rule.actor, rule.kind))
        return Policy((*others, rule))

    def without(self, actor: str, kind: str) -> Policy:
        """Return the rules without one; NotFoundError `review.no_rule`."""
        others = tuple(one for one in self.rules if (one.actor, one.kind) != (actor, kind))
        if others == self.rules:
            raise NotFoundError("review.no_rule", f"there is no rule for {actor} and {kind}", "list them")
        return Policy(others)


def checked_rule(actor: str, kind: str, decision: str) -> Rule:
    """Return a rule that can hold; UsageError `review.rule` for one that cannot."""
    actor = actor.strip()
    if not actor or len(actor) > 80 or not actor.isprintable():
        raise UsageError("review.rule", f"{actor[:80]!r} is no actor", "write agent:NAME, or agent:* for all")
    if actor in PERSONS | OWN:
        raise UsageError("review.rule", f"no rule can hold for {actor}", "rules are for agents")
    if kind != ANY and kind not in KINDS:
        raise UsageError("review.rule", f"{kind[:40]!r} is no kind of change", f"write {', '.join(KINDS)} or *")
    for one in DECISIONS:
        if one == decision:
            return Rule(actor, kind, one)
    raise UsageError("review.rule", f"{decision[:40]!r} is no decision", f"write {', '.join(DECISIONS)}")


def read_policy(state: PrivateState) -> Policy:
    """Return the rules; ConfigError `review.policy` where the file holds anything else, RefusedError `state.*`.

    A damaged file is no reason to let an agent do what the person wanted to see first, so nothing counts as usual then.
    """
    return _SETTINGS.read(state)


def change_policy(state: PrivateState, change: Callable[[Policy], Policy], *, now: datetime) -> Policy:
    """Replace the rules by what `change` makes of them, under a lock, and return them; errors as `read_policy`."""
    return _SETTINGS.change(state, change, command="review policy", now=now)


def _parse(document: dict[str, Any]) -> Policy:
    return Policy(tuple(checked_rule(rule["actor"], rule["kind"], rule["decision"]) for rule in document["rules"]))


_SETTINGS = Settings(
    "review",
    "policy.json",
    Policy(),
    _parse,
    lambda policy: {"rules": [rule.json() for rule in policy.rules]},
    code="review.policy",
    what="the rules for agents",
    remedy="mend the file, or remove it and set them anew; agents change nothing meanwhile",
)
