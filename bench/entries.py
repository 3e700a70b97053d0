"""One task or journal entry after the other, in the many forms that real files show."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TypeVar

from bench import words

T = TypeVar("T")


class Writer:
    """Writes entries from one seeded source of chance and keeps their mean length near what is asked."""

    def __init__(self, seed: int, now: datetime) -> None:
        """Start the source of chance; `now` is the wall clock that dates are counted from."""
        self.now = now
        self._chance = random.Random(seed).random
        self._debt = 0.0
        self._saved = 0.0

    def pick(self, choices: Sequence[T]) -> T:
        """Return one of `choices`."""
        return choices[int(self._chance() * len(choices))]

    def title(self) -> str:
        """Return a task title: most are a few English words, some long, some in another script."""
        dice = self._chance()
        if dice < 0.08:
            return self.pick(words.FOREIGN_TITLES)
        text = f"{self.pick(words.VERBS)} {self.pick(words.THINGS)} {self.pick(words.PLACES)}".rstrip()
        if dice < 0.12:
            text += f" and {self.pick(words.VERBS).lower()} {self.pick(words.THINGS)}, then tell everybody"
        return text

    def minutes(self, count: int, *, before_now: bool) -> list[int]:
        """Return `count` minutes of a day, none later than `now` if that day is today."""
        last = self.now.hour * 60 + self.now.minute + 1 if before_now else 1440
        return [int(self._chance() * last) for _ in range(count)]

    def task(self, section: str, days_ago: float, title: str | None, average: int) -> str:
        """Return the source of one task, followed by a blank line.

        `days_ago` is when a completed one was completed; `average` the mean length in bytes over many tasks.
        """
        chance = self._chance
        dice = chance()
        priority = "HIGH" if dice < 0.2 else "NORMAL" if dice < 0.75 else "LOW"
        parts = [f"### [{priority}] {title or self.title()}\n"]
        add = parts.append
        ago = int(chance() * 40)
        if section == "Pending":
            self._due(parts)
        elif section == "In Progress":
            add(f"- started: {self._day(-min(ago, 9))} {int(chance() * 24):02}:15\n")
        else:
            moment = self.now - timedelta(days=days_ago)
            add(f"- completed: {moment:%Y-%m-%d %H:%M}\n")
        if chance() < 0.9:
            add(f"- assigned: {self.pick(words.AGENTS)}\n")
        if chance() < 0.7:
            add(f"- created: {self._day(-ago)}\n")
        if section == "In Progress":
            add(f"- progress: {int(chance() * 21) * 5}%\n")
            if chance() < 0.6:
                add(f"- lastUpdate: {self.pick(words.SENTENCES)}\n")
            if chance() < 0.3:
                add(f"- orchestrationId: orch-{int(chance() * 0xFFFFFF):06x}\n")
        if chance() < 0.85:
            add(f"- tags: {self.pick(words.TAGS)}, {self.pick(words.TAGS)}\n")
        if section.startswith("Completed"):
            add(f"- outcome: {self.pick(words.OUTCOMES)}\n")
        elif chance() < 0.4:
            add(f"- action: {self.pick(words.ACTIONS)}\n")
        if chance() < 0.08:
            key, value = self.pick(words.UNKNOWN_FIELDS)
            add(f"- {key}: {value}\n")
        if chance() < 0.5:
            add(f"- notes: {self.pick(words.SENTENCES)}\n")
            if chance() < 0.25:
                add(f"  {self.pick(words.SENTENCES)}\n  {self.pick(words.SENTENCES)}\n")
        if chance() < 0.04:
            add(f"\n{self.pick(words.FENCES) if chance() < 0.7 else self.pick(words.TABLES)}")
        return self._finish(parts, average, "  ", longest=1_800)

    def entry(self, minute: int, average: int) -> str:
        """Return the source of one journal entry of that minute, followed by a blank line."""
        chance = self._chance
        title = self.pick(words.JOURNAL_TITLES) if chance() < 0.9 else f"Task Started: {self.title()}"
        parts = [f"### {minute // 60:02}:{minute % 60:02} — {title}\n"]
        add = parts.append
        dice = chance()
        if dice < 0.2:
            add(f"- From: {self.pick(('Alice', 'Bob', 'Carol', '王芳'))} via Telegram\n")
            add(f'- Request: "{self.pick(words.SENTENCES)}"\n')
        elif dice < 0.4:
            add(f'- Executed: "{self.title()}" → {self.pick(words.OUTCOMES)}\n')
        add(f"- {self.pick(words.SENTENCES)}\n")
        if dice > 0.985:
            add(f"\n{self.pick(words.FENCES)}")
        elif dice > 0.975:
            add(f"\n{self.pick(words.TABLES)}")
        return self._finish(parts, average, "- ", longest=1_200)

    def _due(self, parts: list[str]) -> None:
        dice = self._chance()
        day = self._day(int(self._chance() * 60) - 8)
        if dice < 0.3:
            parts.append(f"- due: {day}\n")
        elif dice < 0.6:
            parts.append(f"- due: {day} {int(self._chance() * 24):02}:30\n")
        elif dice < 0.7:
            parts.append(f"- due: {day} 09:00 (recurring: {self.pick(words.CRONS)})\n")
            parts.append(f"- cronJobId: cron-{int(self._chance() * 0xFFFFFF):06x}\n")
        elif dice < 0.74:
            parts.append(f"- due: recurring: {self.pick(words.CRONS)}\n")
        elif dice < 0.78:
            parts.append("- due: null (whenever there is time)\n")

    def _day(self, offset: int) -> str:
        return (self.now + timedelta(days=offset)).strftime("%Y-%m-%d")

    def _finish(self, parts: list[str], average: int, indent: str, longest: int) -> str:
        """Join the parts, paying back what earlier entries stayed under the average, some at great length."""
        text = "".join(parts)
        length = len(text.encode("utf-8")) + 1
        self._debt += (average - length) * 0.85
        self._saved += (average - length) * 0.15
        plain = text.rstrip("`~|\n")
        long = self._saved > longest
        if (long or self._debt > 90) and len(plain) + 1 == len(text):
            wanted = longest if long else self._debt
            more = ["" if indent == "- " or "- notes: " in text else "- notes: More of it:\n"]
            while wanted > 0:
                line = f"{indent}{self.pick(words.SENTENCES)}\n"
                more.append(line)
                wanted -= len(line.encode("utf-8"))
            added = "".join(more)
            if long:
                self._saved -= len(added.encode("utf-8"))
            else:
                self._debt -= len(added.encode("utf-8"))
            text += added
        return text + "\n"
