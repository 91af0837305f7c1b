"""An id becomes a command. What an entry says can't become an option of npx or uvx, a file, or a shell's command."""

from __future__ import annotations

import json
import shutil
import sys
from functools import partial
from typing import Any

import pytest

from acp_kit.registry import BinaryOnly, InvalidEntry, InvalidRegistry, Registry, UnknownAgent

ARCHIVE = {"archive": "https://example.com/a.tar.gz", "cmd": "./a", "args": ["acp"], "env": {"VT_ACP_ENABLED": "1"}}


def entry(agent_id: str = "agent", **distribution: Any) -> dict[str, Any]:
    return {"id": agent_id, "name": "Agent", "version": "1.2.3", "description": "", "distribution": distribution}


def registry(*entries: Any) -> Registry:
    return Registry.parse(json.dumps({"version": "1.0.0", "agents": entries}))


def command(**distribution: Any) -> list[str]:
    launch = registry(entry(**distribution)).resolve("agent")
    return [launch.command, *launch.args]


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    programs: list[str] = []

    def which(command: str) -> str | None:
        return f"/bin/{command}" if command in programs else None

    monkeypatch.setattr(shutil, "which", which)
    return programs


@pytest.mark.parametrize(
    ("package", "expected"),
    [
        ({"package": "@scope/agent@1.2.3"}, ["npx", "--yes", "@scope/agent@1.2.3"]),
        ({"package": "agent", "args": ["--acp"]}, ["npx", "--yes", "agent@latest", "--acp"]),
        ({"package": "@scope/agent"}, ["npx", "--yes", "@scope/agent@latest"]),
        ({"package": "agent@1.2.3-rc.1+b"}, ["npx", "--yes", "agent@1.2.3-rc.1+b"]),
    ],
)
def test_an_npm_package_is_run_with_npx(package: dict[str, Any], expected: list[str]) -> None:
    assert command(npx=package) == expected


@pytest.mark.parametrize(
    ("package", "expected"),
    [
        ({"package": "agent==1.2.3", "args": ["-x"]}, ["uvx", "agent==1.2.3", "-x"]),
        ({"package": "agent[acp]==1.2.3"}, ["uvx", "agent[acp]==1.2.3"]),
        ({"package": "python-agent==1.2.3"}, ["uvx", "python-agent==1.2.3"]),
        ({"package": "agent@1.2.3"}, ["uvx", "agent@1.2.3"]),
    ],
)
def test_a_package_of_pypi_is_run_with_uvx(package: dict[str, Any], expected: list[str]) -> None:
    assert command(uvx=package) == expected


def test_what_is_installed_is_chosen(installed: list[str]) -> None:
    both = {"npx": {"package": "agent"}, "uvx": {"package": "agent"}}
    assert command(**both)[0] == "npx"
    installed.append("uvx")
    assert command(**both)[0] == "uvx"


def test_version_and_variables_come_with_the_command() -> None:
    env = {"AUGMENT_DISABLE_AUTO_UPDATE": "1", "FAST_AGENT_MODEL": "small"}
    launch = registry(entry(npx={"package": "agent", "env": env})).resolve("agent")
    assert (launch.version, launch.env) == ("1.2.3", env)


@pytest.mark.parametrize(
    "package",
    [
        "",
        "-g",
        "--registry=https://evil.example",
        "-c",
        "--call=sh",
        " agent",
        "agent ",
        "agent\n",
        "agent --call",
        "../agent",
        "./agent",
        "/agent",
        "~/agent",
        "C:\\agent",
        "agent.tgz",
        "agent@1.tgz",
        "AGENT.TAR.GZ",
        "a.tar",
        "user/repository",
        "git+https://evil.example/a",
        "https://evil.example/a.tgz",
        "github:user/repository",
        "file:agent",
        "agent@npm:evil",
        "agent@file:evil",
        "agent@https://evil.example",
        "agent@../evil",
        "agent@",
        "@scope",
        "@scope/",
        "@/agent",
        "@-s/agent",
        "@scope/-agent",
        "@scope/../agent",
        "a;b",
        "$(a)",
        "`a`",
        "agent@>=1",
        "agent@^1.0.0",
        "agent@*",
        "agent@-1",
        "\u0430gent",
        "agent\x00",
        1,
        None,
        ["agent"],
    ],
)
def test_a_package_that_npx_would_take_for_something_else_is_refused(package: Any) -> None:
    with pytest.raises(InvalidEntry, match=r"'agent' can't be used: distribution\.npx\.package"):
        command(npx={"package": package})


