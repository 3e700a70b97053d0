"""The content scan: named rules find threats, secrets and text that is no memory.

`standard` rejects threats and secrets and annotates the rest, `strict` rejects all. The matched text is never reported:
only the rule, its category, and how many bytes it covered.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from memory.base.secrets import find_secrets

THREAT, SECRET, POLICY, TIME = "threat", "secret", "what_not_to_save", "relative_time"


class ScanHit(NamedTuple):
    """One rule that matched: `action` is reject or annotate, `size` is in bytes."""

    rule: str
    category: str
    action: str
    size: int


_SECRETS_OF = r"(?:api[_ -]?keys?|tokens?|secrets?|passwords?|credentials?|openai|anthropic|github|\.env)"
_KEY_FILES = r"(?:\.ssh\b|\.env\b|/etc/(?:passwd|shadow)|id_(?:rsa|ed25519)|\S*(?:secret|credential|token|password)\S*)"
# Rule, words of which one is in every text that breaks it (quick to look for; blanks are one space), and the pattern.
_THREATS: tuple[tuple[str, str, str], ...] = (
    (
        "prompt_injection_ignore_previous",
        "ignore",
        r"\bignore\s+(?:all\s+)?(?:of\s+)?(?:the\s+|your\s+|my\s+)?(?:previous|above|prior|earlier)\s+instructions?",
    ),
    (
        "prompt_injection_disregard_policy",
        "disregard",
        r"\bdisregard\s+(?:all\s+)?(?:of\s+)?(?:the\s+|your\s+|any\s+)?(?:previous\s+|above\s+|prior\s+)?"
        r"(?:instructions?|rules|guidelines|policy|policies)",
    ),
    (
        "prompt_injection_role_override",
        "you are now",
        r"\byou\s+are\s+now\s+(?!(?:friends|able|on|in|at|done|ready|connected)\b)",
    ),
    (
        "prompt_injection_hidden_instruction",
        "tell the user",
        r"\bdo\s+not\s+tell\s+the\s+user\b|\bdon'?t\s+tell\s+the\s+user\b",
    ),
    ("prompt_injection_system_override", "prompt override", r"\bsystem\s+prompt\s+override\b"),
    (
        "prompt_injection_restriction_bypass",
        "act as",
        r"\bact\s+as\s+(?:if|though)\s+you\s+(?:have\s+no|don'?t\s+have|do\s+not\s+have)\s+(?:any\s+)?"
        r"(?:restrictions|limits|rules)",
    ),
    ("exfiltration_curl_wget_secret", "curl|wget", rf"\b(?:curl|wget)\b[^\n]{{0,400}}?{_SECRETS_OF}"),
    ("exfiltration_cat_sensitive_file", "cat ", rf"\bcat\s+[^\n]{{0,200}}?{_KEY_FILES}"),
    ("exfiltration_netcat_exec", "nc |ncat |netcat ", r"\b(?:nc|ncat|netcat)\s[^\n]{0,200}?\s(?:-[a-z]*e\b|--exec\b)"),
    ("exfiltration_base64_pipe", "base64 -", r"\bbase64\s+(?:-d|-D|--decode)\b[^\n]{0,200}?[|>]"),
    ("persistence_authorized_keys", "authorized_keys", r"\bauthorized_keys\b"),
    ("persistence_ssh_directory", ".ssh", r"(?:^|[\s/~\"'])\.ssh(?:/|\b)"),
    (
        "persistence_launchctl",
        "launchctl|launchagents",
        r"\blaunchctl\s+(?:load|bootstrap|submit|enable|start)\b|/Library/LaunchAgents\b",
    ),
    (
        "persistence_cron",
        "crontab|/etc/cron|* ",
        r"\bcrontab\s+-|\|\s*crontab\b|/etc/cron\.|^\s*[*\d/,-]+(?:\s+[*\d/,-]+){4}\s+\S*/",
    ),
    (
        "persistence_systemd",
        "systemctl|/systemd/|[service]",
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
    "[\u200b\u200c\u200e\u200f\u2060-\u2064\ufeff\u202a-\u202e\u2066-\u2069\u00ad\u180e\U000e0000-\U000e007f"
    "\u061c\u2065\u206a-\u206f\ufff9-\ufffb\U0001d173-\U0001d17a]|\u200d"
)
# Blanks and marks that belong to other scripts and to pictures; between two Latin letters they hide a word.
_BLANKS = "\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
_MARKS = "\u034f\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"
_INSIDE = re.compile(f"(?<=[A-Za-z])[{_BLANKS}{_MARKS}]+(?=[A-Za-z])")
_EMPHASIS = re.compile(r"[*`~]+|(?<!\w)_+|_+(?!\w)")
_LOOKALIKES = str.maketrans(
    "\u0430\u0435\u0456\u043e\u0440\u0441\u0443\u0445\u0455\u0458\u0501\u051b\u051d\u04bb\u03bf\u03b1\u03b9\u03bd\u03c1\u0131\u0261\u0442\u043c\u043d\u043a\u0432",
    "aeiopcyxsjdqwhoaivpigtmhkb",
)
_APOSTROPHES = dict.fromkeys((0x2018, 0x2019, 0x2BC), "'")
_PICTURE = re.compile("[\u2190-\u2bff\u3030\u303d\u3297\u3299\ufe0f\U0001f000-\U0001faff]")


@cache
def _regex(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.MULTILINE)


def rejecting(texts: tuple[str, ...], profile: str = "standard") -> list[str]:
    """Return the names of the rules that reject some texts, sorted; none where they may be kept."""
    return sorted({hit.rule for hit in scan(texts, profile) if hit.action == "reject"})


def scan(texts: tuple[str, ...], profile: str = "standard") -> tuple[ScanHit, ...]:
    """Return the rules that some texts (name, description, body) violate, each once."""
    found: dict[str, ScanHit] = {}

    def hit(rule: str, category: str, action: str, size: int) -> None:
        before = found.get(rule)
        found[rule] = ScanHit(rule, category, action, size + (before.size if before else 0))

    soft = "reject" if profile == "strict" else "annotate"
    for text in texts:
        plain = _readable(text)
        for rule, category, size in _rejected(text, plain, plain_words=profile == "strict"):
            hit(rule, category, "reject", size)
        for rule, pattern in _POLICIES:
            match = _regex(pattern).search(plain)
            if match is not None:
                hit(rule, POLICY, soft, len(match[0].encode("utf-8", "replace")))
        match = _regex(_TIMES).search(plain)
        if match is not None:
            hit("annotation_relative_time", TIME, "annotate", len(match[0]))
    return tuple(found.values())


def rejected_in(texts: Iterable[str], *, plain_words: bool = False) -> tuple[str, ...]:
    """Return the rules that reject some texts under every profile, each once: threats and secrets.

    `plain_words` as in `find_secrets`.
    """
    found = (rule for text in texts for rule, _, _ in _rejected(text, _readable(text), plain_words=plain_words))
    return tuple(dict.fromkeys(found))


def _rejected(text: str, plain: str, *, plain_words: bool) -> Iterator[tuple[str, str, int]]:
    """Yield each rule that rejects a text, its category, and the bytes that it covers; `plain` is its readable form."""
    for code in _hidden(text):
        yield f"invisible_unicode_u_{code:04X}", THREAT, 1
    seen = set[str]()
    for words_of in dict.fromkeys((plain, _bare(plain))):
        lower = " ".join(words_of.lower().split())
        for rule, words, pattern in _THREATS:
            if rule not in seen and any(word in lower for word in words.split("|")):
                match = _regex(pattern).search(words_of)
                if match is not None:
                    seen.add(rule)
                    yield rule, THREAT, len(match[0].encode("utf-8", "replace"))
    for one in find_secrets(plain, plain_words=plain_words):
        rule = "secret_" + re.sub(r"[^a-z0-9]+", "_", one.kind.lower()).strip("_")
        yield rule, SECRET, one.end - one.start


def _readable(text: str) -> str:
    """Return a text as a reader takes it: hidden characters do not break up words, and wide letters are letters."""
    if text.isascii():
        return text
    import unicodedata

    shown = _regex(f"[{_MARKS}]").sub("", _INVISIBLE.sub("", text))
    return unicodedata.normalize("NFKC", _regex(f"[{_BLANKS}]").sub(" ", shown)).translate(_APOSTROPHES)


def _bare(plain: str) -> str:
    """Return a readable text without emphasis, accents, and letters of other scripts that look like Latin ones."""
    bare = _EMPHASIS.sub("", plain) if any(char in plain for char in "*_`~") else plain
    if bare.isascii():
        return bare
    import unicodedata

    parts = unicodedata.normalize("NFD", bare)
    return "".join([char for char in parts if not unicodedata.combining(char)]).lower().translate(_LOOKALIKES)


def _hidden(text: str) -> set[int]:
    codes = set[int]()
    if text.isascii():
        return codes
    for match in _INVISIBLE.finditer(text):
        around = text[max(match.start() - 1, 0) : match.start()], text[match.end() : match.end() + 1]
        if match[0] == "\u200d" and all(side and _PICTURE.match(side) for side in around):
            continue
        codes.add(ord(match[0]))
    codes.update(ord(match[0][0]) for match in _INSIDE.finditer(text))
    return codes
