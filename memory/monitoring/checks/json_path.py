"""Reading one value out of a JSON answer by a path such as `a.b[0].c`."""

from __future__ import annotations

import json
import math
import re

from memory.monitoring.thresholds.rules import Value
from memory.monitoring.thresholds.units import Quantity

_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d{1,9})\]")


def read_json(text: str) -> object:
    """Return what a JSON text holds; ValueError for anything else, also for one nested too deep."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deep") from None


def value_at(data: object, path: str) -> Value | None:
    """Return the value at a path, None where there is none.

    Numbers and texts are as they stand, `true`, `false` and `null` are texts, lists and objects count their members.
    """
    at = 0
    while at < len(path):
        step = _STEP.match(path, at)
        if step is None:
            return None
        at = step.end()
        if step[2] is not None:
            if not isinstance(data, list) or int(step[2]) >= len(data):
                return None
            data = data[int(step[2])]
        elif isinstance(data, dict) and step[1] in data:
            data = data[step[1]]
        else:
            return None
    return _plain(data)


def _plain(data: object) -> Value | None:
    if isinstance(data, bool) or data is None:
        return {True: "true", False: "false", None: "null"}[data]
    if isinstance(data, int | float):
        return Quantity(data) if abs(data) < 1e300 and math.isfinite(data) else None
    if isinstance(data, str):
        return data
    return Quantity(len(data)) if isinstance(data, list | dict) else None
