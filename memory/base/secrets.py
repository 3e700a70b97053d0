"""The detector of secrets: passwords, tokens and keys that do not belong in memory files.

It knows the prefixes and forms of services' keys, `password: …` and the like, and long random runs of letters and
digits. It takes time proportional to the text. It reports the kind and place of a secret and never shows it: the text
of a secret is part of no message.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any


class FoundSecret(NamedTuple):
    """A secret in a text: its `kind` in a few words, and its place, in characters from `start` to `end`."""

    kind: str
    start: int
    end: int


_KEY = r"(?:[A-Z]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
# Kind, the texts with which it begins (quick to search), and the pattern of the rest. It does not begin inside a word.
_SHAPES: tuple[tuple[str, str, str], ...] = (
    ("private key", "-----BEGIN", rf" {_KEY}(?s:.*?-----END {_KEY}|.*)"),
    ("API key", "sk-", r"(?!learn)(?=[A-Za-z_-]{0,200}[0-9])[A-Za-z0-9_-]{6,256}"),
    ("Stripe key", "sk_live_ rk_live_ pk_live_ sk_test_ rk_test_ pk_test_", r"[A-Za-z0-9]{10,256}"),
    ("Stripe secret", "whsec_", r"[A-Za-z0-9+/=]{16,256}"),
    ("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{6,255}"),
    ("GitHub token", "github_pat_", r"[A-Za-z0-9_]{20,255}"),
    (
        "GitLab token",
        "glpat- gldt- glft- glrt- glsoat- glagent- glimt- glcbt- glptt-",
        r"(?=[A-Za-z_-]{0,200}[0-9])[A-Za-z0-9_-]{6,255}",
    ),
    ("Slack token", "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs-", r"(?=[A-Za-z-]{0,200}[0-9])[A-Za-z0-9-]{6,255}"),
    ("Slack token", "xapp-", r"[0-9]-[A-Za-z0-9-]{10,255}"),
    ("Slack webhook", "hooks.slack.com/", r"(?:services|workflows)/[A-Za-z0-9/_-]{16,255}"),
    ("Discord webhook", "discord.com/ discordapp.com/", r"api/webhooks/[0-9]{10,25}/[\w-]{20,255}"),
    ("AWS key", "AKIA ASIA ABIA ACCA", r"[A-Z2-7]{16}(?![A-Za-z0-9])"),
    ("Google key", "AIza", r"[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
    ("Google token", "ya29.", r"[A-Za-z0-9_-]{20,1024}"),
    ("Google secret", "GOCSPX-", r"[A-Za-z0-9_-]{20,64}"),
    ("JSON web token", "eyJ", r"[\w-]{8,4096}\.eyJ[\w-]{8,8192}(?:\.[\w-]{0,2048})?"),
    ("npm token", "npm_", r"[A-Za-z0-9]{30,64}"),
    ("PyPI token", "pypi-", r"[A-Za-z0-9_-]{40,512}"),
    ("Hugging Face token", "hf_", r"[A-Za-z0-9]{30,64}"),
    ("SendGrid key", "SG.", r"[\w-]{16,32}\.[\w-]{30,64}"),
    ("Twilio key", "SK", r"[0-9a-f]{32}(?![A-Za-z0-9])"),
    ("DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{64}"),
    ("Shopify token", "shpat_ shpca_ shppa_ shpss_", r"[0-9a-fA-F]{32}"),
    ("age key", "AGE-SECRET-KEY-1", r"[0-9A-Z]{58}"),
    ("bearer token", "bearer Bearer BEARER", r" (?=[A-Za-z._~+/-]{0,500}[0-9])[A-Za-z0-9._~+/-]{6,2048}=*"),
)
_BEGINS = tuple((begin, kind, rest) for kind, begins, rest in _SHAPES for begin in begins.split())
_WORD = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
_BOT = r"(?<![0-9])[0-9]{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])"
_ANY_CASE = int(re.ASCII | re.IGNORECASE)

# The name and password in an address; a placeholder such as `***` or `$PASS` does not count.
_LOGIN = r"://[^\s/:@'\"<>?#]{0,100}:([^\s/:@'\"<>?#]{3,200})@[\w\[]"
_STANDS_FOR = r"[*.x]+\Z|[$<{%\[(*]|your|pass(?:word|wd)?\Z|pwd\Z|secret\Z|token\Z|xxx|\.\.\.|redacted"

# `curl -u name:password`: any password, if a program that takes a login precedes it on the line.
_OPTIONS = (b"-u", b"--user", b"--proxy-user", b"curl", b"wget")
_OPTION = (
    r"(?<![^\s\"'`(])(?:-[A-Za-z]{0,8}[uU]|--(?:proxy-)?user)(?P<gap>(?:[ \t=]|\\\r?\n){0,12})"
    r"(?:\"[^\s\":]{0,64}:(?P<double>[^\"\r\n]{1,200})\"|'[^\s':]{0,64}:(?P<single>[^'\r\n]{1,200})'"
    r"|[^\s\"':/]{0,64}:(?P<bare>[^\s\"'`]{1,200}))"
)
_TAKES_LOGIN = (b"curl", b"wget")
_LOOK_BACK = 500
# A placeholder: after a program that takes a login, even the word `secret` may be one.
_BLANK = r"[*.x]+\Z|[$<{%\[(*]|your|xxx|\.\.\.|redacted"

# `Authorization: Bearer …` and its like, in headers, JSON and commands.
_HEADER = (
    r"authorization[\"']?[ \t]*[:=][ \t]*[\"']?(?:bearer|basic|token|apikey|api-key)[ \t]+"
    r"(?P<value>[A-Za-z0-9._~+/=-]{3,4096})"
)

# `password: …`, `API_KEY=…`, `"token": "…"`.
_NAMES = (b"pass", b"pwd", b"secret", b"token", b"key")
_BEFORE_KEY = (b"api", b"access", b"auth", b"private", b"secret", b"account", b"master", b"encryption", b"signing")
_NAME = (
    r"(?:pass(?:w(?:or)?d|phrase|code)|pwd|secret|token|key)"
    r"([A-Za-z0-9_-]{0,24})(?:\*\*|[`\"'])?[ \t]{0,3}[:=]=?(?:\*\*)?[ \t]{0,3}[\"'`]?"
)
# Endings of names about a password or token instead of the secret itself: `token_limit`, `tokenizer`, `passwordPolicy`.
_ABOUT = (
    r"s?[_-]?(?:izer|ization|less|type|count|limit|name|user|id\b|path|file|url|uri|ttl|expir|exp\b|len|max|min|budget|polic|usage"
    r"|used|version|format|algo|hash|field|rotat|reset|manager|hint|store|location|length|strength|rule|owner|scope"
    r"|service|provider|date|age|changed|created|updated)|ed\b|ary"
)  # fmt: skip
_VALUE = r"[^\s\"'`,;<>|]{1,128}"
_HARMLESS = (
    r"(?:[a-z][a-z0-9+.-]{1,20}://|[/~.]|[$<{\[(*%&@#]"  # addresses, paths, placeholders
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"|v?[0-9]+(?:\.[0-9]+)*(?:%|\+|[KkMmGg]?[Bb]?|ms|sec|s|min|m|h|hours?|d|days?|w|weeks?|bits?|chars?|x|th|st|nd|rd)\Z"
    r"|[a-z]+[#:][\w.-]+\Z|[\w.+-]+@[\w-]+\.[\w.-]+\Z|[A-Za-z_][\w.]*[(\[]|[a-z]+(?:\.[a-z_]+)+\Z|[\w.-]+\.(?:md|txt|json|ya?ml|toml|env|py|js|ts|go|rs|sh|pem|key|kdbx?)\Z"
    r"|(?:1password|oauth-?[12]?(?:\.[0-9])?|argon2(?:id|i|d)?|bcrypt[0-9]*|scrypt|pbkdf2|sha-?[0-9]+|md5|base64|[hrep]s-?(?:256|384|512)"
    r"|ed25519|rsa-?[0-9]+|aes-?[0-9]+|utf-?8|ipv[46]|[0-9]fa|http2?|k8s|s3|ec2|web3|x\.?509|u2f|fido2|rfc-?[0-9]+)\b)"
)  # fmt: skip
_SECRET_LENGTH = 6

# After these names a single word at the end of a clause is a value: `password: swordfish`, not `password: ask Alice`.
# It has at least three characters, because `token: no` and `password: ok` are answers.
_STATED = (
    r"(?<![A-Za-z])(?:pass(?:w(?:or)?d|phrase|code)|pwd|(?:[a-z]+[_-])?token|[a-z]+[_-]secret)"
    r"(?:\*\*|[`\"'])?[ \t]{0,3}[:=](?:\*\*)?[ \t]{0,3}"
    r"[\"'`]?(?P<value>[A-Za-z0-9\xc0-\u024f][\w\xc0-\u024f!@#$%^&*+-]{2,127})[\"'`]?(?=[.!?)\]}]{0,3}(?:[\s,;|]*\Z|[\r\n,;|]))"
)  # fmt: skip
_STATED_NAMES = (b"pass", b"pwd", b"secret", b"token")
_BEARER = r"(?<![A-Za-z])bearer[ \t]+(?P<value>[A-Za-z][A-Za-z._~+/-]{2,2047})(?P<next>[ \t]+[A-Za-z])?"

_RUN, _RUN_LOOK = 40, 2048
_RUN_CHARS = bytes(97 if code in _WORD or code in b"+/=" else 32 for code in range(256))
_RUN_NEEDLE = b"a" * _RUN
_CAMEL = r"(?:[A-Z]?[a-z]{2,}(?![a-z])|[A-Z]{2,}(?![A-Za-z])|[0-9]+(?![0-9]))*\Z"
_DIGEST = r"(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})\Z"  # as in the address of a commit
_PARTS = r"[/_+=-]+"
_MARK = r"[^A-Za-z0-9_./:-]"
_ODD = r"[^a-z_./:-]"


def find_secrets(text: str, *, plain_words: bool = False) -> tuple[FoundSecret, ...]:
    """Return what looks like a secret, in the order of the text and without overlaps; of two in one place the first.

    It prefers certainty to completeness: hashes, identifiers, paths and words about passwords are left out. With
    `plain_words` a word of letters alone is a secret too, if it follows `Bearer`, `token:` or `password:`: for callers
    that refuse secrets.
    """
    # One byte for each character, which can be searched much faster.
    data = text.encode("ascii", "replace")
    lower = data.lower()
    found = [
        *_shapes(text, data),
        *_logins(text, data),
        *_options(text, data, lower),
        *_headers(text, lower),
        *_named(text, lower),
        *_runs(text, data),
    ]
    if plain_words:
        found += _plain_words(text, lower)
    kept: list[FoundSecret] = []
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return tuple(kept)


def mask(text: str) -> str:
    """Return a text in which each secret is replaced by its kind: `[API key]`."""
    return replaced(text, lambda kind: f"[{kind}]")


def masked(value: Any) -> Any:
    """Return JSON data in which the secrets of each text are masked, also those that only their key names."""
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, dict):
        return {mask(str(key)): _masked_of(str(key), one) for key, one in value.items()}
    return [masked(one) for one in value] if isinstance(value, (list, tuple)) else value


def _masked_of(key: str, value: Any) -> Any:
    """Return the masked value of a key: `{"password": …}` is what `password: …` is in a text."""
    named = f"{key}: "
    if isinstance(value, str) and (found := mask(named + value)).startswith(named):
        return found.removeprefix(named)
    return masked(value)


def replaced(text: str, words: Callable[[str], str], *, plain_words: bool = False) -> str:
    """Return a text with each secret replaced by `words` of its kind; see `find_secrets`."""
    pieces: list[str] = []
    done = 0
    for found in find_secrets(text, plain_words=plain_words):
        pieces += [text[done : found.start], words(found.kind)]
        done = found.end
    return "".join([*pieces, text[done:]]) if pieces else text


def secret_lines(text: str) -> tuple[tuple[int, str], ...]:
    """Return line (from 0) and kind of every secret in a text; lines end as they do in memory files."""
    lines: list[tuple[int, str]] = []
    line = position = 0
    for one in find_secrets(text):
        between = text[position : one.start]
        line += between.count("\n") + between.count("\r") - between.count("\r\n")
        position = one.start
        lines.append((line, one.kind))
    return tuple(lines)


def _shapes(text: str, data: bytes) -> Iterator[FoundSecret]:
    """Yield the texts with the form of a service's key."""
    for begin, kind, rest in _BEGINS:
        end = 0
        for found in re.finditer(re.escape(begin), text) if begin in text else ():
            start = found.start()
            inside_word = start > 0 and data[start - 1] in _WORD and not begin.startswith("-")
            match = None if start < end or inside_word else re.compile(rest, re.ASCII).match(text, found.end())
            if match is not None:
                end = match.end()
                yield FoundSecret(kind, start, end)
    if b":AA" in data:
        for match in re.finditer(_BOT, text, re.ASCII):
            yield FoundSecret("Telegram token", match.start(), match.end())


