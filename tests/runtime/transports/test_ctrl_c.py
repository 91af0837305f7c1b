"""Rules 23 and 24: while an agent is ended, Ctrl-C hurries this; otherwise it works as with plain asyncio."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from acp_runtime.transports.signals import interrupts_between_callbacks, shutdown_signals
from tests.runtime.transports.processes import script
from tests.support.event_loop import let_others_run
from tests.support.programs import run_program
from tests.support.scale import count

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="sends signals to itself"),
]

# In each run, Ctrl-C is pressed twice when a certain number of places was reached while the block is left. A place is a
# function and its caller. SIGALRM ends a run that hangs.
PRESSED_TWICE = """
import asyncio, gc, json, os, signal, sys
from acp_bindings.v1 import spawn_agent
from tests.support.runtime.peer import PlainClient

def press_at(number):
    places = set()

    def called(frame, event, _):
        place = frame.f_code, frame.f_back and frame.f_back.f_code
        ours = type(signal.getsignal(signal.SIGINT)).__module__ == "acp_runtime.transports.signals"
        if event == "call" and ours and place not in places:
            places.add(place)
            if len(places) == number:
                sys.setprofile(None)
                pressed.append(frame.f_code.co_qualname)
                signal.raise_signal(signal.SIGINT)
                signal.raise_signal(signal.SIGINT)

    sys.setprofile(called)

async def main(number):
    try:
        async with spawn_agent(PlainClient, sys.executable, "-S", "-c", "open(0).read()"):
            press_at(number)
    finally:
        sys.setprofile(None)

signal.signal(signal.SIGINT, signal.default_int_handler)
pressed, interrupted, runs = [], 0, 0
asyncio.run(main(-1))  # imports and builds what is needed once
number, step = map(int, sys.argv[1:])
while len(pressed) == runs:
    signal.alarm(20)
    try:
        asyncio.run(main(number))
    except KeyboardInterrupt:
        interrupted += 1
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler, pressed[-1]
    gc.collect()
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        pass
    else:
        raise AssertionError(f"A process is left: {pressed[-1]}")
    number, runs = number + step, runs + 1
assert interrupted == len(pressed), (interrupted, pressed)
print(json.dumps(pressed))
"""


@pytest.mark.test_all
def test_rule_23_ctrl_c_pressed_twice_while_closing_ends_the_client_at_any_place() -> None:
    code, out, err = run_program("-c", PRESSED_TWICE, "2", str(count(5, 1)))
    assert code == 0, err.decode()
    assert len(json.loads(out)) > 10


HANDLERS = """
import asyncio, signal, sys
from acp_bindings.v1 import spawn_agent
from tests.support.runtime.peer import PlainClient

def own(*_):
    print("called")

async def main():
    loop = asyncio.get_running_loop()
    before = signal.getsignal(signal.SIGINT)
    async with spawn_agent(PlainClient, sys.executable, "-S", "-c", "open(0).read()"):
        print(signal.getsignal(signal.SIGINT) is before)
        signal.raise_signal(signal.SIGINT)
        loop.call_soon(signal.raise_signal, signal.SIGINT)
    print(signal.getsignal(signal.SIGINT) is before)

signal.signal(signal.SIGINT, own)
asyncio.run(main())
"""


def test_rule_24_the_applications_own_handler_gets_ctrl_c_and_is_restored() -> None:
    code, out, err = run_program("-c", HANDLERS)
    assert (code, out) == (0, b"True\ncalled\ncalled\nTrue\n"), err.decode()


ONCE = """
import asyncio, signal, sys
from acp_bindings.v1 import spawn_agent
from acp_runtime import Options
from tests.support.runtime.peer import PlainClient

async def main():
    code = "import signal; signal.pause()"
    options = Options(exit_deadline=3600)
    try:
        async with spawn_agent(PlainClient, sys.executable, "-S", "-c", code, options=options) as agent:
            asyncio.get_running_loop().call_later(0.2, signal.raise_signal, signal.SIGINT)
    except asyncio.CancelledError:
        print(agent.process.returncode, flush=True)
        raise

