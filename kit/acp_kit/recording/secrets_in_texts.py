"""Finds secrets in texts: tokens of a known form, private keys, and what is named as a secret or given as one.

The texts are searched as they are in JSON, with escapes, so that a whole message is searched at once. No pattern goes
back far, so that the time is linear in the length of the text.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

REDACTED = b"[redacted]"

# The ends of the names of members, parameters, options and variables that hold secrets.
_KEYS = (
    "access",
    "account",
    "api",
    "auth",
    "client",
    "encryption",
    "master",
    "private",
    "secret",
    "shared",
    "signing",
    "storage",
    "subscription",
    "tls",
)
SECRET_NAME = (
    rf"(?:{'|'.join(_KEYS)})[ ._-]?key(?:[_-]data)?|credentials?|jwt|passphrase|passwor[dt]|passwd|secret|token"
)
# A token of more characters than these is recognized when it was cut off.
_MIN_TOKEN = 16

# Every token is in such a word.
_LONG_WORD = re.compile(rb"[\w+/=.~%$:@-]{18,}")
_MAX_CACHED_WORD = 100

# White space, also escaped.
_SPACE = r"(?:\s|\\+[nrt])"
_ASSIGN = r"(?:\s|\\t)*(?:=>|:=|[:=])(?:\s|\\t)*"
# A quote after an even number of backslashes ends the whole text.
_ESCAPED_QUOTE = r'\\(?:\\\\)*+"'
_QUOTE = rf"(?:{_ESCAPED_QUOTE}|\\*['`])"
# An escape in a value, which is neither a quote nor the end of a line.
_ESCAPE = r"""\\+(?![nr"'\\])"""
_IN_DOUBLE_QUOTES = rf"""(?P<quote>\\(?:\\\\)*+)"((?:[^"\\]|{_ESCAPE}|\\+'|(?P=quote)(?:\\\\)++")++)"""
_IN_SINGLE_QUOTES = rf"""\\*'((?:[^'"\\]|{_ESCAPE}|{_ESCAPED_QUOTE})++)"""
# An ampersand before a name and `=` ends a parameter.
_UNQUOTED = r"""((?:[^\s"'`\\&<>{0}]|(?<=\w)\\+(?![bfnrtu"'\\])|(?<=\w)'(?=\w)|&(?![&\s]|[\w.%-]{{0,60}}=))++)"""


def _value(ends: str = "") -> str:
    """Return a pattern for a value: in quotes, or up to what ends a word. It is the last group.

    Args:
        ends: what else ends a word.
    """
    return rf"(?:{_IN_DOUBLE_QUOTES}|{_IN_SINGLE_QUOTES}|`([^`\"\\]+)|{_UNQUOTED.format(ends)})"


_ANY_VALUE = _value()
# Words of code and prose that stand where a value may stand.
_WORDS = (
    r"(?i:any|and|are|as|bool(?:ean)?|bytes|can|expired|false|field|flag|for|from|has|in|include|input|int|invalid|is"
    r"|missing|must|nil|none|not|null|number|of|omit|optional|option|or|password|required|same-origin|secret|self|should"
    r"|str(?:ing)?|the|this|to|token|true|undefined|value|was|will|with)"
)
_NO_VALUE = rf"""(?!{_WORDS}(?![\w-]|[.!@#$%^&*+~]\w)|(?P<around>\\+"|'){_WORDS}(?P=around))"""
# Code that calls a function or gets an item.
_NAME_OF_FUNCTION = r"[a-z_$][\w.$]{0,60}"
_NO_CALL = rf"(?!{_NAME_OF_FUNCTION}[(\[])"
_NO_WHOLE_CALL = rf"(?!{_NAME_OF_FUNCTION}[(\[][^()\[\]]{{0,80}}[)\]](?!\w))"


def _word(text: str, letters: str = r"\w-") -> str:
    r"""Return a pattern for a text at the start of a word: also after an escape, such as `\n`, and after a color.

    The text comes first, because a pattern that begins with a text is searched for faster.
    """
    before = (
        rf"(?<![{letters}]{text})",
        rf"(?<=\\[bfnrt]{text})",
        rf"(?<=%[0-9A-Fa-f][0-9A-Fa-f]{text})",
        rf"(?<=\dm{text})",
    )
    return f"{text}(?:{'|'.join(before)})"


_WORD = _word("")
_OPTION = _word("-")

# A change of the color in a terminal: the character ESC, or what is written for it in code.
_COLOR = re.compile(rb"(?<!\\)\\+(?:u001[bB]|x1[bB]|033|e)\[[\d;:?]{0,40}[A-Za-z]")

# Each pattern, and texts of which every match contains one. Searching for these first is faster. All but the tokens
# are searched for in the text in lower case.
_Pattern = tuple[tuple[bytes, ...], bytes]


def _pattern(parts: Sequence[str], pattern: str) -> _Pattern:
    return tuple(part.encode() for part in parts), pattern.encode()


_ALWAYS: list[_Pattern] = [
    # The user information of a URL, and query parameters.
    _pattern(["://"], r"""://([^\s/?#"\\<>]+)(?=@)"""),
    _pattern(
        ["="],
        r"""[?&;#][\w.%-]*(?:auth|authorization|credentials?|jwt|key|otp|pass|passphrase|passw(?:or)?d|pwd|secret|sig|"""
        r"""signature|token)=([^\s&#"\\<>]+)""",
    ),
    # Private keys. What follows a beginning without an end is taken as far as it looks like one.
    _pattern(
        ["-----begin"],
        r"""-----begin[a-z0-9 ]{0,40}private key(?: block)?-----(?:(?!-----end)(?:[^"'`\\<{;$]|\\+[nrtu])){16,}+"""
        r"""(?:-----end[a-z0-9 ]{0,40}-----)?""",
    ),
    # Hashed passwords of LDAP and Apache.
    _pattern(["sha"], r"\{s?sha\d{0,3}\}([\w+/=]{20,})"),
    _pattern(["private-lines:"], r"private-lines: \d+((?:\\[nr]+[\w+/=]+)++)"),
    # Headers.
    _pattern(["bearer", "basic"], rf"{_WORD}(?:bearer|basic)\s+(?=[\w.~+/-]{{16}}){_ANY_VALUE}"),
    _pattern(["bearer"], rf"{_WORD}bearer\s+(?=[\w.~+/-]{{8}})(?=[\w.~+/-]{{0,15}}\d){_ANY_VALUE}"),
    _pattern(
        ["authorization"],
        rf"authorization{_QUOTE}?{_ASSIGN}{_QUOTE}?(?:[a-z][\w-]*[ ]+)?(?=[^\s]{{6}}){_NO_VALUE}{_ANY_VALUE}",
    ),
    _pattern(["cookie"], rf"""cookie2?{_QUOTE}?{_ASSIGN}{_QUOTE}?([^\s=;"'\\]{{1,200}}=[^"'\\]+)"""),
    # Options and variables.
    _pattern(["--"], rf"{_OPTION}-?[\w-]*(?:{SECRET_NAME}|key)={_ANY_VALUE}"),
]
# A variable of an environment, in capitals.
_VARIABLE = _pattern(
    [
        "KEY=",
        "TOKEN=",
        "SECRET=",
        "PASS=",
        "PASSWORD=",
        "PASSWD=",
        "PASSPHRASE=",
        "KEY_BASE=",
        "_PWD=",
        "_AUTH=",
        "CREDENTIALS=",
        "64=",
        "_JSON=",
    ],
    rf"{_WORD}[A-Z][A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASS(?:WORD|WD|PHRASE)?|_PWD|_AUTH|CREDENTIALS)(?:_BASE|_B64|_BASE64|_JSON)?={_ANY_VALUE}",
)

# What is assigned to these is a secret: in code, configuration, a header or a sentence.
_PASSWORDS = {
    "passphrase": "passphrase",
    "password": "password",
    "passwort": "passwort",
    "passwd": "passwd",
    "contrase": "contrase(?:\u00f1|\\\\+u00f1)a",
    "mot de passe": "mot de passe",
    "senha": _word("senha", "a-z"),
    "secret": "secret",
    "psk": _word("psk", "a-z"),
    "pwd": f"{_word('pwd', 'a-z')}(?!=/)",
    "pass": f"(?:{_word('pass', 'a-z')}|pass(?:(?<=dbpass)|(?<=pgpass)|(?<=userpass)))",
}
_TOKENS = {
    "token": "token",
    "jwt": "jwt",
    "credential": "credentials?",
    "key": f"key(?:{'|'.join(f'(?<={name}key)|(?<={name}[ ._-]key)' for name in _KEYS)})(?:[_-]data)?",
    "auth": r"""auth(?:(?<=[ _-]auth)|(?<=\\"auth))""",
}
# What may stand between a name and its value: quotes, or the word `value`, as in XML and YAML.
_NAME_END = rf"(?:[\])]|{_QUOTE})*(?:,?{_SPACE}*+{_QUOTE}?value{_QUOTE}?)?"

# The options for passwords, and the commands that have them.
_COMMANDS = {
    r" -p\s?(?![\s-])": (
        r"sshpass|mysql\w{0,10}|mariadb\w{0,10}|mongo\w{0,10}|psexec\w{0,10}|7z\w?|rar|(?:docker|podman|registry|az|oc)"
        r" login|security|(?:un)?zip|ssh-keygen"
    ),
    r" -a\s+": "redis-cli",
    r" -w\s?": r"ldap\w{1,10}|security",
    r" -n\s+": "ssh-keygen",
    r" -k\s+": "openssl|nuget",
    r" passwd\s+(?:-\w+\s+){0,3}(?!-)": "openssl",
    r" -u\s+[^\s,\"\\]{1,60},": "lftp",
}
_ARGUMENTS = rf"(?:[^|;&\"\\]|{_ESCAPE}|{_ESCAPED_QUOTE}){{0,200}}?"
_OPERAND = r"""[^\s"\\|;&-][^\s"\\|;&]{0,200}"""
_ORACLE_PASSWORD = r"""([^\s"'\\@/]+)"""

_TO_SHARE: list[_Pattern] = [
    # The value of any parameter of a URL.
    _pattern(["="], r"""[?&][\w.%-]+=([^\s&#"\\<>]+)"""),
    *(
        _pattern([part], f"{name}{_NAME_END}{_ASSIGN}{_NO_VALUE}{_NO_WHOLE_CALL}{_ANY_VALUE}")
        for part, name in _PASSWORDS.items()
    ),
    *(
        _pattern(
            [part],
            rf"""{name}{_NAME_END}(?:\s+\[[^\]"\\]{{0,40}}\])?{_ASSIGN}(?=[^\s]{{6}})(?!\d+(?![\w-])){_NO_VALUE}{_NO_CALL}"""
            rf"{_value('(),;')}",
        )
        for part, name in _TOKENS.items()
    ),
    _pattern(["password"], rf"""password\s+(?=\\*["']){_ANY_VALUE}"""),
    _pattern(["identified"], rf"""identified\s+by\s+(?=\\*["']){_ANY_VALUE}"""),
    _pattern(
        ["pass", "secret"],
        rf"(?:passphrase|password|passwd|secret)\s+is:?\s+(?={_QUOTE}|[^\s]{{0,60}}\d){_NO_VALUE}{_ANY_VALUE}",
    ),
    _pattern(["<"], rf"""<[\w:.-]{{0,60}}(?:{SECRET_NAME})>([^<"\\]+)<"""),
    # Options and their values.
    _pattern(["-"], rf"{_OPTION}-?[\w-]*(?:{SECRET_NAME}|key|pass|pwd){_SPACE}+{_NO_VALUE}(?!-){_ANY_VALUE}"),
    # A name, and a value with letters and digits.
    *(
        _pattern([part], rf"{name}{_QUOTE}?[\s,]+(?=[^\s]{{0,60}}[a-z])(?=[^\s]{{0,60}}\d)(?=[^\s]{{6}}){_ANY_VALUE}")
        for part, name in (_PASSWORDS | _TOKENS).items()
    ),
    _pattern(["auth"], rf"""auth\s*=\s*\(\s*{_QUOTE}[^"'\\]*{_QUOTE},\s*{_ANY_VALUE}"""),
    _pattern(
        ["u", "-a"],
        rf"""{_OPTION}(?:[a-z]{{0,8}}u|-user|-proxy-user|a(?<=http -a))[\s=]*{_QUOTE}?(?!\d+:)[^\s:%"'\\/]+[:%](?!/)"""
        rf"""{_UNQUOTED.format("")}""",
    ),
    _pattern(["-u"], rf"""{_OPTION}[a-z]{{0,8}}u\s*{_QUOTE}?([^\s:%"'\\/]{{16,}}):(?=[\s"'\\])"""),
    _pattern(["-b", "-cookie"], rf"{_OPTION}(?:b|-cookie)[\s=]+(?=[^\s=]+=){_ANY_VALUE}"),
    *(
        _pattern([option[:3]], rf"{_WORD}(?:{commands})\b{_ARGUMENTS}{option}{_ANY_VALUE}")
        for option, commands in _COMMANDS.items()
    ),
    _pattern(
        ["htpasswd"], rf"htpasswd\s+(?=-\w*b)(?:-\w*n\w*|(?:-\w+\s+){{1,5}}{_OPERAND})\s+{_OPERAND}\s+{_ANY_VALUE}"
    ),
    _pattern(
        ["sqlplus", "sqlldr", "impdp", "expdp", "jdbc:oracle"],
        rf"(?:(?:sqlplus|sqlldr|impdp|expdp)\s+(?:-\w+\s+)?|jdbc:oracle:\w{{1,9}}:)[\w$#]{{1,60}}/(?!\w+\.sql){_ORACLE_PASSWORD}",
    ),
    _pattern(["net user"], rf"""{_WORD}net user\s+[^\s/"\\]{{1,60}}\s+(?![/*]){_ANY_VALUE}"""),
    _pattern(["convertto-securestring"], rf"convertto-securestring\s+(?:-string\s+)?(?!\$){_ANY_VALUE}"),
    _pattern(
        ["env ", "setx ", "setenv ", "set -"],
        rf"{_WORD}(?:env|setx|setenv|set -g?x)\s+\w{{0,60}}(?:{SECRET_NAME}|key|pass|pwd)\s+{_ANY_VALUE}",
    ),
    _pattern(["mnemonic", "phrase", "seed"], r"(?:mnemonic|phrase|seed)[^a-z]{1,10}((?:[a-z]{3,8} ){11,24}[a-z]{3,8})"),
    _pattern([" pass:", " /p:"], rf"\s(?:pass|/p):(?![\w.]{{1,60}}=){_ANY_VALUE}"),
    _pattern(
        ["echo", "printf"],
        rf"""{_WORD}(?:echo|printf)\s+((?:[^|"\\]|{_ESCAPE}|{_ESCAPED_QUOTE}|\\+[nr']){{1,300}}?)"""
        r"""(?=\s*\|\s*(?:sudo\s+-\w*s\b|(?:docker|podman)\s+login|gh\s+auth|(?:sudo\s+)?(?:chpasswd|passwd)|openssl\s+passwd))""",
    ),
    # Files of passwords: netrc, .pgpass, and a browser's cookies.
    _pattern(
        ["password"],
        rf"""{_WORD}(?:machine|login|default)(?:{_SPACE}+[^\s"\\]{{1,200}}){{1,4}}?{_SPACE}+password{_SPACE}+{_ANY_VALUE}""",
    ),
    _pattern([":54", ":6432", ":*"], rf""":(?:54\d\d|6432|\*):[^:\s"\\]{{1,100}}:[^:\s"\\]{{1,100}}:{_ANY_VALUE}"""),
    _pattern(["ttrue\\", "tfalse\\"], r"""(?<!\\)\\++t(?:true|false)\\+t\d+\\+t[^\\"]+\\+t([^\\"]+)"""),
]


def redact_texts(text: bytes, *, to_share: bool) -> bytes:
    """Return a text, as it is in JSON, with its secrets redacted."""
    pieces: list[bytes] = []
    end = 0
    for first, last in find_secrets(text, to_share=to_share):
        pieces += (text[end:first], REDACTED)
        end = last
    return b"".join((*pieces, text[end:])) if pieces else text


def find_secrets(text: bytes, *, to_share: bool) -> list[tuple[int, int]]:
    """Return where the secrets of a text are, in order and without overlaps.

    Args:
        text: the text, as it is in JSON.
        to_share: whether somebody else will read it. Then more is found than may be secret.
    """
    spans = _find(text, to_share=to_share)
    if colors := [match.span() for match in _COLOR.finditer(text)]:
        spans += _find_without_colors(colors, text, to_share=to_share)
    return [*_merge(sorted((start + _is_escaped(text, start), end) for start, end in spans))] if spans else spans


def _find(text: bytes, *, to_share: bool) -> list[tuple[int, int]]:
    lower = text.lower()
    spans = [*_search(lower, _ALWAYS), *_search(text, [_VARIABLE, *_possible_tokens(text)])]
    if to_share:
        spans += _search(lower, _TO_SHARE)
    return spans


def _find_without_colors(
    colors: Sequence[tuple[int, int]], text: bytes, *, to_share: bool
) -> Iterator[tuple[int, int]]:
    """Find the secrets of a text without its colors."""
    pieces: list[bytes] = []
    places: list[int] = []  # of the pieces in the text without colors
    moves: list[int] = []  # how much later each piece is in the text
    place = end = 0
    for start, stop in [*colors, (len(text), len(text))]:
        pieces.append(text[end:start])
        places.append(place)
        moves.append(end - place)
        place += start - end
        end = stop
    for start, stop in _find(b"".join(pieces), to_share=to_share):
        yield start + moves[bisect(places, start) - 1], stop + moves[bisect(places, stop - 1) - 1]


def _search(text: bytes, patterns: Sequence[_Pattern]) -> Iterator[tuple[int, int]]:
    for parts, pattern in patterns:
        for part in parts:
            if part in text:
                yield from (match.span(match.lastindex or 0) for match in _compile(pattern).finditer(text))
                break


@cache  # on first use, because compiling all patterns takes longer than most imports
def _compile(pattern: bytes) -> re.Pattern[bytes]:
    return re.compile(pattern)


def _is_escaped(text: bytes, place: int) -> bool:
    r"""Return whether the character at a place belongs to an escape, such as the n of `\n`."""
    before = text[max(0, place - 100) : place]
    return (len(before) - len(before.rstrip(b"\\"))) % 2 == 1


def _merge(spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    first, last = spans[0]
    for start, end in spans[1:]:
        if start > last:
            yield first, last
            first = start
        last = max(last, end)
    yield first, last


def _possible_tokens(text: bytes) -> set[_Pattern]:
    """Return the patterns of tokens that long words of a text contain a part of."""
    patterns: set[_Pattern] = set()
    for word in {*_LONG_WORD.findall(text)}:
        patterns.update((_tokens_in_cached if len(word) <= _MAX_CACHED_WORD else _tokens_in)(word))
    return patterns


def _tokens_in(word: bytes) -> Sequence[_Pattern]:
    return [(parts, pattern) for parts, pattern in _tokens() if any(part in word for part in parts)]


# Ids and names are in many messages.
_tokens_in_cached = lru_cache(1024)(_tokens_in)


@cache
def _tokens() -> list[_Pattern]:
    """Return the patterns of tokens. They are read when they are needed."""
    rows = tomllib.loads(Path(__file__).with_name("tokens.toml").read_text("utf-8"))["token"]
    return [token for row in rows for token in _tokens_of(row)]


def _tokens_of(row: dict[str, Any]) -> list[_Pattern]:
    if "pattern" in row:
        return [_pattern(row["parts"], row["pattern"])]
    characters = row.get("characters", "[A-Za-z0-9]")
    return [
        _pattern(
            [prefix], f"{_word(re.escape(prefix), 'A-Za-z0-9')}{characters}{{{_min_length(prefix, row['length'])},}}"
        )
        for prefix in row["prefixes"]
    ]


def _min_length(prefix: str, length: int) -> int:
    """Return the least number of characters after a prefix. A word may begin with a prefix of letters and digits."""
    return length if prefix.isalnum() else min(length, _MIN_TOKEN)
