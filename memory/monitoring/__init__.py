"""Monitoring: what a monitor measures, when that is bad, and what runs for it.

`keep.keep_watch` is one run over everything that is due: claims, checks, alerts, remediation, messages, and one
transaction that writes it back. `overview.standings` says how monitors stand, `action.run_action` runs a task's action.

`thresholds` reads the rule, `checks` measures one monitor, `many` measures several at once; commands run through
`process`, which leaves nothing of them behind.
"""
