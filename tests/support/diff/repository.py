"""A repository like this one, small: one commit of it, and a working tree that goes on from there."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from codegen.regen import regenerate
from tests.support.paths import ROOT

USER_CODE = "user/code"
# What the runtime of the commit has and the one of the working tree hasn't.
GONE = "GONE"


def repository(folder: Path, schema: Path, user_code: dict[str, str]) -> Path:
    """Commit the schemas, what is generated from them, a runtime with `GONE`, and user code.

    Then the runtime of the working tree loses `GONE` and gets an error of its own, which is none of user code.
    """
    shutil.copytree(schema, folder / "schema")
    regenerate(schema, folder / "generated", pinned=False)
    (folder / "codegen").mkdir()
    shutil.copy(ROOT / "codegen/methods.toml", folder / "codegen")
    shutil.copytree(ROOT / "runtime", folder / "runtime", ignore=shutil.ignore_patterns("__pycache__"))
    for name, text in user_code.items():
        path = folder / USER_CODE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    init = folder / "runtime/acp_runtime/__init__.py"
    before = init.read_bytes()
    init.write_bytes(before + f"\n{GONE} = 1\n".encode())
    commit(folder)
    init.write_bytes(before + b'\nWRONG: int = "text"\n')
    return folder


def commit(folder: Path) -> None:
    """Commit everything in a folder, which becomes a repository."""
    for command in (["init", "-q"], ["add", "."], ["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "t"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
