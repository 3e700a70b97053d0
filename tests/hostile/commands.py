"""Commands that want to run: in monitors, remediations, actions, and in the place of approved ones."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .case import Case, laid
from .ground import EVIL, Ground

Build = Callable[[Ground], object]


def _case(name: str, says: str, build: Build, *asks: str, **more: Any) -> Case:
    return Case(f"command/{name}", says, build, asks, **more)


def _command(text: str, **fields: str) -> dict[str, str]:
    return {"type": "command", "command": text, "interval": "* * * * *", "threshold": "exit code != 0", **fields}


def _monitor(text: str, **fields: str) -> Build:
    return lambda ground: ground.monitor("Evil", _command(text, **fields))


def _after(first: str, then: str, **fields: str) -> Build:
    """Approve a command, then put another one in its place."""

    def build(ground: Ground) -> None:
        ground.only("Evil", _command(first, **fields))
        ground.approve()
        ground.swap(f"command: {first}\n", f"command: {then}\n")

    return build


def _other_field(old: str, new: str, **fields: str) -> Build:
    def build(ground: Ground) -> None:
        ground.only("Evil", _command(f"{EVIL} || true", **fields))
        ground.approve()
        ground.swap(old, new)

    return build


def _script(command: str, files: Mapping[str, str], changed: str, evil: str = f"{EVIL}\n") -> Build:
    """Approve a command that runs in the workspace and names files, then change one of them."""

    def build(ground: Ground) -> None:
        for path, text in files.items():
            ground.lay(path, text, 0o755)
        ground.only("Evil", _command(command, folder="."))
        ground.approve()
        ground.lay(changed, evil, 0o755)
        for path in {*files, changed}:
            ground.reads += [f"shop/{path}", *(f"shop/{parent}" for parent in Path(path).parents)]

    return build


def _alone(command: str, *programs: str) -> Build:
    """Approve a command that names no file of the workspace, then lay what it would find if it ran there."""

    def build(ground: Ground) -> None:
        ground.only("Evil", _command(command))
        ground.approve()
        for name in ("run.sh", "probe.py", "Makefile", "touch ..;id"):
            ground.lay(name, f"{EVIL}\n", 0o755)
        ground.runs.append(command)
        folders = [folder for folder in os.environ["PATH"].split(":") if folder.startswith("/")]
        ground.programs += [f"{folder}/{name}" for folder in folders for name in programs]
        # What it looks for in vain.
        ground.programs += [name for name in programs if "/" in name]

    return build


def _absolute(ground: Ground) -> None:
    ground.lay("run.sh", "true\n", 0o755)
    ground.only("Evil", _command(f"cd {ground.shop} && sh ./run.sh"))
    ground.approve()
    ground.lay("run.sh", f"{EVIL}\n", 0o755)
    ground.reads += ["shop/run.sh", "shop/"]


def _remedy(ground: Ground) -> None:
    ground.only("Evil", {"type": "file", "path": "missing", "interval": "* * * * *", "autoRemediate": EVIL})


def _remedy_changed(ground: Ground) -> None:
    ground.only("Evil", _command("exit 7", autoRemediate="true"))
    ground.approve()
    ground.swap("autoRemediate: true", f"autoRemediate: {EVIL}")
    ground.runs.append("exit 7")


def _remedy_check_changed(ground: Ground) -> None:
    ground.only("Evil", {"type": "file", "path": "missing", "interval": "* * * * *", "autoRemediate": EVIL})
    ground.approve()
    ground.swap("- autoRemediate", "- threshold: missing\n- autoRemediate")


def _remedy_as_check(ground: Ground) -> None:
    ground.only("Evil", _command(EVIL))
    ground.approve()
    ground.only("Evil", {"type": "file", "path": "missing", "interval": "* * * * *", "autoRemediate": EVIL})


def _action(ground: Ground) -> None:
    ground.swap("## Pending\n", f"## Pending\n### [HIGH] Evil\n- created: 2024-01-15\n- action: {EVIL}\n", "tasks.md")


def _action_twice(ground: Ground) -> None:
    task = f"### [HIGH] Evil\n- created: 2024-01-15\n- action: {EVIL}\n"
    ground.swap("## Pending\n", f"## Pending\n{task}", "tasks.md")
    ground.approve(only="Evil")
    ground.swap(task, task + task.replace("HIGH", "LOW"), "tasks.md")


def _action_archived(ground: Ground) -> None:
    task = f"## Completed\n### [HIGH] Evil\n- completed: 2023-12-01\n- recurrence: daily\n- action: {EVIL}\n"
    ground.put("archive/tasks-2023-12.md", ground.text(task).encode())


def _monitor_archived(ground: Ground) -> None:
    ground.put("archive/monitors-2023-12.md", ground.text(f"## Monitors\n### Evil\n- command: {EVIL}\n").encode())


def _plan(ground: Ground) -> None:
    ground.add(
        "orchestration.md", f'```json\n{{"id": "evil", "command": "{EVIL}", "phases": [{{"run": "{EVIL}"}}]}}\n```\n'
    )


def _twin(name: str) -> Build:
    def build(ground: Ground) -> None:
        ground.only("Evil", _command("true"))
        ground.approve()
        ground.monitor(name, _command(EVIL))

    return build


def _keys(ground: Ground) -> None:
    ground.only("Evil", _command("true"))
    ground.approve()
    ground.swap("- command: true\n", f"- command: true\n- command: {EVIL}\n")


def _keys_of_both_cases(ground: Ground) -> None:
    ground.only("Evil", _command("true"))
    ground.approve()
    ground.swap("- command: true\n", f"- Command: {EVIL}\n- command: true\n")


def _two_sections(ground: Ground) -> None:
    ground.only("Evil", _command("true"))
    ground.approve()
    ground.add("monitors.md", f"## Monitors\n### Evil\n- type: command\n- command: {EVIL}\n")


def _path_of_approved(ground: Ground) -> None:
    ground.only("Evil", _command("uname -a", threshold="exit code != 0"))
    ground.approve()
    ground.lay("uname", "#!/bin/sh\nexec id\n", 0o755)
    ground.environ["PATH"] = f".::bin:{os.environ['PATH']}"
    ground.runs.append("uname -a")
    ground.programs += [f"{folder}/uname" for folder in os.environ["PATH"].split(":") if folder.startswith("/")]
    ground.reads.append("shop/uname")


def _path_of_doctor(ground: Ground) -> None:
    for folder in ("", "bin/"):
        ground.lay(f"{folder}crontab", "#!/bin/sh\nexec id\n", 0o755)
    ground.environ["PATH"] = f".:bin::{ground.shop}/bin:{os.environ['PATH']}"


def _copied(ground: Ground) -> None:
    """Approve in another workspace, and copy its record to where that of this one is kept."""
    other = ground.top / "other"
    ground.only("Evil", _command(EVIL))
    shutil.copytree(ground.shop, other)
    ground.approve(folder=other)
    here, there = ground.trust().path, ground.trust(other).path
    here.parent.parent.mkdir(mode=0o700)
    shutil.copytree(there.parent, here.parent)


def _moved(ground: Ground) -> None:
    """Approve, move the workspace away, and put another one under its name."""
    ground.only("Evil", _command(EVIL))
    ground.approve()
    ground.shop.rename(ground.top / "old")
    shutil.copytree(ground.top / "old", ground.shop)


def _writable(ground: Ground) -> None:
    ground.only("Evil", _command(EVIL))
    ground.approve()
    ground.trust().path.chmod(0o666)


def _record_link(ground: Ground) -> None:
    ground.only("Evil", _command(EVIL))
    ground.approve()
    path = ground.trust().path
    path.rename(ground.shop / "approvals.json")
    path.symlink_to(ground.shop / "approvals.json")


def _record_second_name(ground: Ground) -> None:
    ground.only("Evil", _command(EVIL))
    ground.approve()
    os.link(ground.trust().path, ground.shop / "approvals.json")


def _linked_script(ground: Ground) -> None:
    _script("sh ./check", {"good.sh": "true\n", "evil.sh": f"{EVIL}\n"}, "unused.sh")(ground)
    ground.only("Evil", _command("sh ./check", folder="."))
    (ground.shop / "check").symlink_to("good.sh")
    ground.approve()
    (ground.shop / "check").unlink()
    (ground.shop / "check").symlink_to("evil.sh")


def _ping(ground: Ground) -> None:
    _after("true", EVIL)(ground)
    ground.swap("### Evil", "### Evil $(id) `id` ; id")


PENDING = "pending check Evil"
CHANGED = "withdrawn check Evil"
REFUSED = "refused check Evil"
CASES = (
    _case("check", "a monitor that is due, with a command", _monitor(EVIL), PENDING, sample=True, program=True),
    _case("untyped", "a command without a type", laid("untyped-monitors.md"), "pending check Untyped"),
    _case("of-a-url", "a command for which a type calls `http`, with a substitution in the address",
          lambda g: g.monitor("Evil", {"type": "http", "command": EVIL, "url": "http://$(id).example.com/`id`"}), "pending url Evil"),
    _case("in-a-threshold", "a threshold and a unit that are code",
          laid("threshold-monitors.md"), "refused check Threshold", ends=0),
    _case("in-the-name", "a monitor whose name is shell, approved under another one", _ping, "pending check Evil $(id) `id` ; id"),
    _case("dead-ping", "a missing file that a command should mend", lambda g: g.monitor("Evil", {"type": "file", "path": "sign", "autoRemediate": EVIL}), "pending remediate Evil"),
    _case("remediate", "a remediation of a check that needs no approval and fails", _remedy, "pending remediate Evil"),
    _case("remediate-changed", "an approved check that fails, whose approved remediation was changed", _remedy_changed,
          "withdrawn remediate Evil", sample=True),
    _case("remediate-fired", "an approved remediation that another check fires", _remedy_check_changed, "withdrawn remediate Evil"),
    _case("remediate-role", "a command approved as a check, now a remediation", _remedy_as_check, "pending remediate Evil"),
    _case("action", "the action of a task", _action, "pending action Evil"),
    _case("action-twins", "a second task of the same name as one with an approved action", _action_twice, "refused action Evil"),
    _case("action-archived", "the action of a recurring task in the archive", _action_archived),
    _case("archived", "a monitor in the archive", _monitor_archived),
    _case("plan", "commands in the JSON of a plan", _plan),
    _case("fenced", "a monitor inside of a fence, a comment and a quotation", laid("fenced-monitors.md")),
    _case("elsewhere", "monitors in other files, and entries with a command there", laid("elsewhere-knowledge.md")),
    _case("swapped", "a command that was swapped after its approval", _after("true", EVIL), CHANGED),
    _case("swapped-type", "an approved text under another type", _other_field("type: command", "type: Command "), CHANGED),
    _case("swapped-threshold", "an approved check that fires at something else", _other_field("!= 0", "!= 1"), CHANGED),
    _case("swapped-interval", "an approved check that runs at other times", _other_field("* * * * *", "*/2 * * * *"), CHANGED),
    _case("swapped-timeout", "an approved check with a timeout of years", _other_field("timeout: 10s", "timeout: 1000000000s", timeout="10s"), REFUSED, ends=0),
    _case("environment-added", "LD_PRELOAD added to what an approved check gets", _other_field("environment: PGHOST", "environment: PGHOST, LD_PRELOAD", environment="PGHOST"), CHANGED),
    _case("environment", "a check that wants LD_PRELOAD, PYTHONPATH and BASH_ENV", _monitor(EVIL, environment="LD_PRELOAD, PYTHONPATH, BASH_ENV"), PENDING),
    _case("timeout", "a timeout of 10⁹ seconds, and one of 10⁹ digits' worth", _monitor(EVIL, timeout="1e9s " + "9" * 3000), REFUSED),
    _case("longer", "words behind an approved command", _after("true", f"true; {EVIL}"), CHANGED),
    _case("continued", "a continuation line behind an approved command", _after("true", f"true\n  {EVIL}"), CHANGED),
    _case("case", "an approved command in other capitals", _after("true A", "true a"), CHANGED),
    _case("blanks", "an approved command with a no-break space behind it", _after("true", "true\u00a0"), REFUSED),
    _case("far-right", "a command behind hundreds of blanks after an approved one", _after("true", "true" + " " * 900 + f";{EVIL}"), CHANGED),
    _case("homoglyph", "an approved command with a Cyrillic letter", _after("true x", "true \u0445"), CHANGED),
    _case("composed", "an approved command in another normal form of Unicode", _after("true \u00e9", "true e\u0301"), CHANGED),
    _case("script", "a script that was swapped after its command was approved", _script("./check.sh", {"check.sh": "true\n"}, "check.sh"), CHANGED),
    _case("script-sh", "a script inside of `sh -c`", _script("sh -c './check.sh; true'", {"check.sh": "true\n"}, "check.sh"), CHANGED),
    _case("script-env", "a script behind `env`", _script("env X=1 ./check.sh", {"check.sh": "true\n"}, "check.sh"), CHANGED),
    _case("script-cd", "a script behind `cd … &&`", _script("cd a/b && ./check.sh", {"a/b/check.sh": "true\n"}, "a/b/check.sh"), CHANGED),
    _case("script-pattern", "one more script for an approved pattern", _script("for f in checks/*.sh; do sh $f; done", {"checks/a.sh": "true\n"}, "checks/b.sh"), CHANGED),
    _case("script-link", "an approved link that leads to another script", _linked_script, CHANGED),
    _case("script-absolute", "a script in a folder that an approved command names by its absolute path", _absolute, CHANGED),
    _case("relative", "a command that names a script of the workspace, and no folder", lambda g: (g.lay("run.sh", f"{EVIL}\n", 0o755), g.only("Evil", _command("./run.sh"))), REFUSED, ends=0),
    _case("relative-remedy", "a remediation that does", lambda g: (g.lay("run.sh", f"{EVIL}\n", 0o755), g.only("Evil", _command("false", autoRemediate="sh run.sh"))), "refused remediate Evil", ends=0),
    _case("folder-added", "a folder that is added to an approved command", _other_field("- interval", "- folder: .\n- interval"), CHANGED),
    _case("folder-out", "a folder outside of the workspace", _monitor(EVIL, folder="../outside"), REFUSED),
    _case("hidden-quotes", "an approved command that hides the name of a script in a quoted pattern", _alone("sh -c './r?n.sh'", "sh", "./r?n.sh"), sample=True),
    _case("hidden-numbers", "an approved command that writes it as numbers", _alone("printf './\\162un.sh' | sh", "sh", "./run.sh")),
    _case("hidden-names", "an approved command that runs the names of files", _alone("ls | sh", "ls", "sh")),
    _case("hidden-make", "an approved command that reads files by itself", _alone("make", "make")),
    _case("twins", "a second monitor of an approved one's name", _twin("Evil"), REFUSED),
    _case("twins-alike", "a second monitor whose name looks like an approved one's", _twin("\uff25VIL "), REFUSED),
    _case("keys", "a second `command` behind an approved one", _keys, REFUSED),
    _case("keys-alike", "a `Command` before an approved `command`", _keys_of_both_cases, REFUSED),
    _case("sections", "a second list of monitors with an approved one's name", _two_sections, REFUSED),
    _case("escape", "terminal sequences in a command, to hide the rest", _monitor(f"true\x1b[8m; {EVIL}\x1b[2K\x1b[1G"), REFUSED),
    _case("bidi", "direction marks in a command, to turn it round", _monitor(f"true \u202e# {EVIL}\u2066"), REFUSED),
    _case("zero-width", "zero-width characters in an approved command", _after("true", "tr\u200bue"), REFUSED),
    _case("tags", "invisible tag characters in a command", _monitor("true" + "".join(chr(0xE0000 + ord(c)) for c in "; id")), REFUSED),
    _case("return", "a carriage return that hides a command from `cat`", _monitor(f"{EVIL} #\rtrue"), PENDING),
    _case("nul", "a NUL behind an approved command", _after("true", "true\0; id"), REFUSED),
    _case("not-text", "bytes that are no text in a command", lambda g: g.add("monitors.md", b"### Evil\n- command: id \xff\xfe\n"), REFUSED),
    _case("long", "a command of 100,000 characters", _monitor("true;" * 20_000 + EVIL), REFUSED),
    _case("path-dot", "PATH with `.`, `` and `bin`, and programs named like those of an approved command", _path_of_approved),
    _case("path-doctor", "PATH with folders of the workspace, and a `crontab` in them", _path_of_doctor, program=True),
    _case("copied", "the record of another workspace's approvals under this one's name", _copied, CHANGED),
    _case("moved", "another workspace moved over the path of an approved one", _moved, CHANGED),
    _case("record-writable", "a record of approvals that everybody can write", _writable, REFUSED),
    _case("record-link", "a record of approvals that is a link into the workspace", _record_link, REFUSED),
    _case("record-names", "a record of approvals with a second name in the workspace", _record_second_name, REFUSED),
)  # fmt: skip
