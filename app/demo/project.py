"""The project state of the sample workspace: a small shop in Python, and what sessions of its agent said about it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

SAMPLE = Path(__file__).parent / "sample" / "project.json"
"""The files by their path, as they were made at `BASE` in the folder `ROOT`."""
BASE = datetime(2024, 1, 15, 9, 30, tzinfo=UTC)
ROOT = "{root}"

_TIME = re.compile(r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z")


def demo_project(root: str, now: datetime) -> Mapping[str, str]:
    """Return the files of the sample's project state and of the repository around it, by their path from `root`.

    Every time in them is as far from `now` (aware) as it was from that of the sample; no hash covers one.
    """
    shift = now.astimezone(UTC).replace(microsecond=0) - BASE
    files: dict[str, str] = json.loads(SAMPLE.read_text("utf-8"))
    named = json.dumps(root)[1:-1]
    return {
        path: _TIME.sub(lambda found: _stamp(datetime.fromisoformat(found[0]) + shift), text.replace(ROOT, named))
        for path, text in files.items()
    }


def _stamp(time: datetime) -> str:
    return f"{time:%Y-%m-%dT%H:%M:%S}.000Z"
