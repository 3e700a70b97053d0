"""Monitoring: what a monitor measures, when a measurement is bad, and what runs in response.

`run.run.keep_watch` is one run over everything that is due: claims, checks, alerts, remediation, messages, and one
transaction that writes it back. `history.overview.standings` returns the state of monitors, `checks.action.run_action`
runs a task's action.

`thresholds` parses the rule, `checks` measures one monitor, `many` measures several at once. Commands run through
`process`, which leaves no process of theirs behind.
"""
