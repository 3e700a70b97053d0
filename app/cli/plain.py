"""`memdeck --maintain` as cron calls it, read without the command line's library, whose import takes a tenth of a run.

What is not plain is for the library, which says what is wrong as well: help, abbreviations, a value glued to its
option or one that looks like an option, anything given twice, whatever nobody knows.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from .session import OUTPUTS, Session

_CHOICES = {"--dry-run": "dry_run", "--no-exec": "no_exec", "--force": "force"}
_COMMON = {"--no-color": "no_color", "--safe": "safe"}
_VALUES = {
    "-w": "folder",
    "--workspace": "folder",
    "-o": "output",
    "--output": "output",
    "--actor": "actor_option",
    "--now": "now_option",
}


class Plain:
    """The words of a plain call: attributes of the session in the order in which they were given, and the rest."""

    def __init__(self, common: Mapping[str, str | bool], folder: str | None, chosen: Collection[str]) -> None:
        """`chosen` are the names of the options that are set."""
        self.common = common
        self.folder = folder
        self.dry_run, self.no_exec, self.force = (name in chosen for name in _CHOICES.values())

    def tell(self, session: Session) -> None:
        """Put what was given into the session; UsageError for a time or a name that no verb can use."""
        for name, value in self.common.items():
            setattr(session, name, value)
            session.check()

    def run(self, session: Session) -> int:
        """Do it and return the exit code; raises as the verb does."""
        from .upkeep import keep_small

        self.tell(session)
        return keep_small(session, self.folder, dry_run=self.dry_run, no_exec=self.no_exec, force=self.force)


def read_plain(arguments: Sequence[str]) -> Plain | None:
    """Return what `--maintain` and the words behind it ask for, None where that is for the library to say."""
    if arguments[:1] != ["--maintain"]:
        return None
    common: dict[str, str | bool] = {}
    chosen: set[str] = set()
    folder: str | None = None
    words = iter(arguments[1:])
    for word in words:
        if not word:
            return None
        if word[0] != "-":
            if folder is not None:
                return None
            folder = word
        elif word in _CHOICES and _CHOICES[word] not in chosen:
            chosen.add(_CHOICES[word])
        elif word in _COMMON and _COMMON[word] not in common:
            common[_COMMON[word]] = True
        elif word in _VALUES and _VALUES[word] not in common:
            value = next(words, "-")
            if value[:1] in ("", "-") or (_VALUES[word] == "output" and value not in OUTPUTS):
                return None
            common[_VALUES[word]] = value
        else:
            return None
    return Plain(common, folder, chosen)
