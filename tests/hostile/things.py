"""What lies in the repository: files, links, planted records, settings of other tools, and things that Python imports."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from tests.corpus import planted as bad

from .case import Case
from .commands import PENDING
from .ground import CHANNELS, EVIL, Ground

Build = Callable[[Ground], object]


def _case(name: str, says: str, build: Build, *asks: str, **more: Any) -> Case:
    return Case(f"file/{name}", says, build, asks, **more)


def _fields(**fields: str) -> Build:
    return lambda ground: ground.only("Evil", {"interval": "* * * * *", **fields})


def _link(name: str, target: str) -> Build:
    """Put a link in the place of something of the memory folder or beside it."""

    def build(ground: Ground) -> None:
        path = ground.memory / name
        if path.is_dir():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(ground.text(target))

    return build


def _whole_link(ground: Ground) -> None:
    ground.aiter.rename(ground.outside / "aiter")
    ground.aiter.symlink_to(ground.outside / "aiter")


def _second_name(ground: Ground) -> None:
    os.link(ground.outside / "monitors.md", ground.file("monitors.md"))


def _pipe(ground: Ground) -> None:
    os.mkfifo(ground.file("monitors.md"))


def _file_link(ground: Ground) -> None:
    (ground.shop / "inside").symlink_to("/etc/shadow")
    ground.only("Evil", {"type": "file", "path": "inside", "interval": "* * * * *"})


def _lay(*files: tuple[str, str], mode: int = 0o755) -> Build:
    def build(ground: Ground) -> None:
        for path, text in files:
            ground.lay(path, text, mode)

    return build


def _approvals(ground: Ground) -> None:
    """Approvals of exactly these commands, from a machine with the same state folder, in the repository."""
    ground.only("Evil", {"type": "command", "command": EVIL, "interval": "* * * * *"})
    ground.approve(opened=True)
    record = ground.trust().path
    for folder in (
        ground.own / "trust",
        ground.shop / ".local/state/memdeck" / record.parent.parent.name / "trust",
        ground.shop,
    ):
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(record, folder)
    shutil.rmtree(ground.state)


def _history(ground: Ground) -> None:
    """The records of runs, states and messages, in the repository."""
    from memory.monitoring.run import keep_watch
    from memory.monitoring.watch import WatchServices

    workspace = bad_workspace(ground)
    ground.only("Evil", {"type": "file", "path": "missing", "interval": "* * * * *", "autoRemediate": EVIL})
    keep_watch(
        workspace, ground.trust(), datetime(2024, 1, 15, 11, 0, tzinfo=UTC), WatchServices({}, None), everything=True
    )
    [kept] = ground.state.rglob("monitors.sqlite")
    for folder in (ground.own, ground.aiter, ground.memory, ground.shop):
        folder.mkdir(exist_ok=True)
        shutil.copy(kept, folder)
    shutil.rmtree(ground.state)


def bad_workspace(ground: Ground) -> Any:
    """Open the workspace as the person would."""
    from memory.workspace import Workspace

    return Workspace.open(ground.shop, state_home=ground.state)


def _settings(ground: Ground) -> None:
    """Settings under every name that they might be looked for, with channels and hosts that may be reached."""
    for folder in ("", ".config/memdeck/", ".aiter/", ".aiter/memory/", ".aiter/.memdeck/", "memdeck/"):
        ground.lay(f"{folder}config.toml", '[trust]\nprivate_hosts = ["127.0.0.1", "localhost"]\n', 0o600)
    ground.open()
    ground.monitor("Evil", {"type": "http", "url": "http://127.0.0.1:9/", "interval": "* * * * *"})


def _channels(ground: Ground) -> None:
    for folder in ("", ".config/memdeck/", ".aiter/", ".aiter/memory/", ".aiter/.memdeck/"):
        ground.lay(f"{folder}channels.toml", CHANNELS, 0o600)


def _config_home(ground: Ground) -> None:
    """A person whose configuration folder lies in the workspace."""
    ground.lay("conf/memdeck/config.toml", '[trust]\nprivate_hosts = ["127.0.0.1"]\n', 0o600)
    ground.lay("conf/memdeck/channels.toml", CHANNELS, 0o600)
    ground.lay("conf/memdeck/keys.toml", f'[keys]\n"entry.run" = "{EVIL}"\n', 0o600)
    ground.open()
    ground.monitor("Evil", {"type": "http", "url": "http://127.0.0.1:9/", "interval": "* * * * *"})
    ground.environ["XDG_CONFIG_HOME"] = str(ground.shop / "conf")
    # They are opened, to say that they count for nothing.
    ground.reads += [f"shop/conf/memdeck/{name}.toml" for name in ("config", "channels")]


def _config_link(ground: Ground) -> None:
    """A person's configuration folder that is a link into the workspace."""
    ground.lay("conf/channels.toml", CHANNELS, 0o600)
    ground.lay("conf/config.toml", '[trust]\nprivate_hosts = ["127.0.0.1"]\n', 0o600)
    (ground.config / "memdeck").rmdir()
    (ground.config / "memdeck").symlink_to(ground.shop / "conf")
    ground.reads += [f"shop/conf/{name}.toml" for name in ("config", "channels")]


