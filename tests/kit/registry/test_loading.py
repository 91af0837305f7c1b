"""The registry is fetched only when its copy on the disk is too old, and the copy helps when there is no network."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from acp_kit.registry import RegistryUnavailable, load_registry, resolve

URL = "https://example.com/registry.json"


def document(*ids: str) -> bytes:
    return json.dumps({"version": "1.0.0", "agents": [{"id": each} for each in ids]}).encode()


def giving(*answers: bytes | Exception) -> Callable[[str], bytes]:
    rest = [*answers]

    def fetch(url: str) -> bytes:
        answer = rest.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    return fetch


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "acp-bindings"


def copy_in(cache: Path) -> Path:
    [path] = cache.iterdir()
    return path


def changed_at(path: Path, seconds: float) -> None:
    os.utime(path, (time.time() + seconds,) * 2)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: changed_at(path, -24 * 3600 - 1),
        lambda path: changed_at(path, 3600),
        lambda path: path.write_bytes(document("a")[:-1]),
    ],
    ids=["a day old", "of the future", "damaged"],
)
def test_a_copy_is_used_for_a_day_and_never_a_damaged_one(cache: Path, spoil: Callable[[Path], None]) -> None:
    for fetch in (giving(document("a")), giving()):
        assert load_registry(URL, fetch=fetch).ids == ("a",)
    spoil(copy_in(cache))
    for fetch in (giving(document("b")), giving()):
        assert load_registry(URL, fetch=fetch).ids == ("b",)


def test_a_maximum_age_of_zero_fetches_each_time() -> None:
    fetch = giving(document("a"), document("b"))
    assert [load_registry(URL, fetch=fetch, max_age=0).ids for _ in range(2)] == [("a",), ("b",)]


@pytest.mark.parametrize("answer", [OSError("no network"), ValueError("too long"), b"not JSON", b"{}"])
def test_an_old_copy_is_used_with_a_warning_if_the_registry_cannot_be_had(
    answer: bytes | Exception, caplog: pytest.LogCaptureFixture
) -> None:
    load_registry(URL, fetch=giving(document("a")))
    with caplog.at_level(logging.WARNING):
        assert load_registry(URL, fetch=giving(answer), max_age=0).ids == ("a",)
    assert "The registry can't be fetched, so a copy of 20" in caplog.text
    assert load_registry(URL, fetch=giving(document("b")), max_age=0).ids == ("b",)


def test_without_a_copy_the_error_says_what_failed() -> None:
    with pytest.raises(RegistryUnavailable, match=rf"The registry at {URL} can't be fetched: no network"):
        load_registry(URL, fetch=giving(OSError("no network")))
    with pytest.raises(RegistryUnavailable, match="can't be fetched: The document is no registry of agents: agents"):
        load_registry(URL, fetch=giving(b"{}"))


def test_what_a_server_says_is_bounded_and_writes_no_escapes_into_errors_and_logs(
    caplog: pytest.LogCaptureFixture,
) -> None:
    error = OSError("\x1b[2J" + 10_000 * "x")
    with pytest.raises(RegistryUnavailable) as raised:
        load_registry(URL, fetch=giving(error))
    load_registry(URL, fetch=giving(document("a")))
    with caplog.at_level(logging.WARNING):
        load_registry(URL, fetch=giving(error), max_age=0)
        load_registry(fetch=giving(error))
    for text in (str(raised.value), *caplog.messages):
        assert "\\x1b[2Jxxx" in text
        assert len(text) < 500


def test_each_address_has_a_copy_of_its_own() -> None:
    load_registry(URL, fetch=giving(document("a")))
    assert load_registry("https://example.com/other.json", fetch=giving(document("b"))).ids == ("b",)
    assert load_registry(URL, fetch=giving()).ids == ("a",)


def test_a_folder_that_cannot_be_written_is_no_error(cache: Path, caplog: pytest.LogCaptureFixture) -> None:
    cache.write_text("a file")
    with caplog.at_level(logging.WARNING):
        assert load_registry(URL, fetch=giving(document("a"))).ids == ("a",)
    assert "The registry can't be kept on the disk" in caplog.text


def test_a_copy_is_replaced_at_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load_registry(URL, fetch=giving(document("a")))

    def fail(source: str, target: Path) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    load_registry(URL, fetch=giving(document("b")), max_age=0)
    assert load_registry(URL, fetch=giving()).ids == ("a",)
    assert len([*cache.iterdir()]) == 1


def test_an_event_loop_is_not_blocked() -> None:
    async def calls() -> None:
        with pytest.raises(RuntimeError, match=r"await asyncio\.to_thread\(resolve, agent_id\)"):
            resolve("agent")
        with pytest.raises(RuntimeError, match=r"await asyncio\.to_thread\(load_registry\)"):
            load_registry(URL, fetch=giving())
        registry = await asyncio.to_thread(load_registry, URL, fetch=giving(document("a")))
        assert registry.ids == ("a",)

    asyncio.run(calls())


@pytest.mark.parametrize("answer", [OSError("no network"), b"{}"])
def test_without_a_copy_of_upstream_s_registry_the_snapshot_is_used_with_a_warning(
    answer: bytes | Exception, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        registry = load_registry(fetch=giving(answer))
    assert f"the snapshot of {registry.snapshot_date} is used" in caplog.text
    with pytest.raises(RegistryUnavailable, match=r"the snapshot of .* doesn't have 'other'"):
        registry.resolve("other")
    assert load_registry(fetch=giving(document("a"))).ids == ("a",)


def test_an_agent_of_the_snapshot_is_resolved_without_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("https_proxy", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://localhost:1")  # where no server is
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    launch = resolve("claude-acp")
    assert (launch.command, launch.args) == (
        "npx",
        ("--yes", f"@agentclientprotocol/claude-agent-acp@{launch.version}"),
    )