signal.signal(signal.SIGINT, signal.default_int_handler)
asyncio.run(main())
"""


def test_rule_23_one_ctrl_c_while_closing_shortens_it_and_ends_the_program() -> None:
    code, out, err = run_program("-c", ONCE)
    assert (code, out) == (-signal.SIGINT, b"-15\n"), err.decode()
    assert b"KeyboardInterrupt" in err


@contextmanager
def earlier_handler() -> Generator[list[int]]:
    """Handle SIGTERM, and put the handlers back after the block. Yield the list of the signals that came."""
    called: list[int] = []
    of_ctrl_c = signal.getsignal(signal.SIGINT)
    before = signal.signal(signal.SIGTERM, lambda number, _: called.append(number))
    try:
        yield called
    finally:
        signal.signal(signal.SIGTERM, before)
        signal.signal(signal.SIGINT, of_ctrl_c)


@pytest.mark.parametrize("nested", [False, True])
async def test_rule_23_the_handler_of_ctrl_c_is_put_back_after_closing(nested: bool) -> None:
    before = signal.getsignal(signal.SIGINT)
    with interrupts_between_callbacks():
        assert signal.getsignal(signal.SIGINT) is not before
        if nested:
            with interrupts_between_callbacks():
                pass
            assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before


async def test_rule_23_a_handler_that_the_application_sets_meanwhile_is_kept() -> None:
    before = signal.getsignal(signal.SIGINT)
    try:
        with interrupts_between_callbacks():
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


async def test_rule_23_an_ignored_ctrl_c_stays_ignored_while_closing() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with interrupts_between_callbacks():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(("bursts", "earlier"), [((1, 1, 1), 0), ((1, 2, 2), 0), ((3,), 1)])
async def test_rule_24_the_third_signal_to_a_blocked_loop_goes_to_the_earlier_handler(
    bursts: tuple[int, ...], earlier: int
) -> None:
    with earlier_handler() as called:
        delivered: list[int] = []
        with shutdown_signals(delivered.append):
            for burst in bursts:
                for _ in range(burst):
                    signal.raise_signal(signal.SIGTERM)
                await let_others_run(2)
    assert len(called) == earlier
    assert len(delivered) == sum(bursts) - earlier


async def test_rule_24_a_signal_to_a_forked_child_goes_to_the_earlier_handler(monkeypatch: pytest.MonkeyPatch) -> None:
    delivered: list[int] = []
    with earlier_handler() as called, shutdown_signals(delivered.append):
        monkeypatch.setattr(os, "getpid", lambda: 0)
        signal.raise_signal(signal.SIGTERM)
        await let_others_run(2)
    assert (len(called), delivered) == (1, [])


def test_rule_24_a_signal_to_a_stopped_event_loop_goes_to_the_earlier_handler() -> None:
    async def serve() -> None:
        stack.enter_context(shutdown_signals(delivered.append))

    delivered: list[int] = []
    with earlier_handler() as called, ExitStack() as stack, asyncio.Runner() as runner:
        runner.run(serve())
        signal.raise_signal(signal.SIGTERM)
        runner.run(let_others_run(2))
    assert (len(called), delivered) == (1, [])


def test_rule_23_an_interrupt_leaves_the_event_loop_after_the_earlier_handler_is_back() -> None:
    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    async def serve() -> None:
        with shutdown_signals(interrupt):
            signal.raise_signal(signal.SIGTERM)
            await let_others_run(10)

    before = signal.getsignal(signal.SIGTERM)
    with asyncio.Runner() as runner:
        with pytest.raises(KeyboardInterrupt):
            runner.run(serve())
        assert signal.getsignal(signal.SIGTERM) is before


async def test_rule_24_a_handler_that_was_not_set_from_python_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    with earlier_handler() as called:
        with monkeypatch.context() as patch:
            patch.setattr(signal, "getsignal", lambda _: None)
            with shutdown_signals(print):
                signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGTERM)
    assert len(called) == 2


async def test_rule_23_the_last_of_two_blocks_puts_back_the_handler_of_ctrl_c() -> None:
    before = signal.getsignal(signal.SIGINT)
    try:
        with ExitStack() as last:
            with interrupts_between_callbacks():
                last.enter_context(interrupts_between_callbacks())
            assert signal.getsignal(signal.SIGINT) is not before
        assert signal.getsignal(signal.SIGINT) is before
    finally:
        signal.signal(signal.SIGINT, before)


async def test_rule_23_ctrl_c_reaches_its_handler_only_between_callbacks_while_an_agent_ends() -> None:
    handlers: list[object] = []
    before = signal.getsignal(signal.SIGINT)
    async with script("open(0).read()"):
        asyncio.get_running_loop().call_soon(lambda: handlers.append(signal.getsignal(signal.SIGINT)))
    assert signal.getsignal(signal.SIGINT) is before
    (handler,) = handlers
    assert handler is not before


async def test_rule_24_a_block_that_ends_in_another_thread_raises_nothing() -> None:
    with earlier_handler(), ExitStack() as block:
        block.enter_context(shutdown_signals(print))
        await asyncio.to_thread(block.close)


@pytest.mark.parametrize("handle", [interrupts_between_callbacks, lambda: shutdown_signals(print)])
async def test_rule_23_another_thread_leaves_the_handler_of_ctrl_c(handle: Any) -> None:
    async def close() -> None:
        with handle():
            assert signal.getsignal(signal.SIGINT) is before

    before = signal.getsignal(signal.SIGINT)
    await asyncio.to_thread(asyncio.run, close())
