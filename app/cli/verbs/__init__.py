"""The verbs of the command line, one module or package per noun: their places, and their lines in `memdeck --help`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from memory.registry import REGISTRY, registered

_HERE = "app.cli.verbs."
_OF_SYSTEMS = {verb.name: (verb.place, verb.text) for system in REGISTRY for verb in system.verbs}
_OWN: dict[str, tuple[str, str]] = _OF_SYSTEMS | {
    name: (place if place.startswith("memory.") else _HERE + place, text)
    for name, (place, text) in {
        "init": ("opening:init", "Create the memory files of a workspace."),
        "mcp": ("servers.mcp:mcp", "Serve the memory to agents over the Model Context Protocol (MCP)."),
        "api": ("servers.api:api", "Serve the memory to programs over HTTP or a socket."),
        "serve": ("servers.serve:serve", "Open a workspace in a browser on this machine."),
        "demo": ("opening:demo", "Create a lively sample workspace and open it."),
        "status": ("memory.systems.operations:status", "Show a summary: due, overdue, monitors, problems."),
        "search": ("memory.search.operations:search", "Find words in all memory files and the archive."),
        "archive": ("memory.maintenance.operations:archive", "Move tasks completed a while ago to the archive."),
        "prune": ("memory.maintenance.operations:prune", "Move old journal entries to the archive."),
        "notify": ("memory.monitoring.operations:notify", "Send a test message to the channels of monitors."),
        "restore": ("memory.history.operations:restore", "Bring an archived entry back to where it came from."),
        "changes": ("memory.history.operations:changes", "List, show and revert changes by any author."),
        "undo": ("memory.history.operations:undo", "Undo your newest change."),
        "redo": ("memory.history.operations:redo", "Redo the change that was undone last."),
        "review": ("memory.review.operations:review", "Accept or reject changes that agents propose."),
        "trust": ("trust:trust", "Approve, deny and revoke what memory files may run."),
        "check": ("memory.systems.operations:check", "Report problems in memory files, with file and line."),
        "still-true": ("memory.proof.operations:still_true", "Confirm that an entry in doubt is still true."),
        "relink": ("memory.proof.operations:relink", "Update entries that name renamed files."),
        "supersede": ("memory.proof.operations:supersede", "Remove an entry that no longer holds."),
        "doctor": ("doctor.doctor:doctor", "Check the environment; print cron and systemd entries."),
        "fleet": ("fleet:fleet", "List, search, check and maintain all your workspaces."),
        "convert": (
            "memory.convert.operations:convert",
            "Copy entries from one memory or another tool into a memory.",
        ),
        "prompt": ("prompt:prompt", "Show what agents are told, block by block."),
        "hook": ("prompt:hook", "Answer a hook of an agent's client."),
        "connect": ("connect:connect", "Connect an agent's client, such as Claude Code or Codex."),
        "disconnect": ("connect:disconnect", "Remove what connect wrote, byte for byte."),
        "git": ("git:git", "Set up git to merge memory files by entries."),
        "merge": ("git:merge", "Merge three versions of a memory file, as git asks for."),
        "completion": ("completion:completion", "Print the completion script of a shell."),
    }.items()
}


class _Verbs(Mapping[str, tuple[str, str]]):
    """memdeck's own verbs, then those of the systems of other packages, which are searched only when they are needed.

    A verb of another package that is named like one of memdeck's own is left out.
    """

    def __getitem__(self, name: str) -> tuple[str, str]:
        return _OWN[name] if name in _OWN else _of_others()[name]

    def __iter__(self) -> Iterator[str]:
        return iter((*_OWN, *_of_others()))

    def __len__(self) -> int:
        return len(_OWN) + len(_of_others())


def _of_others() -> dict[str, tuple[str, str]]:
    others = registered()[len(REGISTRY) :]
    found = {verb.name: (verb.place, verb.text) for system in others for verb in system.verbs}
    return {name: value for name, value in found.items() if name not in _OWN}


VERBS: Mapping[str, tuple[str, str]] = _Verbs()
"""Each verb with its place (module:attribute) and its line of `memdeck --help`."""

FORMS = {
    "open": _HERE + "opening:open_workspace",
    "maintain": "memory.maintenance.operations:maintain",
}
"""The forms of the command that are no verbs, with their places."""


PARTS: dict[str, tuple[str, ...]] = {
    "Begin": ("init", "demo", "serve"),
    "Agents": ("connect", "disconnect", "mcp", "api", "prompt", "hook"),
    "Look": ("status", "search"),
    "Memory": tuple(_OF_SYSTEMS),
    "Upkeep": ("archive", "prune", "restore", "convert", "notify"),
    "History and consent": ("changes", "undo", "redo", "review", "trust"),
    "Many workspaces": ("fleet",),
    "Git": ("git", "merge"),
    "Care": ("check", "relink", "still-true", "supersede", "doctor", "completion"),
}
"""The names under the headings of `memdeck --help`."""
