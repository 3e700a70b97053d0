"""The tests' own watch."""

from __future__ import annotations

import time
from threading import Event, Thread

from tests.patience import Stopwatch, join


def test_what_a_thread_that_ended_has_done_stays_counted() -> None:
    """Else the work of the others would count as waiting until they had made up for it."""
    worked, leave = Event(), Event()

    def work() -> None:
        while time.thread_time() < 0.05:
            pass
        worked.set()
        leave.wait()

    thread = Thread(target=work)
    thread.start()
    worked.wait()
    watch = Stopwatch()
    before = watch._look()
    leave.set()
    join(thread)
    after = watch._look()
    assert after[0] >= before[0]
    assert after[1] >= before[1]
