"""Generated code passes mypy in strict mode and ruff, also where the pinned schemas don't need a part of a template.

`make lint` runs mypy and pyright on the code of the pinned schemas.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from codegen.diff.user_code.type_checker import run_mypy
from tests.support.codegen.build import STRING, Schema, array, model, part_of, ref, tagged
from tests.support.codegen.old_names import DEFINITIONS, RENAMES, generate_with
from tests.support.programs import run_command
from tools.paths import ROOT

RARE: Schema = {
    "Tree": model(branches=array(ref("Tree")), leaf=ref("Words")),
    "DerivedTree": {**model(name=STRING), "allOf": [ref("Tree")]},
    "HiddenList": model(list=array(ref("Words")), last=array(STRING)),
    "Limits": model(sizes=array({"type": "integer", "minimum": 1}, minItems=1)),
    "OldRequest": part_of("session/old", "agent", model(text=STRING)) | {"deprecated": True},
    "OldResponse": part_of("session/old", "agent", model(tree=ref("Tree"))),
    "AskRequest": part_of(
        "session/ask", "client", {"anyOf": [tagged("type", "text", "Words"), tagged("type", "tree", "Tree")]}
    ),
    "AskResponse": part_of("session/ask", "client", model()),
}


# In one process with the other tests that run mypy in the cache that they share.
@pytest.mark.slow
@pytest.mark.xdist_group("releases")
def test_generated_code_passes_mypy_and_ruff(tmp_path: Path) -> None:
    folder = generate_with(tmp_path, *RENAMES, definitions=DEFINITIONS | RARE)
    assert not run_mypy(tmp_path, folder.name, [ROOT / "runtime"])
    rules = ["--select", "E4,E7,E9,F", "--ignore", "F403,F405"]  # a package takes all names of its modules
    run_command(sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", *rules, str(folder))
