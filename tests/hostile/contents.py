"""What stands in fields: code for parsers, sequences for terminals, links for people, and numbers without end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .case import Case, laid
from .ground import Ground

Build = Callable[[Ground], object]


def _case(name: str, says: str, build: Build, *asks: str, **more: Any) -> Case:
    return Case(f"text/{name}", says, build, asks, **more)


def everywhere(text: str) -> Build:
    """Put a text into a title, a field, a cell, a bullet, a heading, and a plan of every memory file."""

    def build(ground: Ground) -> None:
        ground.swap(
            "## Pending\n",
            f"## Pending\n### [HIGH] {text}\n- created: {text}\n- due: {text}\n- tags: {text}\n- note: {text}\n",
            "tasks.md",
        )
        ground.add("journal.md", f"## 2024-01-15\n### 09:00 — {text}\n- {text}\n- next: {text}\n")
        ground.add("knowledge.md", f"## {text}\n### {text}\n- {text}\n")
        cell = text.replace("|", "/").replace("\n", " ")
        ground.swap("| Slack Alerts |", f"| {cell} | {cell} | {cell} | connected |\n| Slack Alerts |", "contacts.md")
        ground.add("contacts.md", f"- **{text}** ({text}): {text}\n")
        ground.add("orchestration.md", f"## {text}\n### {text}\n- status: {text}\n- goal: {text}\n")
        ground.monitor(
            text,
            {
                "type": "file",
                "path": text,
                "interval": "* * * * *",
                "unit": text,
                "lastStatus": text,
                "lastCheck": text,
            },
        )
        ground.swap("- priority: normal", f"- priority: {text}\n- timezone: {text}\n- quietHours: {text}", "config.md")
        ground.put(
            "archive/tasks-2023-12.md",
            f"## Completed\n### {text}\n- completed: 2023-12-01\n- outcome: {text}\n".encode(
                "utf-8", "surrogateescape"
            ),
        )

    return build


def _crons(ground: Ground) -> None:
    for number, text in enumerate(
        (
            "0 0 30 2 *",
            "*/1-59/1 * * * *",
            ",".join(["*"] * 5000) + " * * * *",
            "0-59" * 300,
            "* * * * * * *",
            "1-999999999 * * * *",
            "R(0-999999) H H * *",
            "@reboot",
            "* * L * *",
            "0 0 29 2 MON#5",
        )
    ):
        ground.monitor(f"Cron {number}", {"type": "file", "path": "sign", "interval": text})
    ground.swap("- expression: */30 * * * *", "- expression: " + "*/1," * 3000 + "1 * * * *", "config.md")


def _counts(ground: Ground) -> None:
    huge = "9" * 4000
    fields = {
        "failuresBefore": huge,
        "successesBefore": f"-{huge}",
        "remind": f"{huge}d",
        "threshold": f"age > {huge}h",
        "timeout": huge,
    }
    ground.monitor("Counts", {"type": "file", "path": "sign", "interval": "* * * * *", **fields})
    ground.swap("- maxJournalEntries: 500", f"- maxJournalEntries: {huge}", "config.md")
    ground.swap("- pruneJournalAfterDays: 30", "- pruneJournalAfterDays: 1e308", "config.md")


def _many(ground: Ground) -> None:
    for number in range(400):
        ground.monitor(
            f"Many {number}",
            {
                "type": "http",
                "url": f"http://127.0.0.1:{number + 1}/",
                "interval": "* * * * *",
                "dependsOn": f"Many {(number + 1) % 400}",
            },
        )


def _expression(ground: Ground) -> None:
    """Conditions that take a parser or a matcher very long, over a check that needs no approval."""
    fields = {"type": "file", "path": "sign", "interval": "* * * * *"}
    for number, text in enumerate(
        (
            "(" * 3000 + "missing" + ")" * 3000,
            "not " * 5000 + "missing",
            "missing and " * 4000 + "missing",
            "age > " + "1" * 100_000 + "h",
        )
    ):
        ground.monitor(f"Deep {number}", {**fields, "threshold": text})


ALL = "{}".format
CASES = (
    _case("yaml-object", "front matter that makes a parser call Python", laid("object-config.md")),
    _case("yaml-bomb", "front matter whose aliases multiply", laid("bomb-config.md")),
    _case("yaml-merge", "front matter with merge keys, dates and numbers in odd bases", laid("merge-tasks.md")),
    _case("markup", "markup of the screen's library, with actions and links", everywhere("[@click=app.quit]x[/] [link=file:///etc/passwd]y[/link] [/x] [bold red on blue] [@click=app.do('undo')]z"), sample=True),
    _case("format", "formats and templates of programming languages", everywhere("{0.__class__.__mro__} %s %(x)s ${id} $(id) `id` {{7*7}} <%= id %> #{id} \\N{BELL}")),
    _case("html", "HTML with scripts, frames and images", everywhere("<script>fetch('http://127.0.0.1:9')</script><img src=http://127.0.0.1:9/x onerror=alert(1)><iframe src=file:///etc/passwd>")),
    _case("link-file", "links to files and programs", everywhere("[x](file:///etc/passwd) [y](../../../../etc/passwd) <file:///bin/sh> [z](vscode://evil) [a](javascript:alert(1))")),
    _case("link-image", "images and references that would be fetched", everywhere("![x](http://127.0.0.1:9/pixel.png) [y]: http://127.0.0.1:9/ ![z](file:///dev/zero)")),
    _case("link-entry", "links to entries of files outside", everywhere("tasks#../../outside/secret.md see ../outside/secret.md#L1 [[../outside/secret]] @/etc/passwd")),
    _case("osc-8", "links of the terminal", everywhere("\x1b]8;;file:///etc/passwd\x1b\\safe\x1b]8;;\x1b\\")),
    _case("osc-52", "sequences that write the clipboard", everywhere("\x1b]52;c;cm0gLXJmIH4K\x07")),
    _case("osc-0", "titles of the window, and asking for them", everywhere("\x1b]0;touch x\x07\x1b[21t\x1b]2;?\x07")),
    _case("osc-other", "notifications, images and files of terminals", everywhere("\x1b]1337;File=inline=1:QQ==\x07\x1b]9;x\x07\x1b]777;notify;a;b\x07\x1b_Gf=100,a=T;QQ==\x1b\\")),
    _case("dcs", "device control: sixels, requests, key definitions", everywhere("\x1bPq#0;2;0;0;0~\x1b\\\x1bP$qm\x1b\\\x1bP1;1|17/69\x1b\\\x1b^x\x1b\\")),
    _case("csi", "sequences that answer as if they were typed", everywhere("\x1b[6n\x1b[c\x1b[5n\x1b[?1049h\x1b[2J\x1b[?1000h\x1b[200~id\n\x1b[201~".replace("\n", " "))),
    _case("c1", "the same with one character for two", everywhere("\u009b2J\u009d52;c;aWQ=\u009c\u0090q\u009c")),
    _case("c1-bytes", "the same as bytes that are no text", everywhere("\udc9b2J\udc9d0;x\udc9c")),
    _case("return-backspace", "returns, backspaces and tabs that overwrite", everywhere("safe\x08\x08\x08\x08evil\rgood\x0b\x0c\x7f")),
    _case("bidi", "direction marks and isolates in every field", everywhere("\u202eevil\u202c \u2066x\u2069 \u200f\u061c")),
    _case("invisible", "zero-width and tag characters in every field", everywhere("a\u200b\u200d\ufeffb\U000e0065\U000e007f\u2060\u00ad")),
    _case("marks", "a thousand marks on one letter, and letters of no width", everywhere("e" + "\u0301" * 1000 + "\u115f\u3164")),
    _case("line-ends", "line ends of other kinds, and NUL", everywhere("a\u2028### Evil\u2029- command: id\x85- action: id\0b")),
    _case("crons", "schedules that explode", _crons),
    _case("counts", "numbers of four thousand digits", _counts),
    _case("many", "400 monitors that are due at once and wait for each other", _many),
    _case("deep", "conditions nested thousands of times", _expression),
)  # fmt: skip
