"""A prompt and its blocks, each from one system, with its reason and its cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from memory.base.safe_text import visible
from memory.base.told import fenced, harmless, why_not

_LONGEST = 400


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
        cls, system: str, section: str, ref: str | None, title: str, reason: str, more: str = "", score: float = 1.0
    ) -> PromptBlock:
        """Return the block of an entry: its ref, its title, and more about it in parentheses."""
        name = f"{ref} " if ref else ""
        line = f"- {name}{title}" + (f" ({more})" if more else "")
        return cls(
            system,
            section,
            ref,
            title,
            reason,
            safe_line(line),
            score,
            suspicion=why_not(system, ref or "", title, more),
        )

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
        """The blocks that look suspicious, and that nobody approved."""
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


class PromptPreview(NamedTuple):
    """The prompt of an agent; `why` is why nothing sends it automatically, and is empty if a hook does."""

    prompt: AgentPrompt
    why: str = ""


def safe_line(text: str) -> str:
    """Return a text on one line, hidden characters made visible, cut if very long; it holds no tag."""
    line = visible(" ".join(text.split()) if "\n" in text else text)
    if len(line) > _LONGEST:
        line = line[: _LONGEST - 1] + "…"
    return harmless(line)


def composed(
    blocks: list[PromptBlock], budget: int, source: str, may_tell: Callable[[PromptBlock], bool] = lambda _: False
) -> AgentPrompt:
    """Return the prompt of blocks in their order, with each one that fits, is not muted and may be told.

    `may_tell` is asked about the blocks that look suspicious; of those it refuses, not even the title is kept.
    """
    left = budget - tokens_of(fenced("-", source))
    headings: set[str] = set()
    lines: list[str] = []
    judged: list[PromptBlock] = []
    for block in blocks:
        if block.choice == "mute":
            judged.append(block._replace(included=False))
            continue
        if block.suspicion and not may_tell(block):
            judged.append(block.withheld())
            continue
        heading = "" if block.section in headings else f"## {block.section}\n"
        cost = tokens_of(f"{heading}{block.text}\n")
        if cost > left:
            judged.append(block._replace(included=False))
            continue
        left -= cost
        headings.add(block.section)
        lines.append(f"{heading}{block.text}\n")
        judged.append(block)
    return AgentPrompt(budget, fenced("".join(lines), source), tuple(judged))
