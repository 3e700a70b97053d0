"""Which folders of an agent may be pruned at all, and which of them the Aidefile has chosen by itself."""

from __future__ import annotations

from memory.errors import RefusedError

from .aidefile import EPISODIC, PROCEDURAL, Aidefile
from .files import AgentFiles

USUAL = f'procedural_dir = "{PROCEDURAL}"\nepisodic_dir = "{EPISODIC}"'
"""The folders of an Aidefile that names none, as `folders_text` writes them."""
_MARKDOWN = (".md", ".markdown")


def folders_text(aidefile: Aidefile) -> str:
    """Return the two folders as a person is asked about them: where they really are, with links resolved."""
    return f'procedural_dir = "{aidefile.procedural_real}"\nepisodic_dir = "{aidefile.episodic_real}"'


def folder_refusal(aidefile: Aidefile, found: AgentFiles) -> RefusedError | None:
    """Return why nobody can let the folders be pruned: one is hidden, or what it holds is no memory.

    A folder that the Aidefile chose must hold Markdown, or nothing: `src` is no memory, whatever a file calls it.
    """
    for key, written, real, usual in (
        ("procedural_dir", aidefile.procedural_dir, aidefile.procedural_real, PROCEDURAL),
        ("episodic_dir", aidefile.episodic_dir, aidefile.episodic_real, EPISODIC),
    ):
        names = [part for part in (*written.split("/"), *real.split("/")) if part not in ("", ".", "..")]
        if any(part.startswith(".") for part in names):
            return _refused(f"{key} is {written[:80]!r}, and a folder whose name begins with a dot is never pruned")
        inside = [file.path for file in found.files if file.path.startswith(real + "/")]
        if real != usual and inside and not any(path.casefold().endswith(_MARKDOWN) for path in inside):
            return _refused(f"{key} is {written[:80]!r}, which holds no Markdown, so it is no memory and is not pruned")
    return None


def _refused(message: str) -> RefusedError:
    return RefusedError("typed.folder", message, "mend [memory] in the Aidefile")
