"""Rule 23: a second Ctrl-C ends the client, whichever of the event loop's own calls it interrupts."""

from __future__ import annotations

import json
import signal
import sys

import pytest

from tests.support.forked import ran
from tests.support.scale import count

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="sends signals to itself"),
    pytest.mark.usefixtures("fork_server"),
]

# In each run, the second Ctrl-C comes when a certain number of places was reached since the first one. A place is a
# function and its caller. Because of the module's name, the signal counts as coming from that place. SIGALRM ends a run
# that hangs.
PRESSED_TWICE = """
import asyncio, gc, json, os, signal, sys
from acp_bindings.v1 import spawn_agent
from tests.support.runtime.peer import PlainClient

__name__ = "signal"

def press_at(number):
    places = set()

    def called(frame, event, _):
        place = frame.f_code, frame.f_back.f_code
        if event == "call" and place not in places:
            places.add(place)
            if len(places) == number:
                sys.setprofile(None)
                pressed.append(" ".join(code.co_qualname for code in place))
                signal.raise_signal(signal.SIGINT)

    sys.setprofile(called)
    signal.raise_signal(signal.SIGINT)

async def main(number):
    try:
        async with spawn_agent(PlainClient, sys.executable, "-S", "-c", "open(0).read()"):
            asyncio.get_running_loop().call_soon(press_at, number)
            await asyncio.Event().wait()
    finally:
        sys.setprofile(None)

signal.signal(signal.SIGINT, signal.default_int_handler)
pressed, runs = [], 0
number, step = map(int, sys.argv[1:])
while len(pressed) == runs:
    signal.alarm(20)
    try:
        asyncio.run(main(number))
    except KeyboardInterrupt:
        pass
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler, pressed[-1]
    gc.collect()
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        pass
    else:
        raise AssertionError(f"A process is left: {pressed[-1]}")
    number, runs = number + step, runs + 1
print(json.dumps(pressed))
"""


def test_rule_23_a_second_ctrl_c_ends_the_client_at_any_place() -> None:
    code, out, err = ran("-c", PRESSED_TWICE, "2", str(count(5, 1)))
    assert code == 0, err.decode()
    assert len(json.loads(out)) > 20


APPLICATION = """
import asyncio, signal, sys, time
from acp_bindings.v1 import spawn_agent
from tests.support.runtime.peer import PlainClient

def block():
    signal.raise_signal(signal.SIGINT)
    signal.raise_signal(signal.SIGINT)
    print("not interrupted")

async def main():
    async with spawn_agent(PlainClient, sys.executable, "-S", "-c", "open(0).read()"):
        block()

signal.signal(signal.SIGINT, {handler})
asyncio.run(main())
"""


def test_rule_23_a_second_ctrl_c_interrupts_code_that_blocks_the_event_loop() -> None:
    code, out, _ = ran("-c", APPLICATION.format(handler="signal.default_int_handler"))
    assert (code, out) == (-signal.SIGINT, b"")


def test_rule_23_a_handler_of_the_application_gets_the_signal_at_once() -> None:
    code, out, err = ran("-c", APPLICATION.format(handler="lambda *_: print('called')"))
    assert (code, out) == (0, b"called\ncalled\nnot interrupted\n"), err.decode()


# What `interrupts.py` relies on inside of asyncio.
RUNNER = """
import asyncio, signal

async def main():
    handler = signal.getsignal(signal.SIGINT)
    print(handler.func.__module__, handler.keywords["main_task"] is asyncio.current_task())

signal.signal(signal.SIGINT, signal.default_int_handler)
asyncio.run(main())
"""


def test_asyncios_handler_can_be_recognised_and_names_the_main_task() -> None:
    assert ran("-c", RUNNER) == (0, b"asyncio.runners True\n", b"")
