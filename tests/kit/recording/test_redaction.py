"""Tokens, passwords and keys in messages are redacted."""

from __future__ import annotations

import json
import random
import string
import tomllib
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from acp_kit.recording import redaction
from acp_kit.recording.file_format import Recorded
from acp_kit.recording.redaction import redact, redact_recorded

TOKEN = "hunter2hunter2hunter2"
# Texts with a secret, and what is left of them.
TEXTS = {
    f"Authorization: Bearer {TOKEN}": "Authorization: Bearer [redacted]",
    f"a\nsk-{TOKEN}": "a\n[redacted]",
    f"key ghp_{TOKEN}!": "key [redacted]!",
    f"\x1b[32meyJ{TOKEN}.{TOKEN}.{TOKEN}\x1b[0m": "\x1b[32m[redacted]\x1b[0m",
    f"A_TOKEN={TOKEN} run": "A_TOKEN=[redacted] run",
    f"run --api-key={TOKEN} on": "run --api-key=[redacted] on",
}


@pytest.mark.parametrize(("text", "left"), TEXTS.items())
def test_tokens_in_texts_are_redacted(text: str, left: str) -> None:
    for ascii_only in (False, True):
        assert json.loads(redact(json.dumps({"text": text}, ensure_ascii=ascii_only).encode())) == {"text": left}
    assert redact_recorded(Recorded(1, "stderr", None, None, text)).line == left


@pytest.mark.parametrize(
    "text", ["task-based-scheduling-of-work", "Basic authentication", "--help --key", "MAX_TOKENS=5", "a.b=c"]
)
def test_other_texts_are_not_redacted(text: str) -> None:
    assert json.loads(redact(json.dumps(text).encode())) == text


@pytest.mark.parametrize("name", ["token", "accessToken", "api_key", "API-KEY", "password", "credentials", "tokens"])
def test_texts_in_members_named_like_secrets_are_redacted(name: str) -> None:
    values: dict[str, Any] = {name: ["hunter2", {"a": "hunter2", "n": 5}, None], "total": 5}
    assert json.loads(redact(json.dumps(values).encode())) == {
        name: ["[redacted]", {"a": "[redacted]", "n": 5}, None],
        "total": 5,
    }


def test_more_is_redacted_to_share() -> None:
    numbers = {"token": 123456789, "secret": [123456789]}
    message = {
        **numbers,
        "_meta": {"a": ["hunter2", 1]},
        "url": "https://h/?x=hunter2&y=#z",
        "text": 'password: "hunter2hunter2"',
    }
    line = json.dumps(message).encode()
    assert json.loads(redact(line)) == message
    assert json.loads(redact(line, to_share=True)) == {
        **numbers,
        "_meta": {"a": ["[redacted]", 1]},
        "url": "https://h/?x=[redacted]&y=#z",
        "text": 'password: "[redacted]"',
    }


def random_text(length: int, characters: str = string.ascii_letters + string.digits) -> str:
    return "".join(random.Random(length).choices(characters, k=length))


# The start of a token, and how many characters follow.
TOKENS = {
    "ghp_": 36,
    "glpat-": 20,
    "sk-ant-api03-": 90,
    "gsk_": 52,
    "xai-": 80,
    "hf_": 34,
    "pplx-": 48,
    "r8_": 37,
    "AIza": 35,
    "ya29.": 60,
    "GOCSPX-": 28,
    "xapp-1-A0-": 40,
    "xoxe.xoxp-1-": 60,
    "npm_": 36,
    "pypi-AgEIcHlwaS5vcmc": 70,
    "hvs.": 90,
    "s.": 24,
    "dp.pt.": 43,
    "lin_api_": 40,
    "ntn_": 46,
    "whsec_": 32,
    "rk_live_": 24,
    "shpat_": 32,
    "dckr_pat_": 27,
    "rubygems_": 48,
    "PMAK-": 58,
    "ATATT3": 186,
    "AGE-SECRET-KEY-1": 58,
    "figd_": 40,
    "tskey-auth-": 30,
}
OTHER_TOKENS = [
    *(f"{start}{random_text(length)}" for start, length in TOKENS.items()),
    f"AKIA{random_text(16, string.ascii_uppercase + '234567')}",
    f"ASIA{random_text(16, string.ascii_uppercase + '234567')}",
    f"SG.{random_text(22)}.{random_text(43)}",
    f"dapi{random_text(32, string.hexdigits.lower())}",
    f"key-{random_text(32, '0123456789abcdef')}",
]