def _logins(text: str, data: bytes) -> Iterator[FoundSecret]:
    """Yield addresses that carry a password."""
    for match in re.finditer(_LOGIN, text, re.ASCII) if b"://" in data and b"@" in data else ():
        if not re.match(_STANDS_FOR, match[1], re.IGNORECASE):
            yield FoundSecret("URL with a password", match.start(1), match.end(1))


def _options(text: str, data: bytes, lower: bytes) -> Iterator[FoundSecret]:
    """Yield the passwords in options of commands: `curl -u name:password`, `--user name:password`."""
    if b":" not in data or not any(option in lower for option in _OPTIONS):
        return
    for match in re.finditer(_OPTION, text, re.ASCII):
        group = next(name for name in ("double", "single", "bare") if match[name] is not None)
        value, known = match[group], _takes_login(lower, match.start())
        if not match["gap"] and not (known and match[0][:2] in ("-u", "-U")):
            continue
        if not re.match(_BLANK, value, re.IGNORECASE) and (known or _is_value(value, pin=False)):
            yield FoundSecret("login of a command", match.start(group), match.end(group))


def _takes_login(lower: bytes, place: int) -> bool:
    """Return whether a program that takes a login precedes a place, on its line or on lines continued by `\\`."""
    continued = re.sub(rb"\\\r?\n", b" ", lower[max(0, place - _LOOK_BACK) : place])
    before = continued.rpartition(b"\n")[2]
    return any(name in before for name in _TAKES_LOGIN)