@pytest.mark.parametrize(
    "package",
    [
        "",
        "-p",
        "--index-url=https://evil.example",
        "--with=evil",
        "agent --with evil",
        "agent\n",
        "agent[",
        "a]b",
        "./agent",
        "../agent",
        "/agent",
        "agent.whl",
        "agent.tar.gz",
        "agent.py",
        "agent.ZIP",
        "agent[../evil]",
        "agent @ https://evil.example",
        "git+https://evil.example/a",
        "agent@git+https://evil.example",
        "agent; x",
        "python",
        "Python3",
        "python@3.12",
        "python>=3",
        "cpython3.12",
        "pypy",
        "python3.13t",
        "python[a]",
        "agent==",
        "agent==-1",
        "agent==1,<2",
        "agent==1 --with=evil",
        "agent@file:evil",
        "agent[a]-x",
        1,
    ],
)
def test_a_package_that_uvx_would_take_for_something_else_is_refused(package: Any) -> None:
    with pytest.raises(InvalidEntry, match=r"'agent' can't be used: distribution\.uvx\.package"):
        command(uvx={"package": package})


@pytest.mark.parametrize("kind", ["npx", "uvx"])
@pytest.mark.parametrize(
    ("field", "value"),
    [
        *[("cmd", value) for value in ("run", "sh", "python", "-c", "/bin/sh", 1)],
        *[("args", value) for value in ("--acp", ["a\x00b"], ["a\nb"], ["\x1b[2J"], [1], {"a": 1})],
        *[
            ("env", value)
            for value in ({"A=B": ""}, {"": ""}, {"1A": ""}, {"A\x00": ""}, {"A": "\x00"}, {"A": 1}, ["A"])
        ],
    ],
)
def test_an_unusable_command_argument_or_variable_is_refused(kind: str, field: str, value: Any) -> None:
    with pytest.raises(InvalidEntry, match=rf"distribution\.{kind}\.{field}"):
        command(**{kind: {"package": "agent", field: value}})


def test_arguments_stand_behind_the_package_where_they_are_the_agent_s() -> None:
    args = ["--registry=https://evil.example", "-c", "sh", "$(id)", "; id"]
    assert command(npx={"package": "agent", "args": args}) == ["npx", "--yes", "agent@latest", *args]
    assert command(uvx={"package": "agent", "args": args}) == ["uvx", "agent", *args]