@pytest.mark.parametrize("token", OTHER_TOKENS)
@pytest.mark.parametrize("around", ["use {}, please", "a\n{}\n", "'{}'", "x?y={}", "(`{}`)"])
def test_tokens_of_a_known_form_are_redacted(token: str, around: str) -> None:
    left = json.loads(redact(json.dumps({"text": around.format(token)}).encode()))["text"]
    assert left == around.format("[redacted]")


@pytest.mark.parametrize(
    "url", ["hooks.slack.com/services/T0/B0", "discord.com/api/webhooks/1", "h.webhook.office.com/webhookb2"]
)
def test_the_urls_of_webhooks_are_redacted(url: str) -> None:
    assert random_text(24) not in shared(f"POST https://{url}/{random_text(24)}")


@pytest.mark.parametrize("id", ["123456789", "bot123456789"])
def test_the_token_of_a_bot_of_telegram_is_redacted(id: str) -> None:
    assert shared(f"https://api.telegram.org/{id}:{random_text(35)}/send").endswith(f"{id}[redacted]/send")


# Texts with passwords and keys that only their place gives away.
PLACES = [
    "machine h login joe password {}",
    "machine h\n  login joe\n  password {}\n",
    "localhost:5432:db:joe:{}",
    "Cookie: session={}",
    "curl -H 'Cookie: sid={}' https://h",
    "Set-Cookie: sid={}; Path=/",
    "curl -b 'sid={}' h",
    "curl -u joe:{} https://h",
    "curl -ujoe:{} h",
    "curl --user 'joe:{}' h",
    "PGPASS={} psql",
    'export PGPASSWORD="{}"',
    "password={}",
    "password: {}",
    'password = "{}"',
    "DB_PASS={}",
    "db_pwd: {}",
    "--password {} run",
    "secret: {}",
    "mysql -u root -p{} db",
    "sshpass -p {} ssh h",
    "docker login -u joe -p {}",
    "redis-cli -a {} ping",
    "unzip -P {} a.zip",
    "echo {} | docker login --password-stdin",
    "my password is {}.",
    "<password>{}</password>",
    '{{"password": "{}"}}',
    "{{'password' => '{}'}}",
    "Server=h;Password={};",
    "openssl rsa -passin pass:{}",
    "h\tTRUE\t/\tFALSE\t0\tsid\t{}",
    "identified by '{}'",
    "postgres://joe:{}@h/db",
    "X-Api-Key: {}",
    "API key: {}",
    "aws_session_token = {}",
    "AWS Secret Access Key [None]: {}",
    '"SecretAccessKey": "{}"',
    "Authorization: token {}",
    "//registry/:_authToken={}",
    '"auth": "{}"',
    "AccountKey={};Suffix=c",
    "DATABASE_PASSWORD {}",
    "user: joe\npass: {}",
    "SECRET_KEY_BASE={}",
    "npm config set //r/:_authToken {}",
    "('password', '{}')",
    "auth = ('joe', '{}')",
    "redis-cli --pass {} ping",
    "smbclient -U joe%{} //h",
    "contraseña: {}",
    "The password is `{}`.",
    "sqlplus scott/{}@orcl",
    "jdbc:oracle:thin:scott/{}@//h/x",
    "htpasswd -b file joe {}",
    "htpasswd -bc -B file joe '{}'",
    "htpasswd -nb joe {} and more",
    "ssh-keygen -t ed25519 -N '{}' -f id",
    "ssh-keygen -p -P {} -N other",
    "openssl enc -aes-256-cbc -k {} -in a",
    "openssl passwd -6 {}",
    'mysql -u "root" -p{} db',
    "psexec \\\\h -u joe -p {} cmd",
    "curl -su joe:{} h",
    "http -a joe:{} h",
    "lftp -u joe,{} h",
    "net user joe {} /add",
    "xfreerdp /u:joe /p:{} /v:h",
    "nuget push a.nupkg -k {}",
    'ConvertTo-SecureString "{}" -AsPlainText',
    "printf '{}\\nagain' | passwd joe",
    "- name: DB_PASSWORD\n  value: {}",
    '[{{"name": "DB_PASSWORD", "value": "{}"}}]',
    '<add key="ApiKey" value="{}"/>',
    "Ocp-Apim-Subscription-Key: {}",
    "client-key-data: {}",
    "tls.key: {}",
    "psk={}",
    "ENV DB_PASSWORD {}",
    "setx API_KEY {}",
    "A_KEY_B64={}",
    'passphrase: "the {}"',
]


