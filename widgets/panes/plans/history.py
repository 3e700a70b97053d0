"""A plan's progress over time as small bars, each with its words beside it."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from widgets.detail import Caption, DetailLine, Labelled, Prose, Spacer
from widgets.text.glyphs import Glyphs
from widgets.text.styled_text import Line, Piece, line

if TYPE_CHECKING:
    from memory.files.plans.progress import PlanProgress


def level(done: int, total: int, glyphs: Glyphs) -> str:
    """The cell of so many done of all: the lowest for none only, the highest for all only."""
    top = len(glyphs.spark) - 1
    if done <= 0 or total <= 0:
        return glyphs.spark[0]
    if done >= total:
        return glyphs.spark[top]
    return glyphs.spark[min(top - 1, max(1, round(top * done / total)))]


def history_lines(progress: PlanProgress, today: date, glyphs: Glyphs) -> list[DetailLine]:
    """Phases and tasks that were done day by day, or week by week, and what is known of that."""
    parts: list[DetailLine] = [Spacer(), Caption(f"DONE BY {progress.unit.upper()}")]
    if progress.phases > 1:
        bar = "".join(level(one.phases, progress.phases, glyphs) for one in progress.stretches)
        parts.append(Labelled("phases", _row(bar, progress.phases_done, progress.phases)))
    bar = "".join(level(one.tasks, progress.total, glyphs) for one in progress.stretches)
    parts.append(Labelled("tasks", _row(bar, progress.done, progress.total)))
    first, last = progress.stretches[0].first, progress.stretches[-1].last
    last = min(last, max(today, first))
    since = "" if first == last else f"{day_words(first, today)} to "
    parts.append(Labelled("time", f"{since}{day_words(last, today)}"))
    day, task = progress.latest
    parts.append(Labelled("last done", f"{task.title or task.id}, {day_words(day, today)}"))
    parts.append(Prose(known_words(progress), tone="muted"))
    return parts


def _row(bar: str, done: int, total: int) -> Line:
    return line(Piece(bar, "accent"), f"  {done} of {total} done")


def day_words(day: date, today: date) -> str:
    """A day in few words: `today`, `14 Jan`, with the year where it is another one."""
    if day == today:
        return "today"
    return f"{day.day} {day:%b}" if day.year == today.year else f"{day.day} {day:%b} {day.year}"


def known_words(progress: PlanProgress) -> str:
    """Where the days come from, and how many done tasks nobody noted a day of."""
    if progress.logged == progress.dated:
        source = "Seen in the change log."
    elif not progress.logged:
        source = "By the dates of tasks."
    else:
        source = f"{progress.logged} seen in the change log, {progress.dated - progress.logged} by the dates of tasks."
    if not progress.undated:
        return source
    return (
        f"{source} When {'1 more was' if progress.undated == 1 else f'{progress.undated} more were'} done is not known."
    )
