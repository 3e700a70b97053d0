"""Problems with the current keys: two meanings, keys that never arrive, characters that are typed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from widgets.chrome.keys import key_name

from .bindings import TYPING, known_bindings, shared_keys
from .keymap import Keymap, KeyProblem, is_character_name

TAKEN: dict[str, frozenset[str]] = {
    "tmux": frozenset({"ctrl+b"}),
    "screen": frozenset({"ctrl+a"}),
    "zellij": frozenset(
        {f"ctrl+{letter}" for letter in "gpnosthqb"}
        | {f"alt+{name}" for name in ("n", "f", "h", "j", "k", "l", "i", "o", "p", "left", "right", "up", "down")}
        | {f"alt+{name}" for name in ("plus", "minus", "equals_sign", "left_square_bracket", "right_square_bracket")}
    ),
    "wezterm": frozenset(
        {f"ctrl+shift+{name}" for name in (*"cvntwprlufkzmhx", "space", "left", "right", "up", "down", "tab")}
        | {"ctrl+tab", "ctrl+plus", "ctrl+minus", "ctrl+0", "alt+enter", "shift+pageup", "shift+pagedown"}
    ),
}
"""Keys that terminal multiplexers take by default: their prefixes and their own keys."""

VARIABLES = {"tmux": "TMUX", "screen": "STY", "zellij": "ZELLIJ", "wezterm": "WEZTERM_PANE"}
"""The environment variable that shows that a multiplexer is running."""

SAME = {"ctrl+i": "Tab", "ctrl+m": "Enter", "ctrl+left_square_bracket": "Esc"}
"""Keys that most terminals send as another key."""


def running(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the multiplexers around this terminal."""
    return tuple(name for name, variable in VARIABLES.items() if environ.get(variable))


def conflicts(keymap: Keymap, environ: Mapping[str, str]) -> Iterator[KeyProblem]:
    """Yield everything that a user may want to fix, with the line of `keys.toml` if it comes from there."""

    def problem(binding_id: str, message: str) -> KeyProblem:
        line = keymap.lines.get(binding_id, 0)
        return KeyProblem(message, keymap.path if line else "", line)

    for key, winner, loser in shared_keys(keymap):
        chosen = winner.id if winner.id in keymap.rebound else loser.id
        yield problem(chosen, f"{key_name(key)} means {winner.id} and {loser.id}; {winner.id} wins where both apply")
    around = running(environ)
    for known in known_bindings():
        keys = keymap.keys(known.id, known.keys)
        chosen_here = known.id in keymap.rebound
        for name, taken in TAKEN.items():
            lost = [key for key in keys if key in taken]
            # Users should know about a key they chose even if no multiplexer runs; default keys have alternatives.
            if lost and (chosen_here or (name in around and len(lost) == len(keys))):
                rest = "" if len(lost) < len(keys) else ", and it has no other"
                yield problem(known.id, f"{known.id}: {name} takes {key_name(lost[0])} for itself{rest}")
        if not chosen_here:
            continue
        for key in keys:
            if key in SAME:
                yield problem(known.id, f"{known.id}: most terminals send {key} as {SAME[key]}")
            if known.part in TYPING and is_character_name(key):
                yield problem(known.id, f"{known.id}: {key_name(key)} could not be typed any more")


def all_problems(keymap: Keymap, environ: Mapping[str, str]) -> tuple[KeyProblem, ...]:
    """Return the problems of the file, then those of the keys."""
    return (*keymap.problems, *conflicts(keymap, environ))