@pytest.mark.parametrize("place", PLACES)
def test_secrets_that_their_place_gives_away_are_not_shared(place: str) -> None:
    assert "hunter2" not in shared(place.format("hunter2"))
    assert "hunter2" not in shared(f"before\n{place.format('hunter2')}\nafter")
    assert "hunter2" not in shared(json.dumps({"text": place.format("hunter2")}))


def test_a_value_beside_the_name_of_a_secret_is_redacted() -> None:
    variables = [{"name": "DB_PASSWORD", "value": "hunter2"}, {"name": "HOME", "value": "/"}]
    assert json.loads(redact(json.dumps(variables).encode())) == [{**variables[0], "value": "[redacted]"}, variables[1]]


def test_the_words_of_a_mnemonic_are_redacted() -> None:
    words = "legal winner thank year wave sausage worth useful legal winner thank yellow"
    assert shared(f'mnemonic: "{words}"') == 'mnemonic: "[redacted]"'


def test_a_short_bearer_token_and_a_hash_are_redacted() -> None:
    assert shared("sent Bearer a1b2c3d4e5f6g7") == "sent Bearer [redacted]"
    assert shared("joe:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=") == "joe:{SHA}[redacted]"


@pytest.mark.parametrize("password", ["hun&ter2", "hun'ter2", r"hun\ster2"])
@pytest.mark.parametrize("place", ["password={}", 'password: "{}"', "curl -u joe:{} h", "DB_PASS={}", "api_key: {}"])
def test_the_whole_password_is_redacted(password: str, place: str) -> None:
    for text in (place.format(password), json.dumps({"text": place.format(password)})):
        assert "ter2" not in shared(text)


@pytest.mark.parametrize("text", [r"password = \"hun\\\"ter2\"", "password = 'hun\"ter2'"])
def test_a_password_may_have_quotes(text: str) -> None:
    assert "ter2" not in shared(text)
    assert "ter2" not in shared(json.dumps({"text": text}))


@pytest.mark.parametrize(
    "text", ["password: \\", "DB_PASSWORD=\\", "mysql -p\\", "auth = (\\", "cookie: \x00?x=a", "'token=\\"]
)
def test_what_follows_a_backslash_at_the_end_of_a_text_stays(text: str) -> None:
    line = json.dumps([text, "b", json.dumps([text, "c"])])
    assert json.loads(redact(line.encode(), to_share=True))[1] == "b"


COLORED = [
    "\x1b[36mpassword\x1b[0m: \x1b[1;33mhunter2\x1b[m",
    '\x1b[34;1m"password"\x1b[0m\x1b[1;39m:\x1b[0m \x1b[0;32m"hunter2"\x1b[0m',
    "DB_PASS\x1b[m\x1b[K=hunter2",
    f"sk-ant-\x1b[32mapi03-{TOKEN}",
    f"ghp_{TOKEN[:9]}\x1b[32m{TOKEN}",
    f"printf '\\033[1mBearer\\033[0m {TOKEN}'",
]