def _headers(text: str, lower: bytes) -> Iterator[FoundSecret]:
    """Yield any value that follows `Authorization: Bearer`, except placeholders and words about it."""
    for match in _matches_of(text, lower, _HEADER, (b"authorization",)):
        value = match["value"]
        elided = "..." in value or text.startswith("\u2026", match.end())
        known = value.lower().strip(".-") in PROSE_WORDS or re.match(_STANDS_FOR, value, re.IGNORECASE)
        if not elided and not known:
            yield FoundSecret("authorization header", match.start("value"), match.end("value"))


def _named(text: str, lower: bytes) -> Iterator[FoundSecret]:
    """Yield the values that are named a password, token or key, and look like one."""
    if b":" not in lower and b"=" not in lower:
        return
    for needle in _NAMES:
        end = 0
        for start in [found.start() for found in re.finditer(needle, lower)] if needle in lower else ():
            # A name inside a value was checked with that value.
            if start < end or (
                needle == b"key" and not lower[max(0, start - 12) : start].rstrip(b"_- ").endswith(_BEFORE_KEY)
            ):
                continue
            name = re.compile(_NAME, _ANY_CASE).match(text, start)
            if name is None or (name[1] and re.match(_ABOUT, name[1], _ANY_CASE)):
                continue
            value = re.compile(_VALUE, re.ASCII).match(text, name.end())
            if value is None:
                continue
            end = value.end()
            word, pin = value[0].rstrip(".!?)]}*"), needle.startswith(b"p")
            if re.search(_ODD, word) and (_is_value(word, pin=pin) or _is_value(_last(word), pin=pin)):
                yield FoundSecret("password or token", value.start(), value.start() + len(word))


