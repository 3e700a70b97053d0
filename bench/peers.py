"""Other programs on the same tasks, where they are installed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

from bench import reference
from bench.measure import Unavailable
from bench.places import Places

_STATUS = {"Pending": "pending", "In Progress": "pending"}
_SETTINGS = "confirmation=off\nhooks=off\nverbose=nothing\nnews.version=99.0.0\n"
_PRIORITY = {"HIGH": "H", "NORMAL": "M", "LOW": "L"}


class Taskwarrior:
    """taskwarrior with a data folder of its own, into which a workspace is imported on first use."""

    def __init__(self, places: Places, size: str) -> None:
        """Remember which workspace to import."""
        self._places = places
        self._size = size
        self._folder = places.folder / f"taskwarrior-{size}"
        self.settings = self._folder / "taskrc"

    def ready(self) -> None:
        """Import the tasks once; Unavailable if there is no `task` command."""
        binary = shutil.which("task")
        if binary is None:
            raise Unavailable("taskwarrior is not installed")
        if self._folder.exists():
            return
        self._folder.mkdir()
        settings = f"data.location={self._folder}\n{_SETTINGS}"
        self.settings.write_text(settings, encoding="utf-8")
        memory = self._places.memory(self._places.workspace(self._size))
        tasks = [as_task(entry) for entry in reference.eager_fields((memory / "tasks.md").read_bytes())]
        done = subprocess.run(
            [binary, f"rc:{self.settings}", "import", "-"],
            # Of an escaped pair of surrogates it makes two characters that are none.
            input=json.dumps(tasks, ensure_ascii=False).encode("utf-8"),
            env=self._places.environment(),
            capture_output=True,
            check=False,
        )
        if done.returncode:
            raise Unavailable(f"task import exits with {done.returncode}")
        self._run("list")

    def show(self) -> None:
        """List the open tasks."""
        self._run("list")

    def modify(self, number: int) -> None:
        """Change the description of the first task."""
        self._run("1", "modify", f"turn {number}")

    def _run(self, *words: str) -> None:
        self._places.run(["task", f"rc:{self.settings}", "rc.bulk=0", *words])


def as_task(entry: dict[str, object]) -> dict[str, object]:
    """Return one entry of the eager reader as taskwarrior imports it."""
    fields = entry["fields"]
    assert isinstance(fields, dict)
    marked = re.match(r"\[(HIGH|NORMAL|LOW)\] (.*)", str(entry["title"]))
    priority, title = marked.groups() if marked else ("NORMAL", str(entry["title"]))
    task: dict[str, object] = {
        "description": title,
        "status": _STATUS.get(str(entry["section"]), "completed"),
        "priority": _PRIORITY[priority],
        "entry": _stamp(fields.get("created", "")) or "20240101T000000Z",
        "tags": [tag.strip().replace("-", "_") for tag in fields.get("tags", "").split(",") if tag.strip()],
    }
    for key, name in (("due", "due"), ("completed", "end")):
        stamp = _stamp(fields.get(key, ""))
        if stamp:
            task[name] = stamp
    if task["status"] == "completed":
        task.setdefault("end", task["entry"])
    if "notes" in fields:
        task["annotations"] = [{"entry": task["entry"], "description": fields["notes"].replace("\n", " ")}]
    return task


def _stamp(text: str) -> str | None:
    found = re.match(r"(\d{4})-(\d\d)-(\d\d)(?: (\d\d):(\d\d))?", text)
    if not found:
        return None
    year, month, day, hour, minute = found.groups("00")
    return f"{year}{month}{day}T{hour}{minute}00Z"
