"""The metrics of a fleet in the text format of Prometheus: its hosts, their agents and jobs, and its workspaces."""

from __future__ import annotations

from collections.abc import Iterable

from memory.monitoring.history.overview import MetricRows, exposition

from .model import FleetHost, WorkspaceOverview

_METRICS = {
    "fleet_host_age_seconds": "How long ago the agent of a host was heard of; absent if it never was.",
    "fleet_host_silent": "Whether that is too long.",
    "fleet_host_skew_seconds": "By how much the clock of a host is ahead of that of the database.",
    "fleet_agent_lag_seconds": "How old the oldest unread change of a host may be.",
    "fleet_agent_unread_workspaces": "Workspaces that an agent has not read since it started.",
    "fleet_agent_failures": "Failures of an agent since it started.",
    "fleet_jobs_waiting": "Jobs that a host has to do.",
    "fleet_jobs_failed": "Jobs of a host that ended with an error and are still kept.",
    "fleet_workspace_overdue": "Overdue tasks.",
    "fleet_workspace_failing": "Monitors whose last result was not healthy.",
    "fleet_workspace_stale": "Monitors without a result, and what no longer runs regularly.",
    "fleet_workspace_waiting": "What waits for an approval.",
    "fleet_workspace_problems": "Errors in the memory files.",
    "fleet_workspace_broken": "Whether a workspace could not be read.",
}


def fleet_metrics(hosts: Iterable[FleetHost], workspaces: Iterable[WorkspaceOverview]) -> str:
    """Return the metrics of hosts and workspaces; values that are not known are left out."""
    rows: MetricRows = {}

    def add(name: str, value: object, **labels: str) -> None:
        if isinstance(value, int | float):
            rows.setdefault(f"fleet_{name}", []).append((labels, value))

    for host in hosts:
        add("host_age_seconds", host.age, host=host.name)
        add("host_silent", host.silent, host=host.name)
        add("host_skew_seconds", host.skew, host=host.name)
        add("agent_lag_seconds", host.status.get("lag"), host=host.name)
        add("agent_unread_workspaces", host.status.get("unread"), host=host.name)
        add("agent_failures", host.status.get("failures"), host=host.name)
        add("jobs_waiting", host.waiting, host=host.name)
        add("jobs_failed", host.failed, host=host.name)
    for one in workspaces:
        place = {"host": one.host, "workspace": str(one.path)}
        add("workspace_broken", one.error is not None, **place)
        if one.error is None:
            for name in ("overdue", "failing", "stale", "waiting", "problems"):
                add(f"workspace_{name}", getattr(one, name), **place)
    return exposition(_METRICS, rows)
