"""How the cost of work grows with its input: for promises like "in proportion to its length", at whatever speed."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import TypeVar

Input = TypeVar("Input")

TIMES = 8
"""How many times as large the large input is as the small one."""

MOST = 3.5 * TIMES
"""Work in proportion costs about `TIMES` as much, work with the square of it 64 times; this is between both."""

TRIES = 6


def assert_in_proportion(make: Callable[[int], Input], work: Callable[[Input], object], small: int) -> None:
    """Fail if work on `make(8 * small)` costs far more than eight times what it costs on `make(small)`.

    Costs are processor time, the best of some tries, without what the collector finds in the heap of a whole test run.
    """
    least = {small: float("inf"), TIMES * small: float("inf")}
    inputs = {size: make(size) for size in least}
    gc.disable()
    try:
        for _ in range(TRIES):
            for size, given in inputs.items():
                begun = time.process_time_ns()
                work(given)
                least[size] = min(least[size], time.process_time_ns() - begun)
            if least[TIMES * small] < MOST * least[small]:
                return
    finally:
        gc.enable()
    raise AssertionError(f"{TIMES} times the input costs {least[TIMES * small] / least[small]:.1f} times as much")
