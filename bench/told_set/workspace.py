"""A workspace as a team of five and its agents leave it after three months: all systems, made by code."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from memory.curated.operations.registry import BY_NAME, OperationCall
from memory.curated.system import CuratedMemory
from memory.state import bundles
from memory.state.analysis.analyse import analyse
from memory.state.system import ProjectState
from memory.systems import system_of
from memory.workspace import Workspace

NOW = datetime(2026, 3, 6, 10, 0, tzinfo=UTC)
"""A Friday."""
PEOPLE = "human"

TASKS = """\
---
type: task-list
---

## Pending

### [HIGH] Rotate the Stripe webhook secret
- due: 2026-03-03
- assigned: claude-code
- tags: security, billing
- notes: Priya puts the new one into Vault first; the old one is accepted for 24 hours
- action: Ask Priya for the go before anything is switched

### [HIGH] Send the February invoices
- due: 2026-03-06
- assigned: claude-code
- tags: billing
- notes: The three Danish customers get them without VAT, their numbers are in the sheet "EU VAT"
- action: make invoices MONTH=2026-02

### [NORMAL] Review the offer for the data centre in Frankfurt
- due: 2026-03-06
- assigned: Marta
- notes: The offer ends on Monday

### [NORMAL] Write the release notes for 4.2
- due: 2026-03-10
- assigned: claude-code
- tags: docs

### [NORMAL] Replace the seat map library
- due: 2026-03-20
- assigned: Jonas
- tags: frontend
- notes: The old one has no touch support; candidates are seatsio and our own canvas

### [NORMAL] Weekly check of the backups
- due: recurring: 0 9 * * 1
- assigned: claude-code
- notes: Restore one table into the scratch database and compare the counts

### [LOW] Clean up the feature flags that are on for everybody
- created: 2026-02-20
- tags: code

### [LOW] Try the new profiler on the checkout
- created: 2026-02-11

### [NORMAL] Translate the emails to Danish
- due: 2026-03-12
- assigned: Lena
- tags: i18n

### [NORMAL] Delete the accounts that asked for it under GDPR
- due: 2026-03-09
- assigned: claude-code
- tags: privacy
- notes: Four accounts, listed in the support queue; Lena confirms each one

### [LOW] Move the CI runners to arm64
- created: 2026-02-25
- tags: ci

## In Progress

### [HIGH] Move the sessions from Redis to Postgres
- started: 2026-03-02 09:00
- assigned: claude-code
- progress: 60%
- notes: Reads go to both since Wednesday; writes still go to Redis only
- tags: infra

### [NORMAL] Load test for the summer festival sale
- started: 2026-03-04 14:00
- assigned: Priya
- progress: 30%
- notes: Target is 900 orders a minute; we reach 640 until the seat lock table blocks

## Completed (last 7 days)

### [HIGH] Fix the double charge of gift cards
- completed: 2026-03-02 16:40
- assigned: Jonas
- outcome: The retry used a new idempotency key; it keeps the first one now, 14 customers were refunded

### [NORMAL] Upgrade Postgres to 17
- completed: 2026-03-01 08:30
- assigned: Priya
- outcome: Eleven minutes of downtime, the replica followed an hour later
"""
JOURNAL = """\
---
type: agent-journal
---

## 2026-03-05

### 17:20 — Session migration, dual reads
- Both stores are read, Postgres wins where they differ
- 0.3 % of the sessions differ: those with a cart older than a day
- Next: write to both, then watch a weekend

### 11:05 — Call with the festival
- They expect 40,000 visitors in the first ten minutes
- The sale opens on 1 June at noon, with a waiting room

## 2026-03-04

### 15:10 — Outage of the search
- The index disk was full: 20 minutes without search
- Priya freed 80 GB of old snapshots and set the retention to five days

### 09:40 — Invoices prepared
- January is complete, two bounced: Aarhus Teater and Klub Nord

## 2026-03-03

### 16:00 — Review of the refund flow
- Refunds over 500 euros need a second person from now on

### 10:15 — Heartbeat
- 9 open tasks, 1 due today

## 2026-03-02

### 16:45 — Gift cards charged twice
- Cause: a retry made a new idempotency key
- 14 customers refunded, Lena wrote to each

### 09:10 — Heartbeat
- 10 open tasks, none due today

## 2026-02-27

### 14:00 — Decision about the queue
- We keep RabbitMQ; Kafka was too much to run for five people

### 10:20 — Release 4.1
- 4.1.0 is live, the rollback was not needed

## 2026-02-24

### 13:30 — Certificate of the partner API
- It expires on 30 April; Priya has the reminder

### 11:00 — Heartbeat
- 12 open tasks, none due today

## 2026-02-20

