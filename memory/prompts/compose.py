"""A prompt and its blocks, each from one system, with its reason and its cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from memory.base.safe_text import cut, one_line, visible
from memory.base.scan import fenced, harmless, why_not

_LONGEST = 700
_SHARES = (0.12, 0.4, 1.0)
"""The part of a budget that one section may have, in each of the rounds in which it is spent."""
_FIRST = {"Pinned": 1.0, "Rules and preferences": 0.3, "Overdue": 0.2, "Due today": 0.2}
"""The part of the sections that have more in the first round."""
_REST = 40
"""Tokens for the sentence about what was left out."""
_KINDS = {"orchestration": "plans"}
_SOURCE = "workspace"


def tokens_of(text: str) -> int:
    """Return the approximate tokens of a text: a fourth of its characters, rounded up."""
    return -(-len(text) // 4)


class PromptBlock(NamedTuple):
    """One line for a prompt: `section` is the heading above it, `score` is between 0 and 1.

    `text` is safe: one line, without hidden characters, and it cannot end the fence around the memory.
    """

    system: str
    section: str
    ref: str | None
    title: str
    reason: str
    text: str
    score: float = 1.0
    included: bool = True
    choice: str = ""
    """The person's choice for it, `pin` or `mute`; `suspicious` for one that is withheld; or empty."""
    suspicion: str = ""
    """The rules of the content scan that it breaks; it is told only after a person approved the entry."""

    @classmethod
    def of(
        cls, system: str, section: str, ref: str | None, title: str, reason: str, more: str, score: float, text: str
    ) -> PromptBlock:
        """Return the block of an entry: its ref, its title, and what else it says; `text`, all of it, is scanned."""
        name = f"{ref} " if ref else ""
        line = f"- {name}{title}" + (f" ({more})" if more else "")
        # A line of an entry may be sound where the entry is not.
        suspicion = why_not(system, ref or "", title, more) or why_not(system, title, text)
        return cls(system, section, ref, title, reason, safe_line(line), score, suspicion=suspicion)

    def withheld(self) -> PromptBlock:
        """Return the block of an entry that is not told: its ref, and why."""
        title = f"(looks suspicious: {self.suspicion})"
        ref = None if why_not(self.system, self.ref or "") else self.ref
        text = f"- {ref} {title}" if ref else f"- {title}"
        return self._replace(ref=ref, title=title, text=text, included=False, choice="suspicious")

    @property
    def tokens(self) -> int:
        """The cost of the line."""
        return tokens_of(self.text + "\n")

    def json(self) -> dict[str, Any]:
        """Return it for programs."""
        return {
            "system": self.system,
            "ref": self.ref,
            "title": visible(self.title),
            "reason": self.reason,
            "score": self.score,
            "tokens": self.tokens,
            "included": self.included,
            "choice": self.choice,
            "text": self.text,
        }


class AgentPrompt(NamedTuple):
    """The injected prompt: `text` has all blocks that fit into `budget` tokens; `blocks` also has those left out."""

    budget: int
    text: str
    blocks: tuple[PromptBlock, ...]

    @property
    def below(self) -> tuple[PromptBlock, ...]:
        """The blocks that did not fit into the budget."""
        return tuple(one for one in self.blocks if not one.included and one.choice not in ("mute", "suspicious"))

    @property
    def muted(self) -> tuple[PromptBlock, ...]:
        """The blocks that the person muted."""
        return tuple(one for one in self.blocks if one.choice == "mute")

    @property
    def suspicious(self) -> tuple[PromptBlock, ...]:
        """The blocks that look suspicious and are not approved."""
        return tuple(one for one in self.blocks if one.choice == "suspicious")

    @property
    def used(self) -> int:
        """The tokens of the text."""
        return tokens_of(self.text)

    def json(self) -> dict[str, Any]:
        """Return it for programs."""
        return {
            "budget": self.budget,
            "used": self.used,
            "text": self.text,
            "blocks": [one.json() for one in self.blocks],
        }


def safe_line(text: str) -> str:
    """Return a text on one line, hidden characters made visible, cut if very long; it holds no tag."""
    return harmless(cut(one_line(text), _LONGEST))


def composed(
    blocks: list[PromptBlock],
    budget: int,
    *,
    tells_rest: bool = False,
) -> AgentPrompt:
    """Return the prompt of blocks in their order, whole ones that are `included` and fit.

    No section takes more than its share before the others got theirs, and in the last round what still fits is added.
    `tells_rest` adds a sentence about what was left out, and how to read it.
    """
    room = budget - tokens_of(fenced("-", _SOURCE))
    costs = {at: tokens_of(f"{one.text}\n") for at, one in enumerate(blocks) if one.included}
    headings = {one.section: tokens_of(f"## {one.section}\n") for one in blocks}
    if tells_rest and sum(costs.values()) + sum(headings.values()) > room:
        room -= _REST
    chosen: set[int] = set()
    spent: dict[str, int] = {}
    for share in _SHARES:
        full: set[str] = set()
        for at, cost in costs.items():
            section = blocks[at].section
            if at in chosen or section in full:
                continue
            before = spent.get(section, 0)
            total = (before or headings[section]) + cost
            others = sum(spent.values()) - before
            if total <= max(share, _FIRST.get(section, 0.0)) * room and others + total <= room:
                spent[section] = total
                chosen.add(at)
            elif share < 1:
                full.add(section)  # A smaller entry does not overtake a more useful one.
    told = [one._replace(included=at in chosen) for at, one in enumerate(blocks)]
    lines = []
    for section in dict.fromkeys(one.section for one in told if one.included):
        lines += [f"## {section}", *(one.text for one in told if one.included and one.section == section)]
    rest = [one for at, one in enumerate(told) if at in costs and at not in chosen]
    if rest and tells_rest:
        lines.append(_left_out(rest))
    return AgentPrompt(budget, fenced("\n".join(lines), _SOURCE), tuple(told))


def _left_out(rest: Iterable[PromptBlock]) -> str:
    """Return the sentence about what did not fit: how many of each kind, and how to get them."""
    names = ((one.ref or one.system).partition("#")[0] for one in rest)
    counts = Counter(_KINDS.get(name, name) for name in names)
    kinds = ", ".join(f"{kind} ({count})" for kind, count in counts.items())
    return f"No room was left for more: {kinds}. List them by `read` and the kind, or find them by `search`."
