"""The memories that clients of agents keep themselves: Claude Code and its subagents, Codex, Gemini CLI and VS Code.

`sources` finds their folders, `stores` changes them, `memories` reads a file, `index` is about `MEMORY.md`, `care`
checks them, `instructions` are the files that clients load at their start, `claims` compares those with memory.
"""
