"""Jobs: what runs beside the screen for longer: checks, actions. Each says how far it is, and can be called off."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from app.tui.part import Part
from app.tui.threads import Progress, ThreadReport, internal
from memory.errors import MemdeckError
from widgets.text.styled_text import Line, Piece, line

if TYPE_CHECKING:
    from textual.message import Message

    from app.tui.shell import Shell
    from memory.monitoring.run.cancel import Cancel

    from .refresh import Refresher

FAREWELL = 0.5
"""Seconds that leaving waits for what was called off; what takes longer is left behind."""


class Job:
    """One piece of work in a thread of its own, which does not keep the application from ending."""

    def __init__(self, words: str, cancel: Cancel, moved: Callable[[], object]) -> None:
        """`words` say what is done, such as `checking`; `moved` is called when it got further."""
        self.words = words
        self.cancel = cancel
        self.began = time.monotonic()
        self.thread: threading.Thread | None = None
        self._moved = moved
        self._names: dict[str, None] = {}
        self._total = 0

    def plan(self, names: tuple[str, ...]) -> None:
        """Say what is to be done, by name."""
        self._names = dict.fromkeys(names)
        self._total = len(self._names)
        self._moved()

    def done(self, name: str) -> None:
        """Say that one of it is done."""
        self._names = {other: None for other in self._names if other != name}
        self._moved()

    def pause(self, seconds: float) -> None:
        """Wait, but not longer than until it is called off."""
        woken = threading.Event()
        take_back = self.cancel.add(woken.set)
        woken.wait(seconds)
        take_back()

    def progress(self) -> str:
        """How far it is: `checking Disk Space, 2 of 5`."""
        if self.cancel.cancelled:
            return f"stopping: {self.words}"
        current = next(iter(self._names), "")
        name = f" {current[:30]}" if current else ""
        if self._total > 1:
            return f"{self.words}{name}, {min(self._total, self._total - len(self._names) + 1)} of {self._total}"
        seconds = int(time.monotonic() - self.began)
        return f"{self.words}{name}" + (f", {seconds} s" if seconds > 1 else "")


class Jobs(Part):
    """Starts jobs, shows them in the header, and ends them when the application does."""

    def __init__(self, app: Shell, refresher: Refresher) -> None:
        """Nothing runs yet."""
        super().__init__(app)
        self._refresher = refresher
        self._running: list[Job] = []
        self._ticks = False
        self._left = False
        self.left_behind = False
        """Whether something still ran when the application left."""

    @property
    def running(self) -> tuple[Job, ...]:
        """What runs, the oldest first."""
        return tuple(self._running)

    def start(
        self,
        words: str,
        work: Callable[[Job], Any],
        then: Callable[[Any], None],
        failed: Callable[[MemdeckError], None] | None = None,
    ) -> Job | None:
        """Do `work(job)` in a thread; `then` gets its result, `failed` its error (None: it is said), both here."""
        from memory.monitoring.run.cancel import Cancel

        if self._left:
            return None
        job = Job(words, Cancel(), lambda: self._post(Progress(self.show)))

        def run() -> None:
            error: MemdeckError | None = None
            result: Any = None
            try:
                result = work(job)
            except Exception as found:
                error = found if isinstance(found, MemdeckError) else internal(found)
            self._post(ThreadReport(partial(self._ended, job, result, error, then, failed)))

        job.thread = threading.Thread(target=run, name=f"job-{words}", daemon=True)
        self._running.append(job)
        job.thread.start()
        if not self._ticks:
            self._ticks = True
            self.app.set_interval(1.0, self.show)
        self.show()
        self.app.refresh_keys()
        return job

    def _post(self, message: Message) -> None:
        """Tell the application; it may have ended meanwhile."""
        try:
            self.app.post_message(message)
        except RuntimeError:
            return

    def _ended(
        self,
        job: Job,
        result: Any,
        error: MemdeckError | None,
        then: Callable[[Any], None],
        failed: Callable[[MemdeckError], None] | None,
    ) -> None:
        """Go on with what a job found, or say why it found nothing."""
        if job in self._running:
            self._running.remove(job)
        self.show()
        self.app.refresh_keys()
        if error is None:
            then(result)
        elif failed is not None:
            failed(error)
        else:
            self.app.say_error(error)
            self._refresher.request()

    def show(self) -> None:
        """Say in the header what runs."""
        main_screen = self.app.main_screen
        if main_screen.is_mounted and self.app.is_running:
            main_screen.header.work = self._words()

    def _words(self) -> Line:
        if not self._running:
            return ()
        glyphs = self.app.glyphs
        more = f" (+{len(self._running) - 1})" if len(self._running) > 1 else ""
        words = f"{glyphs.half} {self._running[-1].progress()}{more}"
        return line(Piece(words, "accent"))

    def stop(self) -> None:
        """Call off everything that runs."""
        for job in self._running:
            job.cancel.cancel()
        self.show()
        self.app.say("Stopping what runs.")

    def leave(self) -> None:
        """Call off everything, and wait a moment for it; for the end of the application."""
        self._left = True
        for job in self._running:
            job.cancel.cancel()
        until = time.monotonic() + FAREWELL
        for job in self._running:
            if job.thread is not None:
                job.thread.join(max(0.0, until - time.monotonic()))
                self.left_behind = self.left_behind or job.thread.is_alive()
