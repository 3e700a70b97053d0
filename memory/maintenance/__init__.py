"""Maintenance: the rules that keep the memory files small, their plan, the independent check, and the report."""

from __future__ import annotations

from .plan import MaintenancePlan, plan_maintenance
from .report import Report, RuleReport, render
from .rules import ALL_RULES, ARCHIVE_TASKS, CAP_JOURNAL, CLEAR_PLANS, JOURNAL_RULES, PRUNE_JOURNAL, TASK_RULES
from .run import maintain

__all__ = [
    "ALL_RULES",
    "ARCHIVE_TASKS",
    "CAP_JOURNAL",
    "CLEAR_PLANS",
    "JOURNAL_RULES",
    "PRUNE_JOURNAL",
    "TASK_RULES",
    "MaintenancePlan",
    "Report",
    "RuleReport",
    "maintain",
    "plan_maintenance",
    "render",
]