@pytest.mark.parametrize("arg", ['"', "%PATH%", "a&calc", "a|b", "<a", ">a", "^", "!a!"])
def test_on_windows_an_argument_that_cmd_exe_interprets_is_refused(arg: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(InvalidEntry, match="can't be passed to npx on Windows"):
        command(npx={"package": "agent", "args": [arg]})


@pytest.mark.parametrize(
    "name",
    [
        "PATH",
        "Path",
        "LD_PRELOAD",
        "DYLD_INSERT_LIBRARIES",
        "PYTHONPATH",
        "NODE_OPTIONS",
        "GLIBC_TUNABLES",
        "SHELLOPTS",
        "BROWSER",
        "EDITOR",
        "HOME",
        "XDG_CONFIG_HOME",
        "npm_config_registry",
        "UV_INDEX_URL",
        "OPENAI_BASE_URL",
        "ANTHROPIC_BASE_URL",
        "AWS_ENDPOINT_URL",
        "GOOGLE_GEMINI_BASE_URL",
        "https_proxy",
        "AGENT_MODE",
        "fast_agent_model",
    ],
)
def test_an_unknown_variable_is_refused_unless_the_user_allows_it(name: str) -> None:
    env = {"FAST_AGENT_MODEL": "small", name: "secret value"}
    parsed = registry(entry(uvx={"package": "agent", "env": env}, binary={"linux-x86_64": {**ARCHIVE, "env": env}}))
    for call in (parsed.resolve, partial(parsed.find_binary, platform="linux-x86_64")):
        for allow in ([], ["OTHER"]):
            with pytest.raises(InvalidEntry, match=f"'agent' can't be used: it sets .* {name}") as raised:
                call("agent", allow_env=allow)
            assert f"with allow_env=['{name}']." in str(raised.value)
            assert "secret" not in str(raised.value)
        assert call("agent", allow_env=[name]).env == env


def test_an_unknown_id_is_an_error_that_names_similar_ones() -> None:
    parsed = registry(*(entry(id_) for id_ in ("claude-acp", "codex-acp", "gemini")))
    with pytest.raises(UnknownAgent, match=r"no agent with the id 'claude'. Did you mean 'claude-acp'\?"):
        parsed.resolve("claude")
    with pytest.raises(UnknownAgent, match="Did you mean 'gemini'"):
        parsed.resolve("Gemni")
    with pytest.raises(UnknownAgent, match=r"id 'zzz'\.$"):
        parsed.resolve("zzz")


def test_an_entry_that_cannot_be_used_does_not_affect_the_others() -> None:
    parsed = registry({"id": "broken"}, {"id": 7}, {}, None, "text", entry(npx={"package": "agent"}))
    assert parsed.ids == ("broken", "agent")
    assert parsed.resolve("agent").command == "npx"
    with pytest.raises(InvalidEntry, match="'broken' can't be used: version: Field required"):
        parsed.resolve("broken")


def test_two_entries_with_one_id_are_refused() -> None:
    with pytest.raises(InvalidEntry, match="there are 2 entries with this id"):
        registry(entry(npx={"package": "a"}), entry(npx={"package": "b"})).resolve("agent")


def test_keys_that_upstream_adds_are_ignored() -> None:
    package = {"package": "agent", "new": 1}
    added = {**entry(npx=package, other={}), "preview": {"version": "2.0.0"}, "license_url": "https://example.com"}
    assert (
        Registry.parse(json.dumps({"version": "2.0.0", "agents": [added], "x": 1})).resolve("agent").version == "1.2.3"
    )


@pytest.mark.parametrize(
    "document", ["", "[]", "{}", '{"agents": {}}', '{"agents": null}', "nul", '{"agents": ' + "[" * 100_000, b"\xff"]
)
def test_a_document_that_is_no_registry_is_refused(document: str | bytes) -> None:
    with pytest.raises(InvalidRegistry, match="The document is not a registry of agents"):
        Registry.parse(document)


def test_an_agent_that_is_only_an_archive_is_refused_with_advice() -> None:
    with pytest.raises(BinaryOnly, match=r"find_binary\('agent'\)"):
        command(binary={"linux-x86_64": ARCHIVE})


def test_an_archive_is_found_by_platform() -> None:
    digest = "0" * 64
    binary = {"linux-x86_64": ARCHIVE, "darwin-aarch64": {**ARCHIVE, "sha256": digest, "cmd": "bin/a"}}
    parsed = registry(entry(binary=binary))
    mac = parsed.find_binary("agent", "darwin-aarch64")
    assert (mac.archive, mac.sha256, mac.command) == (ARCHIVE["archive"], digest, "bin/a")
    linux = parsed.find_binary("agent", "linux-x86_64")
    assert (linux.sha256, linux.args, linux.env, linux.version) == (None, ("acp",), {"VT_ACP_ENABLED": "1"}, "1.2.3")
    with pytest.raises(InvalidEntry, match="no archive for windows-x86_64, only for linux-x86_64, darwin-aarch64"):
        parsed.find_binary("agent", "windows-x86_64")


def test_an_archive_is_found_for_this_platform(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.system", lambda: "Darwin")
    monkeypatch.setattr("platform.machine", lambda: "arm64")
    assert registry(entry(binary={"darwin-aarch64": ARCHIVE})).find_binary("agent").command == "./a"


@pytest.mark.parametrize(
    "wrong",
    [
        *({"archive": value} for value in ("http://example.com/a", "file:///a", "https://", "https://a b", "-o", 1)),
        *({"cmd": value} for value in ("", "/bin/sh", "../a", "a/../../b", "..\\a", "C:\\a", "C:a", "\\a", "a\x00", 1)),
        *({"sha256": value} for value in ("", "0" * 63, "g" * 64, 1)),
    ],
)
def test_an_archive_that_is_not_safe_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidEntry, match=rf"distribution\.binary\.linux-x86_64\.{next(iter(wrong))}"):
        registry(entry(binary={"linux-x86_64": {**ARCHIVE, **wrong}})).find_binary("agent", "linux-x86_64")


TEXT = "\x1b[2J" + 10_000 * "x"


@pytest.mark.parametrize(
    "distribution",
    [{"npx": {"package": "agent", "env": {TEXT: 1}}}, {"npx": {"package": TEXT}}, {"binary": {TEXT: ARCHIVE}}],
    ids=["variable", "package", "platform"],
)
def test_what_a_registry_says_is_bounded_and_writes_no_escapes_into_an_error(distribution: dict[str, Any]) -> None:
    with pytest.raises(InvalidEntry) as raised:
        command(**distribution)
    assert "\x1b" not in str(raised.value)
    assert len(str(raised.value)) < 600


def test_an_id_that_upstream_does_not_allow_is_ignored() -> None:
    parsed = registry(*(entry(value) for value in (TEXT, "x" * 101, "Agent", "agent")))
    assert parsed.ids == ("agent",)
    with pytest.raises(UnknownAgent, match=r"^The registry has no agent with the id '\\x1b\[2Jx{100,300}'\.$"):
        parsed.resolve(TEXT)
