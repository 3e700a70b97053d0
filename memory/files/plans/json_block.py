"""The plan that an agent left as a fenced JSON block: read behind a guard, never written."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from memory.document.lines import hidden_lines, split_lines

from .parts import JsonPlan, PlanTask

MAX_CHARACTERS = 512 * 1024
MAX_TASKS = 5000
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*([^`]*)")


def read_plan_json(body: str) -> JsonPlan | None:
    """Return the first fenced JSON block of an entry's body, None where there is none; never fails.

    What the guard refuses (size, depth, no JSON, no object) is an empty plan with a problem (line, sentence).
    """
    if "```" not in body and "~~~" not in body:
        return None
    lines = [line for line, _ in split_lines(body)]
    hidden = hidden_lines(body)
    number = 0
    while number < len(lines):
        fence = _FENCE.fullmatch(lines[number]) if hidden[number] else None
        if fence is None:
            number += 1
            continue
        stop = number + 1
        while stop < len(lines) and not _closes(lines[stop], fence[1]):
            stop += 1
        info = fence[2].strip().casefold().split(" ")[0]
        text = "\n".join(lines[number + 1 : stop])
        if stop < len(lines) and (info in ("json", "jsonc") or (not info and text.lstrip().startswith("{"))):
            return _read(text, number)
        number = stop + 1
    return None


def _closes(line: str, fence: str) -> bool:
    closing = line.strip(" \t")
    return len(closing) >= len(fence) and set(closing) == {fence[0]}


def _read(text: str, line: int) -> JsonPlan:
    data: Any = None
    wrong, at = "", line
    if len(text) > MAX_CHARACTERS:
        wrong = f"is longer than {MAX_CHARACTERS // 1024} KB"
    else:
        try:
            data = json.loads(text, parse_constant=_refuse)
            wrong = "" if isinstance(data, dict) else "is not an object"
        except json.JSONDecodeError as error:
            wrong, at = f"does not parse: {error.msg}", line + error.lineno
        except (ValueError, RecursionError):
            wrong = "holds a number that is none, or is nested too deep"
    if wrong:
        return JsonPlan(line, problems=((at, f"the JSON plan {wrong}"),))
    phases = tuple(_phase(one) for one in _list(data.get("executionOrder"))[:MAX_TASKS])
    phase_of = {name: str(number) for number, ids in reversed([*enumerate(phases, 1)]) for name in ids}
    listed = [one for one in _list(data.get("tasks")) if isinstance(one, dict)]
    tasks = tuple(_task(one, phase_of) for one in listed[:MAX_TASKS])
    more = ((line, f"the JSON plan has more than {MAX_TASKS} tasks; the rest is not read"),)
    problems = more if len(listed) > MAX_TASKS else ()
    return JsonPlan(line, _word(data.get("planId")), tasks, phases, phase_of, problems)


def _refuse(name: str) -> None:
    raise ValueError(name)


def _task(data: Mapping[str, Any], phase_of: Mapping[str, str]) -> PlanTask:
    minutes = data.get("estimatedMinutes")
    usable = isinstance(minutes, int | float) and not isinstance(minutes, bool) and 0 < minutes < 1e9
    name = _word(data.get("id")) or ""
    return PlanTask(
        name,
        _word(data.get("project")),
        _word(data.get("title")) or "",
        phase_of.get(name),
        _words(data.get("dependsOn")),
        _word(data.get("status")),
        None,
        float(minutes) if usable and minutes is not None else None,
        -1,
    )


def _phase(data: Any) -> tuple[str, ...]:
    return _words(data.get("tasks", data.get("taskIds")) if isinstance(data, dict) else data)


def _list(data: Any) -> Sequence[Any]:
    return data if isinstance(data, list) else []


def _words(data: Any) -> tuple[str, ...]:
    found = map(_word, [data] if isinstance(data, str) else _list(data))
    return tuple(word for word in found if word)


def _word(data: Any) -> str | None:
    if isinstance(data, str):
        return data or None
    return str(data) if isinstance(data, int) and not isinstance(data, bool) and abs(data) < 10**15 else None
