"""Runs the cells of a notebook in a real kernel, and prints what each of them shows: `python <this file>`.

Stdin is a JSON list of cells. A cell is its code, what the user types, and the output at which the user interrupts it.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from jupyter_client.manager import start_new_kernel

_SECONDS = 60


def main() -> None:
    manager, client = start_new_kernel(kernel_name="python3")
    try:
        shown = [run(manager, client, *cell) for cell in json.load(sys.stdin)]
    finally:
        client.stop_channels()
        manager.shutdown_kernel()
    json.dump(shown, sys.stdout)


def run(manager: Any, client: Any, code: str, typed: str | None, interrupt_at: str | None) -> list[str]:
    shown: list[str] = []

    def show(message: Any) -> None:
        content = message["content"]
        match message["msg_type"]:
            case "stream":
                shown.append(content["text"].rstrip())
                if interrupt_at is not None and interrupt_at in content["text"]:
                    manager.interrupt_kernel()
            case "execute_result":
                shown.append(content["data"]["text/plain"])
            case "error":
                shown.append(content["ename"])

    def answer(message: Any) -> None:
        shown.append(message["content"]["prompt"])
        client.input(typed)

    client.execute_interactive(
        code, allow_stdin=typed is not None, output_hook=show, stdin_hook=answer, timeout=_SECONDS
    )
    return shown


if __name__ == "__main__":
    main()
