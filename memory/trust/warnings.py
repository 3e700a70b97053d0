"""What a person should look at twice in a command: what it may destroy, fetch, send, change or hide."""

from __future__ import annotations

import re

from .asks import LONGEST
from .pins.unknown import WORDS
from .pins.words import has_expansions, words_of
from .suspicion import hidden_in, unusual_in

_SHELLS = frozenset(["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "busybox"])
_OTHERS = ("python", "python2", "python3", "perl", "ruby", "node", "nodejs", "deno", "bun", "php", "lua", "osascript")
_INTERPRETERS = _SHELLS.union(_OTHERS)
_WORDS: tuple[tuple[frozenset[str], str], ...] = tuple(
    (frozenset(names.split()), f"{text} ({{}})")
    for names, text in (
        ("sudo doas su pkexec run0 runas", "runs with the rights of another user"),
        ("rm rmdir unlink shred dd mkfs wipefs truncate srm trash", "removes or overwrites files"),
        ("curl wget fetch aria2c ftp sftp scp rsync lynx w3m", "downloads or sends over the network"),
        ("nc ncat netcat socat telnet ssh dig nslookup openssl mail sendmail", "opens a connection"),
        ("pip pip3 pipx uv npm npx pnpm yarn gem cargo go apt apt-get dnf yum brew", "may fetch programs"),
        ("eval exec source", "runs text that is put together or read elsewhere"),
        ("base64 base32 xxd uudecode basenc rev gunzip zcat", "decodes text: what it does may not be readable here"),
        ("crontab at batch systemctl launchctl nohup setsid disown screen tmux", "may go on after it ended"),
        ("chmod chown setfacl setcap mount umount", "changes rights or mounts"),
        ("kill pkill killall shutdown reboot halt poweroff", "ends processes or the machine"),
        ("git", "runs hooks and settings that lie in the repository"),
        ("env printenv export", "may read or change the environment"),
        ("alias", "gives commands other meanings"),
    )
)
_SECRETS = re.compile(
    r"\.ssh\b|\bid_(?:rsa|ed25519|ecdsa|dsa)\b|authorized_keys|known_hosts|\.aws\b|\.gnupg\b|\.netrc\b|\.kube\b"
    r"|\.config/|\.docker/config|\.git-credentials|\.npmrc|\.pypirc|\.bash_history|\.(?:bash|zsh)rc\b|\.profile\b"
    r"|/etc/(?:passwd|shadow|sudoers|cron)|/root\b|[Kk]eychain|memdeck"
)
_LOADING = r"\b(?:(?:LD_|DYLD_|PYTHON|NODE_|PERL5?|RUBY|LUA_|GIT_|npm_config_)\w*|PATH|CDPATH|IFS|BASH_ENV|ENV|SHELL)="
_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), text)
    for pattern, text in (
        (r"(?<![0-9&])>|[0-9&]>(?!&)", "writes to a file (>)"),
        (r"\s-(?:[A-Za-z]*i\b|-in-place)|\btee\b|\bsed\b[^|;&]*\s-i", "may change files where they are (-i, tee)"),
        (r"\bfind\b[^|;&]*-(?:delete|exec)", "find removes or runs (-delete, -exec)"),
        (r"\bxargs\b", "builds commands out of what it reads (xargs)"),
        (r"/dev/(?:tcp|udp)/", "opens a connection (/dev/tcp)"),
        (r"<<", "holds a document of its own (<<)"),
        (_LOADING, "changes how programs are found or loaded"),
        (r"\\x[0-9A-Fa-f]{2}|\\[0-7]{3}|\\u[0-9A-Fa-f]{4}", "holds characters written as numbers"),
        (r"(?<![&>])&(?![&>])", "leaves something running in the background (&)"),
        (r"(?:^|\s)#", "ends in a remark: the rest does not run (#)"),
        (r"[^\S\n]{12,}", "holds a long run of spaces: look behind it"),
        (r"(?:^|[;&|(]\s*|\n)\.\s", "runs the lines of another file (.)"),
        (r"\n", "runs several lines"),
        (r"~|\$HOME|\$\{HOME", "reaches into the home folder"),
    )
)  # fmt: skip
_LONG = 400


def warnings_of(command: str) -> tuple[str, ...]:
    """Return sentences about a command, the gravest first; none means only that nothing known was found."""
    if len(command) > LONGEST:
        command = command[:LONGEST]
    found: list[str] = []
    hidden = hidden_in(command)
    if hidden:
        found.append(f"holds the hidden character {hidden}")
    names = {word.text.rpartition("/")[2] for word in words_of(command)}
    for words, text in _WORDS[:2]:
        found += _said(words, names, text)
    piped = sorted(names & _INTERPRETERS)
    if piped and "|" in command:
        found.append(f"may pipe what it reads into {', '.join(piped)}")
    if piped and re.search(r"\s-\w*[ceE]\b", command):
        found.append(f"runs code that stands in the command ({', '.join(piped)} -c)")
    secret = _SECRETS.search(command)
    if secret:
        found.append(f"touches keys, secrets or settings ({secret[0]})")
    for words, text in _WORDS[2:]:
        found += _said(words, names, text)
    found += [text for pattern, text in _PATTERNS if pattern.search(command)]
    if has_expansions(command):
        found.append(WORDS)
    unusual = unusual_in(command)
    if unusual:
        shown = " ".join(f"{char} U+{ord(char):04X}" for char in unusual[:6])
        found.append(f"holds characters that may look like others ({shown}{' …' if len(unusual) > 6 else ''})")
    if len(command) > _LONG:
        found.append(f"is long: {len(command):,} characters")
    return tuple(found)


def _said(words: frozenset[str], names: set[str], text: str) -> list[str]:
    both = sorted(words & names)
    return [text.format(", ".join(both))] if both else []
