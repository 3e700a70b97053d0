"""Monitoring: what a monitor measures, when a measurement is bad, and what runs in response.

`run.run.keep_watch` is one run over everything that is due: claims, checks, alerts, remediation, messages, and one
transaction that writes it back. `history.overview.standings` returns the state of monitors, `checks.action.run_action`
runs a task's action.

`settings` reads the fields of a monitor, `thresholds` the rule when it is bad; `checks` measures, and `alerts` decides
when that is told, and to whom. Commands run through `process`, which leaves no process of theirs behind.
"""
