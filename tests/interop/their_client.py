"""A client written with another SDK, in a subprocess, that a test tells what to do.

A line to it is `{"id", "call", "params"}` or `{"notify", "params"}`; a line from it is `{"id", "result"}`,
`{"id", "error"}`, or `{"event", "params"}` for everything that the agent sends it.
"""

from __future__ import annotations

Command = list[str]