def _state_home(ground: Ground) -> None:
    """A person whose state folder lies in the workspace, with approvals in it."""
    ground.only("Evil", {"type": "command", "command": EVIL, "interval": "* * * * *"})
    ground.approve()
    ground.state.rename(ground.shop / "state")
    ground.environ["XDG_STATE_HOME"] = str(ground.shop / "state")


def _relative_home(ground: Ground) -> None:
    """Folders of the person that are relative, and would be the repository's."""
    _channels(ground)
    ground.environ |= {
        "XDG_STATE_HOME": ".",
        "XDG_CONFIG_HOME": ".config",
        "XDG_CACHE_HOME": ".",
        "XDG_RUNTIME_DIR": ".",
    }
    ground.writes.append(f"{ground.home}/.local")
    ground.reads += ["home/.local/", "home/.config/memdeck/channels.toml"]


def _editor(ground: Ground) -> None:
    """The settings of shells and tools that would name an editor; the person has one of their own."""
    for name in (".env", ".envrc", ".editor", "memdeck.env"):
        ground.lay(name, f"EDITOR='{EVIL}'\nVISUAL='{EVIL}'\nexport EDITOR VISUAL\n", 0o755)
    ground.environ["EDITOR"] = "/bin/true"
    ground.programs.append("/bin/true")


def _editor_in_path(ground: Ground) -> None:
    """A program of the workspace that has the name of the person's editor, with `.` on the path."""
    ground.lay("true", "#!/bin/sh\nexec id\n", 0o755)
    ground.environ |= {"EDITOR": "true", "PATH": f".:{os.environ['PATH']}"}
    ground.programs += [f"{folder}/true" for folder in os.environ["PATH"].split(":") if folder.startswith("/")]