### 15:00 — Talk with support
- Most tickets are about PDF tickets that phones cannot open
- Lena wants a wallet pass instead
"""
KNOWLEDGE = """\
---
type: knowledge
---

## User Preferences

- Never push to main without asking Marta
- No deploys on Fridays after 12:00, and none in the week of a festival sale
- Marta wants the number first, then the date, then the reason
- Write commit messages as imperative sentences, without a prefix
- Prices are always written with the currency behind the number: 12.50 EUR
- Never mail customers directly: drafts go to Lena, who sends them
- Ask before a dependency is added

## Technical Facts

### Infrastructure

- Production runs in two zones behind HAProxy; staging is one machine in Falkenstein
- The staging database is a copy of production from Sunday night, with the mail addresses scrambled
- Logs are kept for 30 days in Loki; older ones are in the bucket tide-logs
- Backups are written at 03:00 UTC by pgBackRest and kept for 35 days
- The VPN needs a new certificate every 90 days; Priya issues them
- The on-call phone changes hands on Mondays at 10:00

### Code

- The checkout is in services/checkout, written in Go; everything else is TypeScript
- Money is stored in cents as integers, never as floats
- Feature flags are read from flags.yaml at the start; a change needs a restart
- Seat locks expire after eight minutes
- The PDF renderer needs the fonts of /opt/fonts, else it draws boxes
- E-mail templates are in mjml, built by `make mails`
- The public API is versioned by date, the current version is 2026-01-15
- Tests against Stripe use the account "tide-sandbox"; its key is in Vault under stripe/sandbox

### Business

- Refunds take five to ten days to reach the customer's bank
- Organisers are paid out every Tuesday, two weeks after the event
- The largest customer is Nordlys Festival, 31 % of the revenue
- Support answers within four hours on weekdays

## Decisions Made

- 2026-02-27: We keep RabbitMQ as the queue (Kafka is too much to run for five people)
- 2026-02-18: Sessions move to Postgres (one store less to run, and Redis lost them twice at a restart)
- 2026-02-10: The mobile app is a web app (two native apps would need two more developers)
- 2026-01-29: Tickets are signed with Ed25519 (scanners verify them without a network)
- 2026-01-22: No discount codes in the seat map (organisers set prices by zone instead)
- 2026-01-14: Feature branches live at most three days (long ones broke two releases)
- 2025-12-12: VAT is computed by our own tables (the service was wrong for Denmark)
"""
CONTACTS = """\
---
type: contacts
---

## Channels

| Name | ID | Type | Status |
|------|----|------|--------|
| Ops alerts | C-OPS | slack | connected |
| Support queue | C-SUP | zendesk | connected |

## Message Routes

| Channel | Project | Prefix | Terminal |
|---------|---------|--------|----------|
| C-OPS | tidepool | ops: | term-1 |

## People

- **Marta Lind** (founder): decides about money and contracts; reach her by phone before 9:00
- **Jonas Weber** (backend): knows the checkout and the payments; works from Lisbon, one hour behind
- **Priya Nair** (operations): databases, Vault, certificates; on call until 9 March
- **Lena Holm** (support): writes to customers, speaks Danish and German
- **Søren Krogh** (Nordlys Festival): our contact at the largest customer, wants a weekly figure on Mondays
"""
PLANS = """\
---
type: orchestration
---

## Active Plans

### Summer festival sale

- planId: orch-fest01
- status: running
- created: 2026-02-16 09:00
- currentPhase: 2
- progress: 40%
- projects: tidepool

| id | project | title | phase | dependsOn | status | progress |
|----|---------|-------|-------|-----------|--------|----------|
| t1 | tidepool | Waiting room in front of the shop | 1 | | completed | 100% |
| t2 | tidepool | Load test at 900 orders a minute | 2 | t1 | running | 30% |
| t3 | tidepool | Freeze all other releases | 3 | t2 | pending | 0% |
"""
MONITORS = """\
---
type: monitors
---

## Monitors

### Shop front
- type: http
- url: https://tidepool.example/health
- threshold: status == 200
- interval: */5 * * * *
- lastStatus: healthy

### Disk of the search index
- type: command
- command: df --output=pcent /srv/index
- threshold: value < 85
- interval: */15 * * * *
- lastStatus: unhealthy (91 % used)
- lastCheck: 2026-03-06 09:45
"""
CONFIG = """\
---
type: agent-config
---

## Workspace

- timezone: UTC

## Memory Maintenance

