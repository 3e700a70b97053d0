"""Writes the page of all keys from the bindings: `python -m app.tui.keys.reference > docs/keys.md`."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from widgets.chrome.keys import key_name

from .bindings import KnownBinding, known_bindings

INTRODUCTION = """\
# Keys

Made from the bindings by `python -m app.tui.keys.reference > docs/keys.md`; a test compares. The ids are stable.

`?` in the application shows the keys of the pane and those that work everywhere, and why some do nothing now. Type a
word to find one, by its name or a usual other one (delete, rename, settings); Enter does it. `F1` explains the part
that has the focus, and `:` finds every command that works now. `L` writes a letter beside every row, pane and link on
the screen: type it to go there. `memdeck keys` prints this list with the keys as they are for you.

A digit opens its pane at once, so no count precedes a motion: `5j` opens pane 5 and moves down there.

## Your own keys

Every key can be another one. `~/.config/memdeck/keys.toml` (or `$XDG_CONFIG_HOME/memdeck/keys.toml`) names an id of
the tables below and the keys that it gets instead of its own:

```toml
task.done = "f5"                # one key
task.start = ["s", "ctrl+e"]    # or several
upkeep.prune = []               # or none: the palette still has it
app.theme = "f9"                # what had none can have one
list.half_down = "ctrl+j"
```

A key is a character as you type it (`?`, `A`), a name (`Esc`, `Enter`, `Space`, `PgUp`, `f1` to `f24`), or one of these
behind `ctrl+`, `alt+` or `shift+`. The footer, `?`, `F1` and the palette show the keys that you chose. memdeck reads
the file when it starts. What it cannot read it says with the line, and keeps its own keys for that. A
`keys.toml` inside the workspace itself does not count.

Most terminals write `Alt` with a key as they write `Esc` and that key. Where `Alt` with it means nothing, it is these
two: who types fast on a busy machine loses no `Esc`.

None of memdeck's own keys depends on those that tmux, screen, zellij and wezterm keep for themselves.
"""


def keys_page() -> str:
    """Return the whole page as Markdown."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield INTRODUCTION
    groups: dict[str, list[KnownBinding]] = {}
    for known in known_bindings():
        groups.setdefault(known.group, []).append(known)
    for name, rows in groups.items():
        yield f"## {name}\n"
        yield "| key | does | id |"
        yield "| :- | :- | :- |"
        for known in rows:
            keys = " ".join(f"`{key_name(key)}`" for key in known.keys) or "palette"
            yield f"| {keys.replace('|', '&#124;')} | {known.description} | `{known.id}` |"
        yield ""


if __name__ == "__main__":
    sys.stdout.write(keys_page())
