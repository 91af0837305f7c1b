"""A headless Chromium, driven by the Chrome DevTools Protocol (https://chromedevtools.github.io/devtools-protocol/)."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

from tests.support.skipping import skip_or_fail

_SECONDS = 60


class Browser:
    """One tab of the browser."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._last_id = 0
        self._events: list[dict[str, Any]] = []
        self._session: str | None = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")

    def call(self, method: str, **params: Any) -> Any:
        """Call a method of the protocol, and return its result."""
        self._last_id += 1
        request = {"id": self._last_id, "method": method, "params": params}
        self._connection.send(json.dumps(request | ({"sessionId": self._session} if self._session else {})))
        while True:
            message = json.loads(self._connection.recv(_SECONDS))
            if message.get("id") == self._last_id:
                assert "error" not in message, message["error"]
                return message["result"]
            self._events.append(message)

    def show(self, width: int, height: int = 800, *, scheme: str = "light") -> None:
        """Set the size of the window, and the colour scheme that the user prefers."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, address: str) -> None:
        """Open a page, and wait until it is loaded."""
        self._events.clear()
        self.call("Page.navigate", url=address)
        while not any(event.get("method") == "Page.loadEventFired" for event in self._events):
            self._events.append(json.loads(self._connection.recv(_SECONDS)))

    def evaluate(self, script: str) -> Any:
        """Evaluate JavaScript in the page, and return its value. A promise is awaited."""
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")


@contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """Start the browser, with its profile in an empty folder; skip the test where there is none."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        skip_or_fail("tools", "Chromium is not installed.")
    command = [
        program,
        "--headless",
        "--no-sandbox",  # it doesn't work for root or in a container
        "--disable-dev-shm-usage",  # a container's is small
        "--remote-debugging-port=0",
        f"--user-data-dir={profile}",
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            found = next(filter(None, (re.search(r"DevTools listening on (\S+)", line) for line in process.stderr)))
            process.stderr.close()  # otherwise the browser waits until somebody reads what it logs
            with connect(found[1], max_size=None, proxy=None) as connection:
                yield Browser(connection)
                connection.send(json.dumps({"id": 0, "method": "Browser.close"}))
        finally:
            process.terminate()
