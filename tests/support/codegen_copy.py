"""A copy of codegen with a small pinned schema. Tests break any of its files and run its commands."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from codegen.__main__ import ROOT
from tests.support.codegen.build import Schema, tree, write_schema
from tests.support.codegen.facts_base import PROPERTIES
from tests.support.codegen.pinning import FILE, pin

# Imports codegen once and forks for each command, which reads the files as they are then. The child drops the
# capabilities of root, so that file permissions apply. The first commands run without forking, because they import
# dependencies and compile templates; Jinja compiles a template again if its file has changed.
_SERVER = """
import contextlib, ctypes, gc, json, os, resource, sys
import codegen.pinned.fetch, codegen.upgrade.command
from codegen.__main__ import main

with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
    assert main(["regen"]) == 0
    assert main(["diff", "--base", "schema", "--format", "markdown"]) == 0
gc.disable()  # as in a process of its own

def run(arguments, max_file_size):
    ctypes.CDLL(None).capset((ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)())
    if max_file_size is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (max_file_size, max_file_size))
    try:
        code = main(arguments)
    except SystemExit as stopped:
        code = stopped.code
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)

print("ready", flush=True)
for line in sys.stdin:
    pipes = [os.pipe(), os.pipe()]
    child = os.fork()
    if not child:
        for number, (_, end) in enumerate(pipes, 1):
            os.dup2(end, number)
        run(*json.loads(line))
    for _, end in pipes:
        os.close(end)
    output = [open(start).read() for start, _ in pipes]
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(json.dumps([code, *output]), flush=True)
"""

_METHODS = (
    PROPERTIES
    + """
[v1.agent]
"initialize" = { baseline = true, opens = true }
"session/new" = { baseline = true }
"session/cancel" = { offered = "a prompt is running" }

[v1.client]
"session/update" = { baseline = true }

[v2.properties]
session = "sessionId"
version = "protocolVersion"
agent_capabilities = "capabilities"
agent_info = "info"
client_capabilities = "capabilities"
client_info = "info"
lower = "refused"

[v2.client]
"session/update" = { baseline = true }
"""
)


@dataclass
class Ran:
    """The exit code and output of a command."""

    code: int
    out: str
    err: str


@dataclass
class Copy:
    """A copy of codegen.

    Attributes:
        root: its folder, which contains `codegen`, `schema` and `generated` as in the repository.
        server: the process that runs its commands.
    """

    root: Path
    server: subprocess.Popen[str]

    def run(self, *arguments: str, max_file_size: int | None = None) -> Ran:
        """Run a command. With `max_file_size` (in bytes), writing fails as on a full disk."""
        assert self.server.stdin is not None
        assert self.server.stdout is not None
        self.server.stdin.write(f"{json.dumps([arguments, max_file_size])}\n")
        self.server.stdin.flush()
        return Ran(*json.loads(self.server.stdout.readline()))

    def files(self) -> dict[str, bytes]:
        return tree(self.root)


@contextmanager
def codegen_copy(root: Path, schema: Schema) -> Generator[Copy]:
    """Create a copy in a folder, and generate the bindings of a schema there."""
    shutil.copytree(ROOT / "codegen", root / "codegen", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", root)
    # Instead of the entries about the methods and old names of the pinned schemas.
    (root / "codegen/methods.toml").write_text(_METHODS, "utf-8")
    (root / "codegen/renames.toml").write_text("", "utf-8")
    pin(write_schema(root / "schema", schema, FILE))
    with subprocess.Popen(
        [sys.executable, "-c", _SERVER], cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == "ready\n"
        yield Copy(root, server)
