"""The command line in this process, where a test only makes something with it or compares what it says.

Continuous integration runs the same calls as forked processes; those that a test wants as processes it starts.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from app.cli import session
from app.main import run
from tests import forking
from tests.clock import standing
from tests.examples import WHOLE
from tests.patience import PATIENCE


def memdeck(
    words: Sequence[str],
    *,
    cwd: Path,
    environ: Mapping[str, str],
    given: bytes = b"",
    process: bool = False,
    child: bool = False,
    clock: str | None = None,
    person: bool = False,
) -> subprocess.CompletedProcess[bytes]:
    """Run memdeck in a folder, with these variables only and some bytes on stdin; what it said is in the answer.

    With `process` as a process, which is forked unless all examples were asked for; without only then, and forked.
    With `child` as a process that is always started, so that its parent is this one. `clock` is where the machine's
    clock stands. `person`: somebody sits at a terminal, in this process; a real terminal has `Place.at_terminal`.
    """
    if not person and not child and process is not WHOLE and forking.possible(environ):
        return forking.run(words, cwd=cwd, environ=environ, given=given, clock=clock)
    if not person and (child or process or WHOLE):
        return subprocess.run(
            [sys.executable, "-m", *(["tests.clock", clock] if clock else ["app.main"]), *words],
            cwd=cwd,
            env=environ,
            input=given,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
    streams = {name: io.TextIOWrapper(io.BytesIO(), "utf-8") for name in ("stdout", "stderr")}
    streams["stdin"] = io.TextIOWrapper(io.BytesIO(given), "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(cwd)
        for name in os.environ.keys() - environ.keys():
            patch.delenv(name)
        for name, value in environ.items():
            patch.setenv(name, value)
        for name, stream in streams.items():
            patch.setattr(sys, name, stream)
        if person:
            patch.setattr(session.Session, "sees_person", lambda _: True)
        if clock:
            patch.setattr(session, "machine_time", standing(clock))
        code = run([*words])
    out, err = (_said(streams[name]) for name in ("stdout", "stderr"))
    return subprocess.CompletedProcess([*words], code, out, err)


def _said(stream: io.TextIOWrapper) -> bytes:
    stream.flush()
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue()
