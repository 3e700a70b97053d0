"""Monitoring: what a monitor measures, when a measurement is bad, and what runs in response.

`run.keep_watch` is one run over everything that is due: claims, checks, alerts, remediation, messages, and one
transaction that writes it back. `overview.standings` returns the state of monitors, `action.run_action` runs a task's
action.

`settings` reads the fields of a monitor, `threshold` the rule when it is bad; `checks` measures, `alerts` decides when
that is told, and `messages` to whom. Commands run through `command`, which leaves no process of theirs behind.
"""
