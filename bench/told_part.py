"""What an agent is told for a message: two sets of forty, one for tuning and a fresh one, on a realistic workspace."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from bench.places import Places
from bench.told_set.workspace import NOW, make_workspace
from memory.prompts.brief import MESSAGE_TOKENS, brief, for_message
from memory.systems import searcher_of

HERE = Path(__file__).with_name("told_set")
SETS = ("tuning", "fresh")


class Message(NamedTuple):
    """A message: for each thing that it asks for, the texts of which one has to be told; none where nothing fits."""

    needs: tuple[tuple[str, ...], ...]
    text: str

    def answered(self, told: str) -> bool:
        """Return whether what is told has all that the message needs."""
        return all(any(one in told for one in ways) for ways in self.needs)


def messages(name: str) -> list[Message]:
    """Return the messages of a set."""
    found = []
    for row in (HERE / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        if row.startswith("#"):
            continue
        right, _, text = row.partition("\t")
        needs = () if right == "-" else tuple(tuple(part.split("|")) for part in right.split("&"))
        found.append(Message(needs, text))
    return found


def told_table(places: Places, *, only: str = "", details: bool = False) -> str:
    """Return how many messages of each set get what answers them, how many get noise, and what the brief costs."""
    folder = places.folder / "told"
    home = folder / "home"
    home.mkdir(parents=True)
    lines = [f"told · at most {MESSAGE_TOKENS} tokens a message", ""]
    with make_workspace(folder / "tidepool", folder / "state", home) as workspace:
        with closing(searcher_of(workspace)) as searcher:
            for name in SETS if not only else (only,):
                right = noise = cost = entries = 0
                for one in messages(name):
                    found = for_message(workspace, NOW, one.text, searcher=searcher)
                    fits = one.answered(found.text)
                    noisy = not one.needs and bool(found.text)
                    right, noise, cost = right + (fits and not noisy), noise + noisy, cost + found.used
                    entries += sum(block.included for block in found.blocks)
                    if details and (not fits or noisy):
                        lines.append(f"{'noise' if noisy else 'missed'}: {one.text}\n{found.text}")
                count = len(messages(name))
                lines.append(
                    f"  {name:<8} {right} of {count} right, {noise} with noise; "
                    f"{entries / count:.1f} entries and {cost / count:.0f} tokens a message"
                )
        found = brief(workspace, NOW, agent="claude-code")
        lines.append(
            f"  brief    {found.used} of {found.budget} tokens, {sum(b.included for b in found.blocks)} entries"
        )
        if details:
            lines.append(found.text)
    return "\n".join(lines) + "\n"
