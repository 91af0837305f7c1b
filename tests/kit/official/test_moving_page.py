"""docs/moving.md has the names of the installed official SDK, and their names here."""

from __future__ import annotations

import inspect
import json
import re
import sys
from importlib import import_module
from pathlib import Path

import acp.contrib
import acp.helpers
import acp.schema
import pytest

from acp_bindings import v1_unstable
from tests.support.docs.blocks import blocks
from tests.support.programs import run_command
from tools.official_names import END, PAGE, START, counterparts, table

TEXT = PAGE.read_text("utf-8")
HELPERS = TEXT.partition("### Helpers")[2].partition("\n## ")[0]


def test_the_table_of_classes_is_the_one_that_the_tool_makes() -> None:
    assert TEXT.partition(START)[2].partition(END)[0] == table()


def test_fields_have_the_same_names_but_meta() -> None:
    others: dict[str, str] = {}
    models = inspect.getmembers(acp.schema, inspect.isclass)
    for name, official in models:
        ours = getattr(v1_unstable, counterparts().get(name, name) or name, None)
        if hasattr(official, "model_fields") and hasattr(ours, "model_fields"):
            names = {field.alias or key: key for key, field in ours.model_fields.items()}
            fields = {key: names.get(field.alias or key, key) for key, field in official.model_fields.items()}
            others |= {key: name for key, name in fields.items() if key != name}
    assert others == {"field_meta": "meta"}


def test_the_program_of_the_page_answers(tmp_path: Path) -> None:
    (program,) = [block for block in blocks(PAGE) if block.file_name == "agent.py"]
    (tmp_path / "agent.py").write_text(program.text, "utf-8")
    request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}}
    printed = run_command(sys.executable, "agent.py", cwd=tmp_path, input=json.dumps(request))
    assert json.loads(printed)["result"]["protocolVersion"] == 1


@pytest.mark.parametrize("name", [*acp.helpers.__all__, *acp.contrib.__all__, "default_environment"])
def test_each_helper_has_a_counterpart(name: str) -> None:
    assert f"`{name}`" in HELPERS


def test_the_counterparts_exist() -> None:
    used = set(re.findall(r"\b(v1|acp_runtime|acp_kit\.(?!official)\w+)\.(\w+)", TEXT))
    modules = {"v1": "acp_bindings.v1"}
    missing = [name for module, name in used if not hasattr(import_module(modules.get(module, module)), name)]
    assert missing == []
    assert len(used) > 20
