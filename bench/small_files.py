"""The five files of a generated workspace that stay small: knowledge, contacts, plans, monitors, config."""

from __future__ import annotations

from datetime import datetime, timedelta

from bench import words


def build(now: datetime, *, knowledge: int, monitors: int) -> dict[str, str]:
    """Return file name → text, with that many knowledge bullets and monitors."""
    stamp = f"{now:%Y-%m-%dT%H:%M:%SZ}"
    return {
        "knowledge.md": _knowledge(stamp, now, knowledge),
        "contacts.md": CONTACTS.format(stamp=stamp),
        "orchestration.md": PLANS.replace("{stamp}", stamp).replace("{day}", f"{now:%Y-%m-%d}"),
        "monitors.md": _monitors(stamp, monitors),
        "config.md": CONFIG.format(stamp=stamp),
    }


def _knowledge(stamp: str, now: datetime, count: int) -> str:
    bullets = [f"- {words.SENTENCES[index % len(words.SENTENCES)]} ({index})\n" for index in range(count)]
    third = count // 3
    decisions = [
        f"- {now - timedelta(days=index):%Y-%m-%d}: {words.VERBS[index % 20]} {words.THINGS[index % 30]} (faster)\n"
        for index in range(third)
    ]
    return (
        f"---\ntype: knowledge-base\nupdated: {stamp}\n---\n\n"
        f"## User Preferences\n\n{''.join(bullets[:third])}\n"
        f"## Project Knowledge\n\n### E-commerce Platform\n\n{''.join(bullets[third : 2 * third])}\n"
        f"### 市场网站\n\n- Framework: Next.js 14 with App Router\n\n"
        f"## Technical Facts\n\n{''.join(bullets[2 * third :])}\n"
        f"## Decisions Made\n\n{''.join(decisions)}"
    )


def _monitors(stamp: str, count: int) -> str:
    entries = []
    for index in range(1, count + 1):
        check = (
            f"- type: http\n- url: https://api{index}.example.com/health\n"
            if index % 2
            else "- type: command\n- command: df -h / | awk 'NR==2 {print $5}' | tr -d '%'\n"
        )
        repair = "pm2 restart api-server" if index % 3 else "null (notify only)"
        entries.append(
            f"### Service {index}\n\n{check}- interval: */5 * * * * (every 5 min)\n"
            f"- cronJobId: cron-mon-{index:03}\n"
            f"- threshold: {'status != 200' if index % 2 else 'value > 90'}\n- alertPriority: high\n"
            f"- autoRemediate: {repair}\n- lastCheck: {stamp}\n- lastStatus: healthy\n\n"
        )
    return f"---\ntype: monitor-config\nupdated: {stamp}\n---\n\n## Monitors\n\n{''.join(entries)}"


CONTACTS = """---
type: contacts
updated: {stamp}
---

## Channels

| Name | ID | Type | Status |
|------|-----|------|--------|
| Dev Team Bot | channel-abc123 | telegram | connected |
| Slack Alerts | channel-def456 | webhook | disconnected |
| 钉钉团队 | channel-ghi789 | webhook | connected |

## Message Routes

| Channel | Project | Prefix | Terminal |
|---------|---------|--------|----------|
| Dev Team Bot | project-123 | /ask | auto |
| Dev Team Bot | project-456 | /deploy | auto |

## People

- **Alice** (PM): Reach via Telegram Dev Team Bot, prefers morning updates
- **Bob** (DevOps): Reach via Slack Alerts, on-call weekdays
- **王芳** (Support): 通过钉钉联系
"""

PLANS = """---
type: orchestration-state
updated: {stamp}
---

## Active Plans

### Build the new checkout

- planId: orch-c0ffee
- status: running
- created: {day}
- currentPhase: 2
- progress: 40%
- projects: ecommerce-backend, ecommerce-frontend

| id | project | title | phase | dependsOn | status | progress |
|----|---------|-------|-------|-----------|--------|----------|
| t1 | ecommerce-backend | Order schema | 1 | | completed | 100% |
| t2 | ecommerce-backend | Payment API | 2 | t1 | running | 30% |
| t3 | ecommerce-frontend | Checkout form | 2 | t1 | pending | 0% |

## Completed Plans
"""

CONFIG = """---
type: agent-config
setupComplete: true
setupDate: {stamp}
---

## Workspace

- timezone: UTC
- journalTaskChanges: true

## Heartbeat

- expression: */30 * * * *
- cronJobId: cron-heartbeat-001
- projectId: project-123

## Default Notification

- target: im
- channelId: channel-abc123
- priority: normal

## IM Configuration

- primaryChannel: channel-abc123 (Telegram)
- secondaryChannel: channel-def456 (Slack)

## Memory Maintenance

- archiveCompletedAfterDays: 7
- pruneJournalAfterDays: 30
- maxJournalEntries: 500
"""
