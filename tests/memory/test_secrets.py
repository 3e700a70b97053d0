"""Secrets are found by their shape; hashes, paths, names and words about passwords are left alone."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.base.secrets import find_secrets, secret_lines
from tests.fixture_files import sample, sample_names
from tests.growth import TIMES, assert_in_proportion

SECRETS = [
    "My API key is sk-abc123...",
    "password: hunter2",
    "sk-ant-api03-AbCdEf123456",
    "sk-proj-1234567890abcdef",
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "gho_abcdef123456",
    "github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuv",
    "glpat-xYz123AbC456DeF78",
    "xoxb-123456789012-abcdefABCDEF",
    "xoxp-1234-5678",
    "AKIAIOSFODNN7EXAMPLE",
    "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY",
    "ya29.a0AfH6SMBx1234567890abcdef",
    "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
    "rk_test_51H8abcdEFGH",
    "whsec_abcdEFGH1234567890ab",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN OPENSSH PRIVATE KEY-----\n-----END OPENSSH PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\\nMC4\\n-----END PRIVATE KEY-----",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
    "postgres://shop:s3cretpw@db.example.com/shop",
    "curl -u user:secret https://example.com",
    "curl --user=admin:pw https://example.com",
    "curl -sSu 'joe:my pass' https://example.com",
    "curl https://example.com \\\n  -U joe:open",
    "-u admin:hunter2xyz",
    "Authorization: Bearer abcdefgh",
    '"authorization": "Basic am9lOm9wZW4="',
    "https://alice:Tr0ub4dor@example.com/",
    "redis://:p4ssw0rdX@cache:6379",
    "Authorization: Bearer abc123def456",
    "bearer 0123456789abcdef",
    "token: abc123xyz",
    "API_KEY=9f8e7d6c5b4a",
    '"password": "S3cure!pass"',
    "db_password='hunter22'",
    "PGPASSWORD=hunter2",
    "client_secret: 8xQ~abcDEF123",
    "- apiKey: ab12cd34ef56",
    "**Password:** hunter2",
    "npm_abcdefghijklmnopqrstuvwxyz0123456789",
    "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH",
    "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",
    "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
    "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1",
    "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5zA7b",
    "passphrase: correct-horse-7-battery",
    "pwd=Passw0rd",
    "password: 4711",
    'auth_token = "tok_1A2b3C4d"',
    "AGE-SECRET-KEY-1QQPQQPQQPQQPQQPQQPQQPQQPQQPQQPQQPQQPQQPQQPQQPQQPQQPQQPQQPQ0",
    "pypi-AgEIcHlwaS5vcmcCJDAwMDAwMDAwLTAwMDAtMDAwMC0wMDAw",
    "password: P@ssword",
    'secret_key: "x9Kd02mQ"',
]

NO_SECRETS = [
    "[`c747ed1`](https://github.com/Some-Org/OpenTool/commit/c747ed1f34459ca6bc15d43ad9f68dfdf7750875) Thanks",
    "Commit 3fa94c1d8e2b7a6f5c4d3e2f1a0b9c8d7e6f5a4b fixed it",
    "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "id 550e8400-e29b-41d4-a716-446655440000",
    "/Users/Alice/Projects/Shop2/src/components/CheckoutForm/index",
    "uses sk-learn for the model",
    "pip install sk-learn==1.4.2",
    "password: ask Alice",
    "password: see 1Password",
    "password: rotated on 2024-01-15",
    "Passwords: at least 12 characters",
    "token: required",
    "token limit: 128k",
    "token_count: 12345",
    "max tokens: 4096",
    "tokenizer: cl100k_base",
    "token_type: oauth2",
    "Chose JWT over session cookies for auth",
    "JWT refresh logic in progress",
    "password: $DB_PASSWORD",
    "password: ${DB_PASSWORD}",
    "password: <your password here>",
    "password: ********",
    "password_file: /run/secrets/db1",
    "token: /var/run/token2",
    "api key: in vault",
    "API key: kept in 1Password",
    "secret: https://vault.example.com/v1/shop",
    "postgres://user:password@localhost/db",
    "postgres://user:${PASS}@localhost/db",
    "https://example.com:8080/path@2",
    "Bearer tokens expire after 15 minutes",
    "the bearer of bad news 2",
    "key: value1234",
    "- cronJobId: cron-abc123",
    "- orchestrationId: orch-xyz789",
    "channel-abc123 is connected",
    "ghp_ is the prefix of GitHub tokens",
    "xoxb- tokens and glpat- tokens are secrets",
    "skip-links and ask-me-2024",
    "task-sk-1 is done",
    "password hash: argon2id",
    "passwordPolicy: min12chars",
    "reset token: expires after 24h",
    "password: changed",
    "tasks#3fa94c1ab0",
    "com.example.shop.checkout.PaymentServiceFactoryBean2024Impl",
    "docs/ArchitectureDecisionRecords/2024/UseRedisForCachingAndQueues/README",
    "integrity sha512-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFUabcdEF12==",
    "-----BEGIN CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----",
    "docker run -u 1000:1000 --user node:node image",
    "git push -u origin feature:main",
    "curl -u $USER:$PASS https://example.com",
    "curl -u user:*** https://example.com",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer authentication is used",
    "SKU12345 and AKIA are prefixes",
    "the secret: patience and 2 spoons of honey",
    "Tokenized 12 files: 3400 tokens",
    "Staging URL: https://staging.example.com",
    "token: JWT",
    "author=alice pass: 3 of 4",
    "compass=north2 bypass: lane42",
    "keyboard=qwerty123",
]


PLAIN_WORDS = [
    "Bearer abcdefgh",
    "Bearer mytokenvalue",
    "Authorization: Bearer supersecretvalue",
    "curl -H 'Authorization: Bearer letmeinplease' https://api.example.com",
    "Bearer xyzzyplugh for the staging API",
    "send it as Bearer swordfish",
    "bearer abcdefghijk",
    "BEARER QWERTYUIOP",
    "header is Bearer dragonfly-monkey",
    "Authorization=Bearer opensesame",
    "use Bearer aaaabbbbcccc when calling it",
    "Bearer ThisIsTheKey",
    "token: swordfish",
    "token:abcdef",
    "token = opensesame",
    "token=letmein",
    "deploy token: letmein-please",
    "deploy_token: hunterhunter",
    "api_token=zyxwvuts",
    "refresh token: mnbvcxz.",
    "auth_token: abcdefghij",
    "access-token: qwertzuiop",
    "session token: marmalade",
    "the CI token: pineapple",
    "bot token: gingerbread",
    "my token: abrakadabra",
    'push token: "kaleidoscope"',
    "token: 'butterscotch'",
    '"token": "thunderstruck"',
    "**Token:** moonlight",
    "password: swordfish",
    "password:qwerty",
    "password = sesame",
    "password=trustno",
    "Password: Sommer!",
    "PASSWORD=changeme",
    "password: correct-horse",
    'password: "monkey"',
    "password: 'dragon'",
    "password: `sunshine`",
    '"password": "princess"',
    "**Password:** football",
    "the password is in there, password: opensesame",
    "db password: postgres",
    "db_password=shadow",
    "root password: toor",
    "wifi password: bananasplit",
    "admin password: adminadmin",
    "VPN password: iloveyou.",
    "the password: swordfish, the user: alice",
    "user: alice, password: swordfish",
    "login alice / password: superman;",
    "passwd: secretsauce",
    "passwd=batman",
    "pwd: hunter",
    "pwd=ninja",
    "passphrase: correct-horse-battery-staple",
    "passcode: abcdefg",
    "client_secret: mysecretvalue",
    "app-secret = tremendous",
    "token: abc",
    "token:abc",
    "token = xyz",
    "token=foo",
    "Token: Bob.",
    "the token: qwe",
    "deploy token: zap",
    "api_token: abc1",
    "refresh_token=ab1",
    "token: a1b2c",
    "token: 12ab",
    '"token": "abc"',
    "token: abc, user: alice",
    "TOKEN: ABC",
    "password: abc",
    "password:foo",
    "password = joe",
    "password=bar",
    "Password: Tom!",
    "password: abc1",
    "password: ab1",
    "password: 1234",
    "password: 123",
    "password: 12ab",
    "password: a-b",
    "password: s3x",
    "password: caf\u00e9s",
    "password: schl\u00fcssel",
    "password: \u00e4pfel",
    "db_password=pg1",
    "pwd: cat",
    "pwd=dog",
    "passwd: elf",
    "passcode: 007",
    "root password: sun",
    "login alice / password: max1;",
    "Bearer abc",
    "Authorization: Bearer foo",
    "use Bearer qux",
]

PROSE = [
    "Bearer tokens expire after an hour",
    "Bearer authentication is used everywhere",
    "Bearer token required",
    "the bearer of bad news",
    "the bearer presents the letter at the door",
    "Use a Bearer token in the header",
    "Bearer scheme",
    "Bearer auth, not Basic",
    "Bearer header missing",
    "bearer bonds and shares",
    "as a bearer credential",
    "Bearer prefix is optional",
    "Bearer must be sent",
    "bearer tokens are cached",
    "Bearer or Basic",
    "Bearer with refresh",
    "token: required",
    "token: expired",
    "token: JWT",
    "token: optional, header: required",
    "token: missing",
    "token: none",
    "token: invalid",
    "token: see the vault",
    "token: ask the platform team",
    "token: rotates every Monday",
    "token: never",
    "token: unknown",
    "token: stored in the keychain",
    "token: generated on first use",
    "refresh token: works",
    "the token: where does it come from",
    "tokens: unlimited",
    "token budget: large",
    "token_type: bearer",
    "tokenizer: fast",
    "password: ask Alice",
    "password: see the vault",
    "password: rotated weekly",
    "password: changed",
    "password: unknown",
    "password: required",
    "password: none",
    "password: bitwarden",
    "password: hidden",
    "password: same as before",
    "password: the usual one",
    "password: in the keychain",
    "password: must have twelve letters",
    "password: expired",
    "password: forgotten",
    "password: empty",
    "password reset flow: works",
    "passwords: rotate them",
    "password policy: strict",
    "password manager: Bitwarden",
    "the password is stored in Bitwarden",
    "password field: accessible label missing",
    "passphrase: written on paper",
    "client secret: see the vault",
    "token: no",
    "token: n/a",
    "token: yes",
    "token: new",
    "token: old",
    "token: set",
    "token: not set",
    "token: TBD",
    "token: SSO",
    "token: see env",
    "token: 15m",
    "token: 4096",
    "token: 128k",
    "max token: 512",
    "token: 24h, then renewed",
    "token: via SSO",
    "token: OIDC",
    "token: PAT",
    "token: one per user",
    "push_token: 4096",
    "token: for CI only",
    "password: ok",
    "password: off",
    "password: n/a",
    "password: yes",
    "password: new one every month",
    "password: not yet",
    "password: OTP",
    "password: MFA.",
    "password: 12 characters or more",
    "password: min 12",
    "password: 8-64",
    "password: 90d",
    "password: via LDAP",
    "the password: who has it?",
    "Bearer and Basic",
    "Bearer for the API",
    "Bearer is used",
    "bearer has to be sent",
    "the bearer can pay",
    "Bearer JWT",
]


@pytest.mark.parametrize("text", SECRETS)
def test_found(text: str) -> None:
    """Each is found once or more, within the text, by a kind that does not show it."""
    found = find_secrets(f"- notes: before {text} after")
    assert found
    for one in found:
        assert 0 <= one.start < one.end <= len(text) + 22
        assert not re.search("[0-9]", one.kind)


@pytest.mark.parametrize("text", NO_SECRETS)
def test_left_alone(text: str) -> None:
    """Near misses, in the middle of a line and alone."""
    assert find_secrets(text) == ()
    assert find_secrets(f"- notes: {text}\n- tags: a, b\n") == ()


@pytest.mark.parametrize("text", PLAIN_WORDS)
def test_plain_words_are_found_where_secrets_are_refused(text: str) -> None:
    """A word of letters behind `Bearer`, `token:` or `password:` is a secret to what refuses secrets, in any line."""
    assert find_secrets(text, plain_words=True)
    assert find_secrets(f"one line\n- {text}\nanother line", plain_words=True)


@pytest.mark.parametrize("text", PROSE)
def test_prose_about_secrets_is_none(text: str) -> None:
    """What people write about passwords and tokens is left alone by what refuses secrets, too."""
    assert find_secrets(text, plain_words=True) == ()
    assert find_secrets(f"one line\n- {text}\nanother line", plain_words=True) == ()


@pytest.mark.parametrize("text", NO_SECRETS)
def test_near_misses_are_none_where_secrets_are_refused(text: str) -> None:
    """Near misses are no secrets with plain words, either."""
    assert find_secrets(text, plain_words=True) == ()


def test_the_sample_holds_none() -> None:
    """The files of the format, with their tokens and passwords that are only spoken of."""
    for name in sample_names():
        assert find_secrets(sample(name).decode()) == (), name


def test_our_own_guides_hold_none() -> None:
    """Pages that speak of passwords, tokens and hashes."""
    house = Path(__file__).parents[2]
    for path in [*house.glob("docs/*.md"), house / "README.md", house / "CHANGELOG.md", house / "CONTRIBUTING.md"]:
        if path.name != "trust.md":
            assert find_secrets(path.read_text("utf-8")) == (), path


def test_lines() -> None:
    """Lines count from 0 and end as they do in files."""
    text = "one\r\npassword: hunter2\rthree\n\n- token: abc123xyz password: hunter3\n"
    assert secret_lines(text) == ((1, "password or token"), (4, "password or token"), (4, "password or token"))
    assert secret_lines("nothing\n" * 3) == ()


@given(st.text(max_size=200), st.sampled_from(SECRETS), st.text(max_size=200))
def test_places_are_those_of_the_text(before: str, secret: str, after: str) -> None:
    """Whatever stands around, places are characters of the text, in order and apart from each other."""
    text = f"{before}\n{secret}\n{after}"
    found = find_secrets(text)
    assert found
    ends = [0]
    for one in found:
        assert ends[-1] <= one.start < one.end <= len(text)
        ends.append(one.end)


@pytest.mark.parametrize("seed", range(4))
def test_random_keys_are_found_and_hashes_are_not(seed: int) -> None:
    """Of 200 random keys of 44 letters and digits nearly all are found, of 200 hashes and paths none."""
    chance = random.Random(seed)
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    keys = ["".join(chance.choices(letters, k=44)) for _ in range(200)]
    assert sum(bool(find_secrets(f"key {key}")) for key in keys) >= 190
    words = ("src", "Users", "Alice", "projects", "CheckoutForm", "api2", "2024", "node_modules", "Component")
    for _ in range(200):
        path = "/" + "/".join(chance.choice(words) for _ in range(chance.randint(5, 12)))
        digest = f"{chance.getrandbits(256):064x}"
        assert find_secrets(f"{path} {digest} {digest.upper()}") == ()


MEGABYTE = 1 << 20


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "-",
        "sk- ",
        " sk-aaaaaa",
        "password: ",
        "password:",
        "token",
        "://",
        "aB3/",
        "eyJaaa.",
        "-----BEGIN ",
        "bearer ",
    ],
)
def test_a_line_of_a_megabyte_costs_in_proportion(piece: str) -> None:
    """Text that begins like secrets over and over is looked through in proportion to its length."""
    assert_in_proportion(lambda size: (piece * (size // len(piece) + 1))[:size], find_secrets, MEGABYTE // TIMES)


@pytest.mark.parametrize("piece", ["a", "token: abcdef ", "token:a", "bearer a ", "password:!!!!!!!!", "a-secret: b!"])
def test_plain_words_cost_in_proportion(piece: str) -> None:
    """Text that begins like stated secrets over and over is looked through in proportion to its length."""

    def look(text: str) -> object:
        return find_secrets(text, plain_words=True)

    assert_in_proportion(lambda size: (piece * (size // len(piece) + 1))[:size], look, MEGABYTE // TIMES)


PIECES = ("pass", "password", "PWD", "secret", "client_", "my-", "token", "Bearer ", "bearer", ": ", "=", ":", " ",
          "\n", "swordfish", "Hunter", ".", ",", "`", "**", "x", "_", "-", "é", "ask Alice")  # fmt: skip


@pytest.mark.parametrize("text", [*SECRETS, *NO_SECRETS])
@pytest.mark.parametrize("around", ["plain words of a text\n", "a_b t-c .com/ xoxo bearer of\n"])
def test_a_long_text_holds_what_a_short_one_holds(text: str, around: str) -> None:
    """What stands in the middle of a long text is found as it is alone, whether parts of it are rare there or not."""
    alone = find_secrets(f"\n{text}\n")
    before = around * (70_000 // len(around))
    found = find_secrets(f"{before}\n{text}\n{before}")
    assert [(one.kind, one.start - len(before), one.end - len(before)) for one in found] == [
        tuple(one) for one in alone
    ]
