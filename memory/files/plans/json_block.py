"""The plan that an agent left as a fenced JSON block: read behind a guard, never written."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memory.document.lines import split_lines

MAX_CHARACTERS = 512 * 1024
MAX_DEPTH = 32
MAX_TASKS = 5000
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*([^`]*)")
_STRINGS = re.compile(r'"(?:[^"\\]|\\[\s\S])*"?')
_BRACKETS = re.compile(r"[\[\]{}]")


@dataclass(frozen=True, slots=True)
class JsonTask:
    """One task of the plan; `minutes` is the estimate, None where there is none."""

    id: str
    project: str | None = None
    title: str = ""
    description: str | None = None
    depends_on: tuple[str, ...] = ()
    complexity: str | None = None
    minutes: float | None = None
    status: str | None = None
    completed: str | None = None


@dataclass(frozen=True, slots=True)
class JsonPlan:
    """What the block says; `line` (from 0, in the entry's body) is where it begins."""

    line: int
    plan_id: str | None = None
    summary: str | None = None
    created: str | None = None
    projects: tuple[str, ...] = ()
    tasks: tuple[JsonTask, ...] = ()
    phases: tuple[tuple[str, ...], ...] = ()
    problems: tuple[tuple[int, str], ...] = field(default=())


def read_plan_json(body: str) -> JsonPlan | None:
    """Return the first fenced JSON block of an entry's body, None where there is none; never fails.

    What the guard refuses (size, depth, no JSON, no object) is an empty plan with a problem (line, sentence).
    """
    if "```" not in body and "~~~" not in body:
        return None
    lines = [line for line, _ in split_lines(body)]
    fence, start, wanted = "", 0, False
    for number, line in enumerate(lines):
        found = _FENCE.fullmatch(line)
        if fence:
            closing = line.strip(" \t")
            if found and set(closing) == {fence[0]} and len(closing) >= len(fence):
                if wanted:
                    return _read("\n".join(lines[start + 1 : number]), start)
                fence = ""
        elif found:
            fence, start = found[1], number
            info = found[2].strip().casefold()
            following = lines[number + 1].lstrip() if number + 1 < len(lines) else ""
            wanted = info.split(" ")[0] in ("json", "jsonc") or (not info and following.startswith("{"))
    return None


def _read(text: str, line: int) -> JsonPlan:
    if len(text) > MAX_CHARACTERS:
        return JsonPlan(line, problems=((line, f"the JSON plan is longer than {MAX_CHARACTERS // 1024} KB"),))
    if _depth(text) > MAX_DEPTH:
        return JsonPlan(line, problems=((line, f"the JSON plan is nested deeper than {MAX_DEPTH}"),))

    try:
        data = json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        return JsonPlan(line, problems=((line + error.lineno, f"the JSON plan does not parse: {error.msg}"),))
    except (ValueError, RecursionError):
        return JsonPlan(line, problems=((line, "the JSON plan holds a number that is none"),))
    if not isinstance(data, dict):
        return JsonPlan(line, problems=((line, "the JSON plan is not an object"),))
    listed = [one for one in _list(data.get("tasks")) if isinstance(one, dict)]
    problems = []
    if len(listed) > MAX_TASKS:
        problems.append((line, f"the JSON plan has more than {MAX_TASKS} tasks; the rest is not read"))
    tasks = tuple(_task(one) for one in listed[:MAX_TASKS])
    return JsonPlan(
        line,
        _word(data.get("planId")),
        _word(data.get("summary")),
        _word(data.get("createdAt")),
        tuple(name for one in _list(data.get("projects")) if (name := _project(one))),
        tasks,
        tuple(_phase(one) for one in _list(data.get("executionOrder"))[:MAX_TASKS]),
        tuple(problems),
    )


def _refuse(name: str) -> None:
    raise ValueError(name)


def _depth(text: str) -> int:
    deepest = depth = 0
    for found in _BRACKETS.finditer(_STRINGS.sub("", text)):
        depth += 1 if found[0] in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _task(data: Mapping[str, Any]) -> JsonTask:
    minutes = data.get("estimatedMinutes")
    usable = isinstance(minutes, int | float) and not isinstance(minutes, bool) and 0 < minutes < 1e9
    return JsonTask(
        _word(data.get("id")) or "",
        _word(data.get("project")),
        _word(data.get("title")) or "",
        _word(data.get("description")),
        _words(data.get("dependsOn")),
        _word(data.get("complexity")),
        float(minutes) if usable and minutes is not None else None,
        _word(data.get("status")),
        _word(data.get("completedAt")) or _word(data.get("completed")),
    )


def _phase(data: Any) -> tuple[str, ...]:
    if isinstance(data, dict):
        return _words(data.get("tasks", data.get("taskIds")))
    return _words(data)


def _project(data: Any) -> str | None:
    return _word(data.get("name")) if isinstance(data, dict) else _word(data)


def _list(data: Any) -> Sequence[Any]:
    return data if isinstance(data, list) else []


def _words(data: Any) -> tuple[str, ...]:
    if isinstance(data, str):
        data = [data]
    return tuple(word for one in _list(data) if (word := _word(one)))


def _word(data: Any) -> str | None:
    if isinstance(data, str):
        return data or None
    return str(data) if isinstance(data, int) and not isinstance(data, bool) and abs(data) < 10**15 else None