@pytest.mark.parametrize("text", COLORED)
def test_colors_in_names_and_values_do_not_matter(text: str) -> None:
    for whole in (text, f"\x1b[31ma\\\x1b[0m \n{text} end", json.dumps({"text": text})):
        left = shared(whole)
        assert "hunter2" not in left
        assert not whole.endswith("end") or left.endswith("end")


@pytest.mark.parametrize("label", ["RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\\n", "\n 2\u2192", "\n+"])
def test_private_keys_are_redacted(label: str, newline: str) -> None:
    lines = [f"-----BEGIN {label}-----", *[random_text(64)] * 3, f"-----END {label}-----"]
    assert shared(f'a "{newline.join(lines)}" b') == 'a "[redacted]" b'
    assert random_text(64) not in shared(f"a {newline.join(lines[:3])}")


def test_an_argument_after_the_option_for_a_user_is_redacted() -> None:
    assert json.loads(redact(b'["-u", "joe:hunter2", "-u", "joe"]')) == ["-u", "[redacted]", "-u", "joe"]


@pytest.mark.parametrize(
    "text",
    [
        "session 3f2b8c1e-8f7a-4d9b-9c1e-2f3a4b5c6d7e",
        "sess_01HXYZABCDEFGHJKMNPQRSTVWX",
        "toolu_01A09q90qw90lq917835lq9",
        "call_abc123DEF456ghi789JKL012",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "https://h/commit/9fceb02d0ae598e9",
        f"data:image/png;base64,{b64encode(random.Random(1).randbytes(50_000)).decode()}",
        "napi_create_string_utf8",
        "def password(self) -> str:",
        "the password is wrong",
        "password: string",
        "fetch(url, {credentials: 'same-origin'})",
        "self.password = password",
        "rsync -avzu host:/path /x",
        "echo done | sudo tee /etc/x",
        "echo hello | openssl md5",
        "dotnet build /p:Configuration=Release",
        "Bearer authentication",
        "PWD=/home/joe",
        "max_tokens: 4096",
        "docker run -u 1000:1000 x",
        "git push -u origin main",
        "http://localhost:5432/db",
        "API-compatible-endpoints",
        "token = parser.next_token()",
        "password = get_password(user)",
        "password = os.environ['DB_PASSWORD']",
        "-----BEGIN CERTIFICATE-----\nMIIB",
        "if '-----BEGIN PRIVATE KEY-----' in text",
        "hf_hub_download_with_progress",
    ],
)
def test_ids_hashes_images_and_code_stay_readable(text: str) -> None:
    assert shared(text) == text


def test_each_token_of_the_table_has_a_source() -> None:
    rows = tomllib.loads(Path(redaction.__file__).with_name("tokens.toml").read_text("utf-8"))["token"]
    assert all(row["source"].startswith("https://") for row in rows)


def shared(text: str) -> str:
    (left,) = redact_recorded(Recorded(1, "a2c", None, [text], None)).message
    return left


@pytest.mark.parametrize(
    "piece",
    [
        "eyJ",
        "A_",
        "--x-",
        "sk-",
        "?a",
        "\\n",
        "Bearer ",
        "password ",
        "token,",
        "token=",
        "key=a",
        "mysql ",
        "login ",
        "-u a:b ",
        "-----BEGIN PRIVATE KEY-----",
        "re_a",
        "\x1b[",
        "\x1b[0m",
        "\\",
    ],
)
@pytest.mark.timeout(30)  # a search whose time grows with the square of the length takes minutes
def test_long_lines_take_little_time(piece: str) -> None:
    line = json.dumps(f"{piece * (500_000 // len(piece))}(").encode()
    assert redact(line, to_share=True)
