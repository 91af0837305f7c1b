"""Make a small git repository like this project's: one commit, and a working tree with later changes."""

from __future__ import annotations

import shutil
from pathlib import Path

from codegen.regen import regenerate
from tests.support.git import git
from tools.paths import ROOT

USER_CODE = "user/code"
# A name that the runtime has in the commit, but not in the working tree.
GONE = "GONE"


def repository(folder: Path, schema: Path, user_code: dict[str, str]) -> Path:
    """Commit the schemas, the generated package, a runtime with `GONE`, and user code.

    Afterwards the working tree's runtime has no `GONE`, and a type error that mustn't be reported for user code.
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
    """Make a folder a git repository if it isn't one yet, and commit everything in it."""
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "t"]):
        git(folder, *words)
