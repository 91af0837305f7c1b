"""When an extension method may be called: before `initialize`, and with a capability in `_meta`."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from acp_runtime import CapabilityError, ExtNotification, GuardError, Model, NotInitialized, handles
from tests.runtime.connection.extensions import ECHO, LOG, PING, Ours, VendorAgent
from tests.support.recording_factory import RecordingFactory
from tests.support.runtime.peer import Link, PlainAgent, calling, serving


async def test_rule_25_an_extension_without_capability_may_come_before_initialize(link: Link) -> None:
    async with serving(link, factory := RecordingFactory(VendorAgent), ready=False) as peer:
        assert (await peer.call("_acme/ours", {"text": "a"}))["result"]["text"] == "a"
        await peer.send({"method": "_acme/note_ours", "params": {"text": "a"}})
    assert factory.handler.noted == [Ours(text="a")]
    async with calling(link, ready=False) as (agent, peer):
        assert agent.supports(ECHO["ours"])
        call = asyncio.create_task(agent.call(ECHO["ours"], Ours(text="a")))
        await peer.answer(result={"text": "b"})
        assert await call == Ours(text="b")


async def test_rule_25_an_extension_that_needs_a_capability_has_to_wait_for_initialize(link: Link) -> None:
    async with calling(link, ready=False) as (agent, peer):
        assert not agent.supports(PING)
        with pytest.raises(NotInitialized, match="_acme/ping"):
            await agent.call(PING, Ours(text="a"))
        with pytest.raises(NotInitialized, match="_acme/log"):
            await agent.notify(LOG, Ours(text="a"))
        assert await peer.until_quiet() == []


@pytest.mark.parametrize("advertised", [True, {}, {"version": 1}, ["text"]], ids=repr)
async def test_rule_27_a_capability_in_meta_unlocks_an_extension(link: Link, advertised: Any) -> None:
    async with calling(link, capabilities={"_meta": {"acme.dev": {"ping": advertised}}}) as (agent, peer):
        assert agent.supports(PING)
        assert agent.supports(LOG)
        call = asyncio.create_task(agent.call(PING, Ours(text="a")))
        await peer.answer(result={"text": "b"})
        assert await call == Ours(text="b")
        await agent.notify(LOG, Ours(text="c"))
        assert (await peer.receive())["params"] == {"text": "c"}


@pytest.mark.parametrize(
    "meta", [None, {}, {"acme": {"dev": {"ping": True}}}, {"acme.dev": {}}, {"acme.dev": {"ping": False}}], ids=repr
)
async def test_rule_27_an_extension_whose_capability_is_missing_raises(link: Link, meta: Any) -> None:
    async with calling(link, capabilities={"_meta": meta}) as (agent, peer):
        assert not agent.supports(PING)
        assert not agent.supports(LOG)
        for send in (agent.call(PING, Ours(text="a")), agent.notify(LOG, Ours(text="a"))):
            with pytest.raises(CapabilityError) as raised:
                await send
            assert raised.value.capability == 'agentCapabilities._meta["acme.dev"].ping'
            assert isinstance(raised.value, GuardError)
        assert await peer.until_quiet() == []


async def test_rule_27_a_handler_answers_whether_or_not_it_advertised_the_capability(link: Link) -> None:
    class Quiet(PlainAgent):
        @handles(PING)
        async def ping(self, params: Ours) -> Ours:
            return params

    async with serving(link, Quiet, ready=False) as peer:
        assert (await peer.call("_acme/ping", {"text": "a"}))["result"] == {"text": "a"}


async def test_with_guards_off_a_missing_capability_does_not_matter(link: Link) -> None:
    async with calling(link, guards="off") as (agent, peer):
        assert not agent.supports(PING)
        call = asyncio.create_task(agent.call(PING, Ours(text="a")))
        await peer.answer(result={"text": "b"})
        assert await call == Ours(text="b")


async def test_rule_27_an_extension_without_params_needs_its_capability_too(link: Link) -> None:
    class Nothing(Model):
        pass

    method = ExtNotification("_acme/nothing", Nothing, capability=LOG.capability)
    async with calling(link) as (agent, peer):
        with pytest.raises(CapabilityError):
            await agent.notify(method, Nothing())
        assert await peer.until_quiet() == []