_RUN = 'import os\nos.system("touch ../outside/ran")\nraise SystemExit(9)\n'
_HOOK = "#!/bin/sh\ntouch ../outside/ran\n"
SHADOW = "pending check Evil"
CASES = (
    _case("check-shadow", "a file check of the passwords", _fields(type="file", path="/etc/shadow"), SHADOW),
    _case("check-environ", "a file check of the environment", _fields(type="file", path="/proc/self/environ", threshold="size > 0"), SHADOW),
    _case("check-home", "a file check of `~/.ssh`", _fields(type="file", path="~/.ssh/id_ed25519"), SHADOW),
    _case("check-above", "a file check above the workspace", _fields(type="file", path="a/../../outside/secret.md"), SHADOW),
    _case("check-link", "a file check of a link that leads out", _file_link),
    _case("check-nul", "a file check with a NUL and a terminal sequence in its path", _fields(type="file", path="a\0\x1b]0;x\x07/etc/shadow")),
    _case("link-monitors", "monitors.md as a link to outside", _link("monitors.md", "{top}/outside/monitors.md"), sample=True),
    _case("link-config", "config.md as a link to the passwords", _link("config.md", "/etc/shadow")),
    _case("link-tasks", "tasks.md as a link to a device that never ends", _link("tasks.md", "/dev/zero")),
    _case("link-archive", "the archive as a link to a folder outside", _link("archive", "{top}/outside/folder")),
    _case("link-archive-file", "a file of the archive as a link to outside", _link("archive/journal-2024-01.md", "{top}/outside/secret.md")),
    _case("link-own", "memdeck's own folder as a link to outside", _link("../.memdeck", "{top}/outside/folder")),
    _case("link-stage", "the folder for unfinished files as a link to outside", _link("../.memdeck/stage", "{top}/outside/folder")),
    _case("link-lock", "the lock as a link to a file outside", _link("../.memdeck/lock", "{top}/outside/secret.md")),
    _case("link-ignore", "the `.gitignore` of memdeck's folder as a link to nothing outside", _link("../.memdeck/.gitignore", "{top}/outside/ran")),
    _case("link-whole", "the whole memory as a link to outside", _whole_link),
    _case("second-name", "monitors.md as a second name of a file outside", _second_name, "pending check Outside"),
    _case("pipe", "monitors.md as a pipe", _pipe),
    _case("intent", "an unfinished change that would be ended", lambda g: bad._records(g)),
    _case("log", "a change log with triggers", lambda g: bad._log(g)),
    _case("approvals", "approvals of the very commands, in the repository", _approvals, PENDING, sample=True),
    _case("history", "results, claims and messages that wait, in the repository", _history, "pending remediate Evil"),
    _case("settings", "settings that widen trust, in the repository", _settings, "pending url Evil"),
    _case("channels", "addresses of channels, in the repository", _channels),
    _case("keys", "bindings of keys to commands, in the repository", _lay((".config/memdeck/keys.toml", f'"q" = "{EVIL}"\n'), ("keys.toml", f'"q" = "{EVIL}"\n'))),
    _case("config-home", "XDG_CONFIG_HOME in the workspace", _config_home, "pending url Evil"),
    _case("config-link", "a configuration folder that links into the workspace", _config_link),
    _case("state-home", "XDG_STATE_HOME in the workspace, with approvals", _state_home, "refused check Evil", ends=1),
    _case("relative-home", "XDG folders that are relative", _relative_home),
    _case("editor", "`.env` and `.envrc` that set EDITOR and VISUAL", _editor),
    _case("editor-path", "a program named like the person's editor, with `.` in PATH", _editor_in_path),
    _case("tools", "settings of mise, direnv, just and task", _lay(("mise.toml", '[env]\n_.source = "./x"\n[hooks]\nenter = "id"\n'), (".mise.toml", '[hooks]\nenter="id"\n'), (".tool-versions", "python ref:x\n"), ("justfile", "default:\n\tid\n"), ("Taskfile.yml", "tasks: {default: id}\n"), (".config/mise/config.toml", "[hooks]\nenter='id'\n"))),
    _case("startup", "sitecustomize.py and usercustomize.py", _lay(("sitecustomize.py", _RUN), ("usercustomize.py", _RUN)), program=True, sample=True),
    _case("package-app", "a package `app` in the current folder", _lay(("app/__init__.py", _RUN), ("app/main.py", _RUN), ("app/cli/session.py", _RUN)), program=True),
    _case("package-memory", "packages `memory` and `widgets`", _lay(("memory/__init__.py", _RUN), ("memory/monitoring/command.py", _RUN), ("widgets/__init__.py", _RUN)), program=True),
    _case("library", "modules named like libraries", _lay(*((f"{name}.py", _RUN) for name in ("yaml", "textual", "click", "croniter", "apprise", "httpx", "markdown_it", "rich", "ctypes", "signal", "select")))),
    _case("library-started", "modules named like those of Python, for a program that starts there", _lay(*((f"{name}.py", _RUN) for name in ("os", "json", "random", "socket", "subprocess", "encodings/__init__"))), program=True),
    _case("project", "pyproject.toml, setup.cfg, conftest.py and .pth files", _lay(("pyproject.toml", "[project.scripts]\nmemdeck='evil:run'\n[build-system]\nrequires=[]\nbuild-backend='evil'\nbackend-path=['.']\n"), ("setup.py", _RUN), ("conftest.py", _RUN), ("evil.pth", "import os; os.system('id')\n"), ("python311._pth", ".\n"), ("pyvenv.cfg", "home = .\n")), program=True),
    _case("plugins", "entry points of plugins", _lay(("evil-1.dist-info/entry_points.txt", "[memdeck.plugins]\nevil = evil:run\n[apprise.plugins]\nevil = evil\n"), ("evil-1.dist-info/METADATA", "Name: evil\nVersion: 1\n"), ("evil.py", _RUN)), program=True),
    _case("git-hooks", "hooks and settings of git that run programs", _lay((".git/HEAD", "ref: refs/heads/main\n"), (".git/config", "[core]\n\tfsmonitor = touch ../outside/ran\n\tpager = id\n\teditor = id\n\tsshCommand = id\n[alias]\n\tstatus = !id\n"), *((f".git/hooks/{name}", _HOOK) for name in ("post-checkout", "post-commit", "pre-commit", "fsmonitor-watchman")))),
    _case("git-filters", "attributes of git with filters", _lay((".gitattributes", "*.md filter=evil diff=evil merge=evil\n"), (".git/config", "[filter \"evil\"]\n\tsmudge = id\n\tclean = id\n[diff \"evil\"]\n\ttextconv = id\n[merge \"evil\"]\n\tdriver = id %O %A %B\n"))),
    _case("templates", "templates that would be filled in", _lay((".aiter/templates/task.md", "{{ cycler.__init__.__globals__.os.popen('id').read() }}\n"), (".aiter/memory/templates/journal.md", "<% system('id') %> ${7*7} #{id} {{7*7}}\n"))),
    _case("styles", "styles and themes of terminal programs", _lay(("memdeck.tcss", "Screen { background: red; }\n"), ("themes/evil.py", _RUN), ("textual.css", "* { display: none; }\n"))),
    _case("terminfo", "descriptions of terminals and locales", _lay((".terminfo/x/xterm", "\x1a\x01"), ("locale/de/LC_MESSAGES/click.mo", "\xde\x12\x04\x95"), ("zoneinfo/UTC", "TZif2"))),
)  # fmt: skip