- archiveCompletedAfterDays: 7
- pruneJournalAfterDays: 30
"""
FACTS = (
    ("user", "Marta prefers short answers without an introduction", ("preference",), "2026-01-08"),
    ("user", "Use British spelling in everything customers read", ("preference", "style"), "2026-01-12"),
    ("workspace", "The Danish customers are Aarhus Teater, Klub Nord and Odense Jazz", ("billing",), "2026-02-02"),
    ("workspace", "The scanner app works offline for twelve hours", ("scanner",), "2026-02-05"),
    ("workspace", "The sandbox card that is always declined is 4000 0000 0000 0002", ("billing", "test"), "2026-02-07"),
    ("workspace", "HAProxy drains a zone with `make drain ZONE=a`, which takes four minutes", ("infra",), "2026-02-12"),
    ("workspace", "The barcode on paper tickets is a Data Matrix, on phones a QR code", ("scanner",), "2026-02-14"),
    ("workspace", "Wallet passes need the Apple certificate that Marta has on her laptop", ("mobile",), "2026-02-21"),
    ("workspace", "The index of the search is rebuilt in 50 minutes", ("search",), "2026-03-04"),
)
GOTCHAS = (
    (
        "Migrations lock the orders table",
        "ALTER TABLE on orders waits for the payout job and blocks the shop",
        "the payout job holds a lock from 01:00 to 02:30",
        "run migrations with `make migrate SAFE=1`, never in that time",
    ),
    (
        "Tests hang when the clock is set to Berlin",
        "the suite stops at the payout tests",
        "cron expressions are evaluated in local time",
        "export TZ=UTC before the tests",
    ),
    (
        "pnpm install breaks the seat map",
        "the map stays empty after an install",
        "the patch of the canvas package is not applied",
        "run `pnpm patch-commit` afterwards",
    ),
    (
        "The Go cache of CI is poisoned after a failed build",
        "checkout builds pass with old code",
        "the cache key ignores the generated files",
        "delete the cache before a rerun",
    ),
)
STEPS = (
    (
        "Write sessions to both stores",
        "reads are compared already, writes are not",
        "services/session/store.ts",
        "a weekend without a difference",
    ),
    (
        "Put the seat locks into their own table",
        "the load test stops at 640 orders a minute",
        "services/seats/lock.sql",
        "900 orders a minute on staging",
    ),
)
CURATED = (
    (
        "feedback",
        "Review comments",
        "How review comments are worded",
        "Say what blocks first, with file and line. No praise around it.",
    ),
    (
        "project",
        "Payout freeze",
        "Payouts stop before a payout day that is a holiday",
        "Payouts of a week with a holiday on Tuesday are made on Wednesday, and organisers are told on Monday.",
    ),
    (
        "reference",
        "Dashboards",
        "Where the figures are",
        "Orders and latency are in Grafana, board *golden signals*; revenue is in Metabase, question 118.",
    ),
)
README = "# Tidepool\n\nTickets for theatres and festivals.\n"


def make_workspace(root: Path, state_home: Path, home: Path) -> Workspace:
    """Write the workspace into a new folder, and return it opened."""
    memory = root / ".aiter" / "memory"
    memory.mkdir(parents=True)
    (root / "README.md").write_text(README)
    files = {
        "tasks": TASKS,
        "journal": JOURNAL,
        "knowledge": KNOWLEDGE,
        "contacts": CONTACTS,
        "orchestration": PLANS,
        "monitors": MONITORS,
        "config": CONFIG,
    }
    for name, text in files.items():
        (memory / f"{name}.md").write_text(text)
    facts = root / ".aegis/memory/memories.jsonl"
    facts.parent.mkdir(parents=True)
    rows = [
        {"id": f"m-{number}", "scope": scope, "text": text, "tags": list(tags), "ts": f"{day}T09:00:00Z"}
        for number, (scope, text, tags, day) in enumerate(FACTS, 1)
    ]
    facts.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    workspace = Workspace.open(root, state_home=state_home, home=home, machine_zone=UTC)
    _add_state(workspace, root)
    _add_curated(workspace)
    return workspace


def _add_state(workspace: Workspace, root: Path) -> None:
    store = system_of(workspace, "state", ProjectState).store
    bundles.init(store, analyse(root), actor=PEOPLE, now=NOW)
    parts = {
        "gotchas": [dict(zip(("title", "symptom", "cause", "correctPath"), one, strict=True)) for one in GOTCHAS],
        "next-steps": [dict(zip(("title", "why", "start", "done"), one, strict=True)) for one in STEPS],
    }
    for section, values in parts.items():
        before = store.memory().bundle[bundles.key_of(section)]
        bundles.edit(store, section, values, base=before, actor=PEOPLE, now=NOW)


def _add_curated(workspace: Workspace) -> None:
    curated = system_of(workspace, "curated", CuratedMemory).curated
    for kind, name, about, content in CURATED:
        values = {"scope": "workspace", "type": kind, "name": name, "description": about, "content": content}
        BY_NAME["write"].call(curated, values, OperationCall(NOW, PEOPLE, "cli"))
