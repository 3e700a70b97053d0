"""Secrets: thirty kinds that are refused, and thirty harmless texts near to them that are stored.

The secrets are put together here, so that no scanner of repositories takes this file for a leak.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory.facts.model import SECRET

Add = Callable[..., dict[str, Any]]
_RUN = "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7d"
_UPPER = "ABCDEFGHIJKLMNOP"

SECRETS = [
    "my API key is " + "sk-" + "abc123...",
    "sk-" + "proj-" + _RUN,
    "token " + "ghp_" + _RUN[:36],
    "gho_" + _RUN[:36],
    "ghs_" + _RUN[:36],
    "github_pat_" + "11ABCDEFG0" + _RUN,
    "glpat-" + _RUN[:20],
    "xoxb-" + "123456789012-abcdefABCDEF",
    "xoxp-" + "123456789012-abcdefABCDEF",
    "xapp-" + "1-A0123456789-abcdef",
    "Authorization: Bearer " + _RUN[:30],
    "token: " + _RUN[:16],
    "password: " + "hunter2",
    "PASSWORD: " + "Tr0ub4dor&3",
    "the blob " + _RUN,
    "AKIA" + _UPPER,
    "ASIA" + _UPPER,
    "AIza" + _RUN[:35],
    "ya29." + _RUN,
    "GOCSPX-" + _RUN[:28],
    "sk_live_" + _RUN[:24],
    "rk_test_" + _RUN[:24],
    "whsec_" + _RUN[:32],
    "-----BEGIN RSA " + "PRIVATE KEY-----",
    "-----BEGIN OPENSSH " + "PRIVATE KEY-----",
    "eyJ" + "hbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIn0." + "dozjgNryP4J3jVmNHl0w5N",
    "postgres://admin:" + "s3cr3tpw" + "@db.example.com/shop",
    "npm_" + _RUN[:36],
    "hf_" + _RUN[:34],
    "SG." + _RUN[:22] + "." + _RUN + "abc",
    "https://hooks.slack.com/services/" + "T00000000/B00000000/" + _RUN[:24],
]

HARMLESS = [
    "scikit-learn is imported as sk-learn",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b fixed it",
    "build 550e8400-e29b-41d4-a716-446655440000 is green",
    "password: ask Alice",
    "passwords are kept in the vault of the team",
    "the token expires after an hour",
    "the token bucket holds 100 requests",
    "bearer of bad news: the deploy failed",
    "/usr/local/lib/python3.11/site-packages/pip/_internal/cli/main.py",
    "https://github.com/example/project/blob/main/src/components/Button.tsx",
    "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "the key of the map is the user id",
    "ghp is short for GitHub Pages here",
    "use risk-free deploys on Fridays",
    "task-force meets on Monday, desk-12 is free",
    "Postgres runs at postgres://localhost:5432/shop",
    "AKIA is the prefix of AWS key ids",
    "eyJ is how a JSON web token begins",
    "the header is called Authorization",
    "the class AbstractSingletonProxyFactoryBeanConfigurationProviderFactory is generated",
    "the private key lies on the hardware token",
    "see docs/password-reset.md",
    "tokens: 2000 per prompt at most",
    "the password field has 12 rows",
    "version 2024.01.15-rc1+build.20240115",
    "meeting at 10:30 in room B-204",
    "MAX_TOKENS_PER_MINUTE limits the client",
    "mail alice@example.com about the invoice",
    "order 1234567890123456789012345678901234567890",
    "the secret of good tests is patience",
    "xoxo, the team",
]


@pytest.mark.parametrize("text", SECRETS)
def test_a_secret_is_refused(add: Add, file: Path, text: str) -> None:
    """Thirty kinds of secrets are not stored, and the answer does not repeat them."""
    assert add(text) == {"ok": False, "error": SECRET}
    assert not file.exists()


@pytest.mark.parametrize("text", HARMLESS)
def test_a_near_miss_is_stored(add: Add, text: str) -> None:
    """Thirty harmless texts that look a little like secrets are stored."""
    assert add(text)["ok"]
