"""Sessions of agents as evidence: finding the files of a source, and reading what each of them says.

Only text that the person and the agent wrote counts: no output of tools, no system messages, no thinking, and no side
conversations with subagents.
"""

from __future__ import annotations