def _plain_words(text: str, lower: bytes) -> Iterator[FoundSecret]:
    """Yield values of letters alone: after `token:` and the like where they end a clause, and after `Bearer`."""
    for match in _matches_of(text, lower, _STATED, _STATED_NAMES):
        if _is_plain_value(match["value"], pin=match[0].lower().startswith(("pass", "pwd"))):
            yield FoundSecret("password or token", match.start("value"), match.end("value"))
    for match in _matches_of(text, lower, _BEARER, (b"bearer",)):
        prose = match["next"] and not match[0].startswith("Bearer")
        if not prose and _is_plain_value(match["value"], pin=False):
            yield FoundSecret("bearer token", match.start("value"), match.end("value"))


def _matches_of(text: str, lower: bytes, pattern: str, needles: tuple[bytes, ...]) -> Iterator[re.Match[str]]:
    """Return the matches of a pattern that contains one of some words, which are quicker to look for."""
    return re.finditer(pattern, text, _ANY_CASE) if any(needle in lower for needle in needles) else iter(())


def _is_plain_value(word: str, *, pin: bool) -> bool:
    """Return whether a word may be a secret: no word that is used about secrets, and a number only for a `pin`."""
    if word.isdigit():
        return pin
    lower = word.lower().strip("-_")
    return (
        len(lower) >= 3
        and lower not in PROSE_WORDS
        and any(map(str.isalpha, word))
        and not re.match(_HARMLESS, word, _ANY_CASE)
        and not re.match(_STANDS_FOR, word, re.IGNORECASE)
    )


def _last(word: str) -> str:
    """Return the text after the last separator, "" where there is none: `token:password:…`."""
    place = max(word.rfind(":"), word.rfind("=")) + 1
    return word[place:] if place else ""


