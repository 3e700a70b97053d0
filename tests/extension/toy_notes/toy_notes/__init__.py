"""A folder of `.txt` notes as a memory system of memdeck."""

from __future__ import annotations

from memory.registry import PaneEntry, SystemName, VerbName

SYSTEM = SystemName(
    name="notes",
    title="notes",
    mark=".notes",
    place="toy_notes.system:Notes",
    kinds=("notes",),
    verbs=(VerbName("notes", "toy_notes.verbs:notes", "List, add and remove notes."),),
    panes=(PaneEntry("notes", "Notes", "toy_notes.pane:NotesPane", files=(".notes/",)),),
)
