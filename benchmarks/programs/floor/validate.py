"""The floor of receiving: `validate.py <file of lines> <warm> <count>` only validates each line."""

from __future__ import annotations

import json
import sys
import time

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from acp_bindings.v1 import SessionNotification


class Message(TypedDict):
    jsonrpc: str
    method: str
    params: SessionNotification


def main(path: str, warm: int, count: int) -> None:
    with open(path, "rb") as file:
        lines = file.read().splitlines()
    validate = TypeAdapter(Message).validator.validate_json
    for line in lines[:warm]:
        validate(line)
    started = time.perf_counter()
    for line in lines[:count]:
        validate(line)
    print(json.dumps({"seconds": time.perf_counter() - started}))


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
