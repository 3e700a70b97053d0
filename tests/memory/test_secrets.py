"""Secrets are found by their shape; hashes, paths, names and words about passwords are left alone."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.base.secrets import find_secrets
from tests.growth import TIMES, assert_in_proportion

SECRETS = [
    "My API key is sk-abc123...",
    "password: hunter2",
    "sk-ant-api03-AbCdEf123456",
    "sk-proj-1234567890abcdef",
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuv",
    "glpat-xYz123AbC456DeF78",
    "xoxb-123456789012-abcdefABCDEF",
    "AKIAIOSFODNN7EXAMPLE",
    "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY",
    "ya29.a0AfH6SMBx1234567890abcdef",
    "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
    "whsec_abcdEFGH1234567890ab",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\\nMC4\\n-----END PRIVATE KEY-----",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
    "postgres://shop:s3cretpw@db.example.com/shop",
    "curl -u user:secret https://example.com",
    "curl https://example.com \\\n  -U joe:open",
    "-u admin:hunter2xyz",
    "Authorization: Bearer abcdefgh",
    '"authorization": "Basic am9lOm9wZW4="',
    "https://alice:Tr0ub4dor@example.com/",
    "redis://:p4ssw0rdX@cache:6379",
    '"password": "S3cure!pass"',
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
    'auth_token = "tok_1A2b3C4d"',
    "AGE-SECRET-KEY-1QQPQQPQQPQQPQQPQQPQQPQQPQQPQQPQQPQQPQQPQQPQQPQQPQQPQQPQQPQ0",
    "pypi-AgEIcHlwaS5vcmcCJDAwMDAwMDAwLTAwMDAtMDAwMC0wMDAw",
]

NO_SECRETS = [
    "[`c747ed1`](https://github.com/Some-Org/OpenTool/commit/c747ed1f34459ca6bc15d43ad9f68dfdf7750875) Thanks",
    "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "/Users/Alice/Projects/Shop2/src/components/CheckoutForm/index",
    "pip install sk-learn==1.4.2",
    "password: see 1Password",
    "Passwords: at least 12 characters",
    "token limit: 128k",
    "JWT refresh logic in progress",
    "password: ${DB_PASSWORD}",
    "password: ********",
    "API key: kept in 1Password",
    "postgres://user:password@localhost/db",
    "https://example.com:8080/path@2",
    "channel-abc123 is connected",
    "password: changed",
    "com.example.shop.checkout.PaymentServiceFactoryBean2024Impl",
    "integrity sha512-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFUabcdEF12==",
    "-----BEGIN PUBLIC KEY-----",
    "git push -u origin feature:main",
    "curl -u user:*** https://example.com",
    "Authorization: Bearer authentication is used",
    "the secret: patience and 2 spoons of honey",
    "Staging URL: https://staging.example.com",
]


PLAIN_WORDS = [
    "Bearer abcdefgh",
    "header is Bearer dragonfly-monkey",
    "token: swordfish",
    '"token": "thunderstruck"',
    "password: correct-horse",
    "db_password=shadow",
    "VPN password: iloveyou.",
    "token: abc",
    "token: abc, user: alice",
    "password = joe",
    "password: a-b",
    "password: \u00e4pfel",
    "Bearer abc",
]

PROSE = [
    "Bearer tokens expire after an hour",
    "the bearer of bad news",
    "token: JWT",
    "token: none",
    "token: ask the platform team",
    "token: unknown",
    "password: ask Alice",
    "password: changed",
    "password: must have twelve letters",
    "password policy: strict",
    "token: no",
    "token: not set",
    "token: see env",
    "token: one per user",
    "password: ok",
    "password: min 12",
    "Bearer for the API",
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


@pytest.mark.thorough(one_of=4)
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
