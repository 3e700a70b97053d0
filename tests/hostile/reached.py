"""What an approved command reaches without naming it: behind links, patterns, modules and includes; and old approvals."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from memory.trust.asks import asks_of
from memory.trust.consent import _digest
from memory.workspace import Workspace

from .case import Case
from .commands import CHANGED, REFUSED, Build, _command, _script
from .ground import EVIL, NOW, Ground


def _case(name: str, says: str, build: Build, *asks: str, **more: Any) -> Case:
    return Case(f"reached/{name}", says, build, asks, **more)


def _linked(command: str, links: Mapping[str, str], changed: str = "real.sh") -> Build:
    """Approve a command that names links, then change the script at their end."""

    def build(ground: Ground) -> None:
        for path, target in links.items():
            (ground.shop / path).symlink_to(ground.text(target))
        _script(command, {changed: "true\n"}, changed)(ground)

    return build


def _led_out(target: str) -> Build:
    """Approve a link to a script, then let it lead out of the workspace."""

    def build(ground: Ground) -> None:
        ground.lay("real.sh", "true\n", 0o755)
        (ground.shop / "run.sh").symlink_to("real.sh")
        ground.only("Evil", _command("sh ./run.sh", folder="."))
        ground.approve()
        (ground.shop / "run.sh").unlink()
        (ground.shop / "run.sh").symlink_to(ground.text(target).replace("{pid}", str(os.getpid())))
        ground.reads += ["shop/real.sh", "shop/"]

    return build


def _second_name(ground: Ground) -> None:
    _script("./run.sh", {"run.sh": "true\n"}, "unused.sh", "")(ground)
    ground.only("Evil", _command("./run.sh", folder="."))
    os.link(ground.shop / "run.sh", ground.outside / "second.sh")
    ground.approve()
    (ground.outside / "second.sh").write_text(ground.text(f"{EVIL}\n"))


def _pipe(ground: Ground) -> None:
    _script("for f in checks/*.sh; do sh $f; done", {"checks/a.sh": "true\n"}, "checks/a.sh", "true\n")(ground)
    os.mkfifo(ground.shop / "checks" / "b.sh")


def _path_of_links(ground: Ground) -> None:
    ground.only("Evil", _command("uname -a", threshold="exit code != 0"))
    ground.approve()
    ground.lay("bin/uname", "#!/bin/sh\nexec id\n", 0o755)
    (ground.top / "link").symlink_to(ground.shop / "bin")
    (ground.top / "cwd").symlink_to("/proc/self/cwd/bin")
    path = os.environ["PATH"]
    ground.environ["PATH"] = f"{ground.top}/link:{ground.top}/cwd:/proc/self/cwd/bin:{ground.shop}/../shop/bin:{path}"
    ground.runs.append("uname -a")
    ground.programs += [f"{folder}/uname" for folder in path.split(":") if folder.startswith("/")]
    ground.reads += ["shop/bin/uname", "shop/bin", "shop/"]


def _old_record(ground: Ground) -> None:
    """Approve, and say that the first version wrote the record."""
    ground.only("Evil", _command(EVIL))
    ground.approve()
    path = ground.trust().path
    whole = json.loads(path.read_bytes())
    content = {"records": whole["records"], "workspace": whole["workspace"]}
    path.write_text(json.dumps({"version": 1, "sum": _digest(content), **content}))


def _fired(before: Mapping[str, str], old: str, new: str) -> Build:
    """Approve a remediation alone, then change a field of the check that fires it."""

    def build(ground: Ground) -> None:
        ground.only("Evil", {**before, "interval": "* * * * *", "autoRemediate": EVIL})
        trust = ground.trust()
        for ask in asks_of(Workspace.open(ground.shop, state_home=ground.state).snapshot()):
            if ask.role == "remediate":
                trust.approve(ask, who="human", now=NOW)
        ground.swap(old, new)

    return build


def _agent(text: str, *files: str) -> Build:
    """Register an agent of the workspace, whose Aidefile names folders with old files."""

    def build(ground: Ground) -> None:
        folder = "agents/ada"
        ground.lay(f"{folder}/Aidefile", text)
        for name in (*files, "memory/episodic/young.md"):
            path = ground.lay(f"{folder}/{name}", "old\n")
            if "young" not in name:
                os.utime(path, (1_600_000_000, 1_600_000_000))
        (ground.home / ".aide").mkdir()
        registry = f'[[agents]]\nname = "Evil"\npath = "{ground.shop / folder}"\n'
        (ground.home / ".aide" / "config.toml").write_text(registry)
        ground.reads += ["home/.aide/config.toml", f"shop/{folder}/", f"shop/{folder}", "shop/agents"]

    return build


FIRED = "withdrawn remediate Evil"
_HTTP = {
    "type": "http",
    "url": "https://example.com/",
    "method": "GET",
    "follow": "no",
}
CASES = (
    _case("link-cwd", "an approved link that leads over the folder that the command is in by now", _led_out("/proc/self/cwd/real.sh"), REFUSED, sample=True),
    _case("link-thread", "the same over the folder of the thread, and `..` up to the root", _led_out("../../../../../../../../../proc/thread-self/cwd/real.sh"), REFUSED),
    _case("link-back", "an approved link that leaves the workspace and comes back", _linked("sh run.sh", {"run.sh": "../shop/real.sh"}), CHANGED),
    _case("link-folder", "an approved link to a folder that leaves the workspace and comes back", _linked("sh bin/check.sh", {"bin": "../shop/tools"}, "tools/check.sh"), CHANGED),
    _case("link-chain", "a chain of approved links, one of them absolute", _linked("sh run.sh", {"run.sh": "a", "a": "{top}/shop/b", "b": "../shop/real.sh"}), CHANGED),
    _case("link-out", "an approved link that leads out of the workspace by now", _led_out("{top}/outside/monitors.md"), CHANGED),
    _case("link-process", "an approved link that leads into the folder of a process", _led_out("/proc/{pid}/cwd/real.sh"), REFUSED),
    _case("link-descriptor", "an approved link that leads to what a descriptor has open", _led_out("/dev/fd/../fd/0"), REFUSED),
    _case("link-root", "an approved link that comes back over the root of the process", _led_out("/proc/self/root{top}/shop/real.sh"), REFUSED),
    _case("link-hard", "an approved script that is changed under a second name outside", _second_name, CHANGED),
    _case("pipe", "a pipe among the scripts of an approved pattern", _pipe, REFUSED),
    _case("class", "a script behind a pattern with a class of letters", _script("sh ./[[:lower:]]un.sh", {"run.sh": "true\n"}, "run.sh"), CHANGED),
    _case("path-links", "PATH with links back into the workspace, and over the folder that a command is in", _path_of_links),
    _case("older", "approvals of a version that covered less", _old_record, "pending check Evil"),
    _case("fired-path", "an approved remediation whose check looks at another file", _fired({"type": "file", "path": "a"}, "path: a", "path: b"), FIRED),
    _case("fired-follow", "an approved remediation whose check follows redirects", _fired(_HTTP, "follow: no", "follow: 5"), FIRED),
    _case("fired-method", "an approved remediation whose check asks in another way", _fired(_HTTP, "method: GET", "method: HEAD"), FIRED),
    _case("agent-git", "a registered agent whose Aidefile calls `.git` its scratch", _agent('[memory]\nepisodic_dir = ".git"\n', ".git/objects/a.md"), "refused folders Evil", sample=True),
    _case("agent-source", "a registered agent whose Aidefile calls its sources its scratch", _agent('[memory]\nepisodic_dir = "src"\n', "src/a.py"), "refused folders Evil"),
    _case("agent-notes", "a registered agent whose Aidefile has chosen another folder", _agent('[memory]\nepisodic_dir = "docs"\n', "docs/a.md"), "pending folders Evil"),
)  # fmt: skip