def _is_value(word: str, *, pin: bool) -> bool:
    """Return whether a word after `password:` looks like one: most passwords have digits or capitals."""
    if pin and word.isdigit():
        return 4 <= len(word) <= 12
    if len(word) < _SECRET_LENGTH or not word.isascii():
        return False
    letters = any(map(str.isalpha, word))
    if not any(map(str.isdigit, word)):
        mixed = word[1:].lower() != word[1:] != word[1:].upper()
        marks = re.search(_MARK, word) is not None
        if len(word) < 8 or not ((mixed and re.match(_CAMEL, word) is None) or (marks and letters)):
            return False
    return letters and not re.match(_HARMLESS, word, _ANY_CASE) and not re.match(_STANDS_FOR, word, re.IGNORECASE)


def _runs(text: str, data: bytes) -> Iterator[FoundSecret]:
    """Yield long random runs of letters and digits that are not a path, hash or name."""
    shape = data.translate(_RUN_CHARS)
    start = shape.find(_RUN_NEEDLE)
    while start >= 0:
        end = shape.find(b" ", start)
        end = len(text) if end < 0 else end
        if _is_random(text[start : min(end, start + _RUN_LOOK)]) and text[max(0, start - 7) : start] != "base64,":
            yield FoundSecret("long random text", start, end)
        start = shape.find(_RUN_NEEDLE, end)


def _is_random(run: str) -> bool:
    if run.startswith(("sha256-", "sha384-", "sha512-")):
        return False
    if run.lower() == run or run.upper() == run or not any(map(str.isdigit, run)):
        return False
    parts = [part for part in re.split(_PARTS, run) if part]
    strange = [part for part in parts if not re.match(_CAMEL, part) and not re.match(_DIGEST, part)]
    if not strange:
        return False
    if max(map(len, strange)) >= _RUN:
        return True
    # With separators, more is needed to distinguish a key from a path: digits throughout, and parts that are not words.
    return sum(map(len, strange)) * 2 >= len(run) and len(re.findall("[0-9]+", run)) >= 3


_PROSE = """
above absent account actor added again agent agents algorithm allowed already also always apps argument around asked
auth authentication authorisation authorization available backed based been before behind below between bitwarden
blank bond bonds bot both but bytes cache cached called capped carries change changed changes check checked chip
cleared client common complete config configured cookie cookies copied correct created credential credentials
current custom daily dashlane data deleted denied deprecated detected different disabled does done doppler down each
either elsewhere email empty enabled encoded encrypted enough entered environment every example exists expire
expired expires expiry external failed fails false fetched field file files fine five flow forgotten format found
four free fresh from full generated given gone good granted grants handling hardcoded hashed have having header
headers here hidden hint hourly http https human ignored implicit included infisical inside instead into invalid
invalidated issued itself just kept keychain keyring kms known last lastpass later leaked left length letters
limited literal locked long lost mandatory manual manually many masked matches means method middleware minimum
minted missing mode monthly more must name named needed needs never next nobody none normal null oauth offline okay
omitted once onepassword only opaque open optional other ours outdated owner parsed part passed pending permanent
person personal plain plaintext plus policy prefix present private prompt prompted provided public random rather
read ready received recommended redacted refresh refreshed rejected removed renewed replaced required requires reset
restricted returned revoked root rotate rotated rotates rotating rotation rules safe same scheme schemes scope
scoped sent separate server session sessions shared short should shown signed simple since single slack some static
still storage store stored string strong such support supported sync system team temporary test tests text than that
their them then there these they this three time today token tokens tomorrow true type typed types unchanged
undefined under unique unknown unlimited unset until unused updated usage used user users usually valid validated
value values vault verified version wanted warning weak weekly were what when where which will with without works
wrong yearly your
"""

_SHORT_PROSE = """
ack add age ago all and any api app apps are ask auto aws bad big bot but can cap cdn cli csrf css csv day dev did dns
due end env etc exp fix for gcp get git goes got gpg had has her him his how iam idp ids its jti jwe jwk jws jwt kdf
key kid lan ldap let llm log low max may mcp mfa min mtls n/a new nil nor not now off oidc old one ops opt otp our out
own pat pem per pgp pii pin pkce pki pro push put raw ref req run saml sdk see set sha she sms smtp soon ssh ssl sso
stale sub tba tbc tbd tls too top totp tpm try ttl two url use uuid vpn was way web who why xor xsrf yes yet you zip
"""
"""Short words, among them names of formats, protocols and services."""

PROSE_WORDS = frozenset(_PROSE.split() + _SHORT_PROSE.split())
"""Words, in lower case, that people write after `password:`, `token:` and `Bearer` and that are not secrets."""
