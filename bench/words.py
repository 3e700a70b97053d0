"""The vocabulary of the generated workspaces: what people and agents write about, in several languages."""

from __future__ import annotations

AGENTS = (
    "heartbeat",
    "monitor-guardian",
    "support-responder",
    "orchestrator",
    "user",
    "alice",
    "bob",
    "周伟",
)
TAGS = (
    "deployment", "staging", "reporting", "weekly", "documentation", "monitoring", "api", "ci",
    "github-actions", "billing", "security", "frontend", "backend", "database", "ux", "i18n", "größe",
    "性能", "on-call", "customer", "refactoring", "tests", "infra", "search", "mobile",
)  # fmt: skip

VERBS = (
    "Deploy", "Fix", "Review", "Investigate", "Write", "Update", "Remove", "Rotate", "Benchmark", "Migrate",
    "Document", "Test", "Refactor", "Merge", "Roll back", "Triage", "Answer", "Translate", "Profile", "Split",
)  # fmt: skip
THINGS = (
    "the checkout service", "v2.1 of the API", "flaky login tests", "the README", "`npm audit` findings",
    "PostgreSQL indexes", "the weekly report", "Redis cache keys", "the webhook retry queue",
    "invoice numbering", "the product search", "image thumbnails", "TLS certificates", "rate limits",
    "the onboarding mail", "dark mode colours", "session cookies", "the GDPR export", "error budgets",
    "the `/health` endpoint", "the data warehouse sync", "CSV import of catalogues", "the stock ledger",
    "stale feature flags", "password reset e-mails", "the Kubernetes manifests", "log retention",
    "price rounding", "the mobile navigation", "the payment provider's sandbox",
)  # fmt: skip
PLACES = (
    "", "", "", "", "on staging", "in production", "for the marketing site", "before Friday",
    "(again)", "with Bob", "after the freeze", "in `ecommerce-backend`", "for ACME Corp.", "🚀", "— part 2",
    "[urgent]", "#4711", "at 100 % load", "per Alice's request", "@ 02:00 UTC",
)  # fmt: skip
FOREIGN_TITLES = (
    "修复登录页面的错误", "更新部署文档和数据库备份脚本", "每周报告：性能指标",
    "Größenänderung der Bilder prüfen", "Réviser la traduction française",
    "Исправить кодировку писем", "在庫レポートを作成する", "결제 오류 조사",
    "مراجعة صفحة الدفع", "בדיקת דף התשלום", "Çeviri dosyalarını güncelle", "Naïve café résumé ✅",
    "👩‍💻 Pair on the résumé parser", "🔥 Hotfix: cart total is NaN", "Überprüfe Straße/Hausnummer-Felder",
)  # fmt: skip

SENTENCES = (
    "Run the tests first, then deploy through CI.",
    "Latency is 120 ms (normal range 50–200 ms).",
    "The endpoint returned 503 once and recovered after a restart.",
    "See `docs/runbook.md` and ask Bob when in doubt.",
    "Customer wrote that “the total is wrong” on mobile Safari.",
    "Waiting for the new credentials → Alice has them.",
    "No regressions in 1,204 tests ✓",
    "Retry with `--max-old-space-size=4096` made the build pass.",
    "数据库连接池已满，重启后恢复正常。",
    "Der Nightly-Build brauchte 14 min statt 8.",
    "Do *not* merge before the schema migration has run.",
    "Cache hit rate went from 61% to 94%.",
    "Option A: keep the queue; option B: use LISTEN/NOTIFY; option C: do nothing.",
    "https://example.com/tickets/812?tab=comments#c3 has the stack trace.",
    "Memory grows by 3 MiB an hour, so it is a slow leak.",
    "Rolled back at 14:05, users affected: 17.",
    "The value contains a colon: and - a dash, | a pipe, and a # hash.",
    "Telegram message sent to Dev Team Bot 👍",
    "前端页面在 Safari 上显示不正常，需要检查 CSS。",
    "Feature flag `new_checkout` is on for 5 % of sessions.",
    "p50/p95/p99: 41/118/390 ms.",
    "Two pending tasks were deferred because staging is frozen.",
)  # fmt: skip
ACTIONS = (
    "cd ecommerce-backend && npm test && npm run deploy:staging",
    "Gather git log, test results, metrics. Send to Slack.",
    "curl -fsS https://api.example.com/health | jq .status",
    "pg_dump shop | gzip > /backup/shop-$(date +%F).sql.gz",
    "python -m reports.weekly --since monday --format html",
    "Ask Carol for the new mock-ups, then update the story.",
    "git log --since=1.week --oneline | wc -l",
    'psql -c "select count(*) from orders where status = \'open\'"',
)  # fmt: skip
CRONS = ("0 9 * * MON", "*/30 * * * *", "0 2 * * *", "15 8 1 * *", "0 18 * * 1-5", "@daily", "0 */4 * * *")
OUTCOMES = (
    "GitHub Actions workflow created, runs on push to main",
    "Fixed; p95 down from 390 to 118 ms",
    "Won't do (superseded by the new checkout)",
    "Sent to Slack ✓",
    "已完成，测试全部通过",
    "Merged in #1204, deployed with v2.1.3",
)
JOURNAL_TITLES = (
    "Heartbeat Check", "IM Response", "Orchestration Update", "Monitor Alert", "Task Completed",
    "Deploy to staging", "Support answer", "Backup finished", "监控警报", "Code review", "Nightly build",
    "Alert resolved ✅", "Plan changed", "Customer call: ACME", "Réunion d'équipe", "Refund #88213",
)  # fmt: skip
FENCES = (
    "```bash\n# restart and look\npm2 restart api-server\n### not a heading\ncurl -s localhost:3000\n```\n",
    '```json\n{"status": 503, "path": "/products", "ms": [12, 48, 1031]}\n```\n',
    "~~~\nTraceback (most recent call last):\n- due: not a field\nKeyError: 'total'\n~~~\n",
    "```diff\n-  const total = sum(items)\n+  const total = round(sum(items), 2)\n```\n",
)
TABLES = (
    "| metric | before | after |\n|---|--:|--:|\n| p95 | 390 ms | 118 ms |\n| errors | 2 % | 0 % |\n",
    "| 项目 | 状态 |\n|------|------|\n| 后端 | ✅ |\n| 前端 | a \\| b |\n",
)
UNKNOWN_FIELDS = (
    ("estimate", "3h"), ("reviewer", "Carol"), ("url", "https://example.com/tickets/812"), ("effort", "M"),
    ("blocked_by", "legal review"), ("x-source", "telegram:4711"), ("sprint", "2024-W03"),
)  # fmt: skip
