"""The content scan: threats, secrets and what is not memory, found by named rules.

`standard` rejects threats and secrets and annotates the rest, `strict` rejects all. The matched text is never reported:
only the rule, its category, and how many bytes it covered.
"""

from __future__ import annotations

import re
from functools import cache

from memory.base.secrets import find_secrets
from memory.lazy import NamedTuple

THREAT, SECRET, POLICY, TIME = "threat", "secret", "what_not_to_save", "relative_time"


class ScanHit(NamedTuple):
    """One rule that matched: `action` is reject or annotate, `size` is in bytes."""

    rule: str
    category: str
    action: str
    size: int


_SECRETS_OF = r"(?:api[_ -]?keys?|tokens?|secrets?|passwords?|credentials?|openai|anthropic|github|\.env)"
_KEY_FILES = r"(?:\.ssh\b|\.env\b|/etc/(?:passwd|shadow)|id_(?:rsa|ed25519)|\S*(?:secret|credential|token|password)\S*)"
_THREATS: tuple[tuple[str, str], ...] = (
    (
        "prompt_injection_ignore_previous",
        r"\bignore\s+(?:all\s+)?(?:of\s+)?(?:the\s+|your\s+|my\s+)?(?:previous|above|prior|earlier)\s+instructions?",
    ),
    (
        "prompt_injection_disregard_policy",
        r"\bdisregard\s+(?:all\s+)?(?:of\s+)?(?:the\s+|your\s+|any\s+)?(?:previous\s+|above\s+|prior\s+)?"
        r"(?:instructions?|rules|guidelines|policy|policies)",
    ),
    ("prompt_injection_role_override", r"\byou\s+are\s+now\s+(?!(?:friends|able|on|in|at|done|ready|connected)\b)"),
    ("prompt_injection_hidden_instruction", r"\bdo\s+not\s+tell\s+the\s+user\b|\bdon'?t\s+tell\s+the\s+user\b"),
    ("prompt_injection_system_override", r"\bsystem\s+prompt\s+override\b"),
    (
        "prompt_injection_restriction_bypass",
        r"\bact\s+as\s+(?:if|though)\s+you\s+(?:have\s+no|don'?t\s+have|do\s+not\s+have)\s+(?:any\s+)?"
        r"(?:restrictions|limits|rules)",
    ),
    ("exfiltration_curl_wget_secret", rf"\b(?:curl|wget)\b[^\n]{{0,400}}?{_SECRETS_OF}"),
    ("exfiltration_cat_sensitive_file", rf"\bcat\s+[^\n]{{0,200}}?{_KEY_FILES}"),
    ("exfiltration_netcat_exec", r"\b(?:nc|ncat|netcat)\s[^\n]{0,200}?\s(?:-[a-z]*e\b|--exec\b)"),
    ("exfiltration_base64_pipe", r"\bbase64\s+(?:-d|-D|--decode)\b[^\n]{0,200}?[|>]"),
    ("persistence_authorized_keys", r"\bauthorized_keys\b"),
    ("persistence_ssh_directory", r"(?:^|[\s/~\"'])\.ssh(?:/|\b)"),
    ("persistence_launchctl", r"\blaunchctl\s+(?:load|bootstrap|submit|enable|start)\b|/Library/LaunchAgents\b"),
    ("persistence_cron", r"\bcrontab\s+-|\|\s*crontab\b|/etc/cron\.|^\s*[*\d/,-]+(?:\s+[*\d/,-]+){4}\s+\S*/"),
    (
        "persistence_systemd",
        r"\bsystemctl\s+(?:--user\s+)?(?:enable|start|link|daemon-reload)\b|/systemd/(?:system|user)/|^\[Service\]\s*$",
    ),
)
_POLICIES: tuple[tuple[str, str], ...] = (
    ("policy_code_block", r"^\s*(?:```|~~~)"),
    (
        "policy_code_declaration",
        r"(?-i:^[ \t]*(?:(?:func|class|def|interface|package|const|var)\s+[A-Za-z_]\w*\s*[({:;=\[]"
        r"|import\s+[\w.\"{*]+(?:\s+(?:from|as)\b|;|\s*$)|type\s+[A-Z]\w*\s+(?:struct|interface|=)))",
    ),
    (
        "policy_debugging_session",
        r"\bstack\s+trace\b|\bfailing\s+tests?\s+(?:in|at|is|are)\b|\bpanic\s+trace\b|\btraceback\b",
    ),
    (
        "policy_ephemeral_task_state",
        r"\bcurrent\s+task\b|\bnext\s+steps?\s*:|\bthis\s+session\b|\bjust\s+ran\b|\blatest\s+assistant\s+message\b",
    ),
    ("policy_transcript_dump", r"^\s*(?:user|assistant|system|tool)\s*:\s|\btranscript\s+dump\b"),
)
_TIMES = r"\b(?:today|yesterday|tomorrow|current\s+sprint|this\s+week|next\s+week)\b"
# A joiner between two emoji belongs to them; anywhere else it hides text.
_INVISIBLE = re.compile(
    "[\u200b\u200c\u200e\u200f\u2060-\u2064\ufeff\u202a-\u202e\u2066-\u2069\u00ad\u180e\U000e0000-\U000e007f]|\u200d"
)
_PICTURE = re.compile("[\u2190-\u2bff\u3030\u303d\u3297\u3299\ufe0f\U0001f000-\U0001faff]")


@cache
def _regex(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.MULTILINE)


def scan(texts: tuple[str, ...], profile: str = "standard") -> tuple[ScanHit, ...]:
    """Return the rules that some texts (name, description, body) violate, each once."""
    found: dict[str, ScanHit] = {}

    def hit(rule: str, category: str, action: str, size: int) -> None:
        before = found.get(rule)
        found[rule] = ScanHit(rule, category, action, size + (before.size if before else 0))

    soft = "reject" if profile == "strict" else "annotate"
    for text in texts:
        for code in _hidden(text):
            hit(f"invisible_unicode_u_{code:04X}", THREAT, "reject", 1)
        # Hidden characters must not break up the words that the rules search for.
        plain = _INVISIBLE.sub("", text)
        for rules, category, action in ((_THREATS, THREAT, "reject"), (_POLICIES, POLICY, soft)):
            for rule, pattern in rules:
                match = _regex(pattern).search(plain)
                if match is not None:
                    hit(rule, category, action, len(match[0].encode("utf-8", "replace")))
        for one in find_secrets(plain, plain_words=profile == "strict"):
            rule = "secret_" + re.sub(r"[^a-z0-9]+", "_", one.kind.lower()).strip("_")
            hit(rule, SECRET, "reject", one.end - one.start)
        match = _regex(_TIMES).search(plain)
        if match is not None:
            hit("annotation_relative_time", TIME, "annotate", len(match[0]))
    return tuple(found.values())


def _hidden(text: str) -> set[int]:
    codes = set()
    for match in _INVISIBLE.finditer(text):
        around = text[max(match.start() - 1, 0) : match.start()], text[match.end() : match.end() + 1]
        if match[0] == "\u200d" and all(side and _PICTURE.match(side) for side in around):
            continue
        codes.add(ord(match[0]))
    return codes
