"""Watching: what a monitor measures, when that is bad, and what runs for it.

`thresholds` reads the rule, `checks` measures one monitor, `many` measures several at once; commands run through
`process`, which leaves nothing of them behind.
"""
