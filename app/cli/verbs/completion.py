"""The script that completes the command line in a shell."""

from __future__ import annotations

from click.shell_completion import ShellComplete, get_completion_class

from app.cli.root import root
from memory.operations import Choice, Context, argument, shows, verb
from memory.operations.result import Result


@verb(
    "completion",
    serves="machine",
    looks=shows,
    examples=(
        "memdeck completion bash > ~/.local/share/bash-completion/completions/memdeck",
        "memdeck completion zsh > ~/.zfunc/_memdeck",
        "memdeck completion fish > ~/.config/fish/completions/memdeck.fish",
    ),
)
@argument("shell", type=Choice(("bash", "zsh", "fish")))
def completion(_context: Context, shell: str) -> Result:
    """Print a script that completes verbs, options and refs in bash, zsh or fish."""
    kind = get_completion_class(shell)
    assert kind is not None
    # The class for bash would first start a bash to ask for its version.
    script = ShellComplete.source(kind(root, {}, "memdeck", "_MEMDECK_COMPLETE"))
    return Result(lambda: {"shell": shell, "script": script}, lambda _: script.rstrip("\n").split("\n"))
