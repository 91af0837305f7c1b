"""A package with old names: the schema, its renames, and how to generate it. `old_names_program.py` uses them."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.data.renames import Rename, to_toml
from codegen.regen import regenerate
from tests.support.codegen.build import (
    STRING,
    Schema,
    acp_schema,
    enum,
    initialize,
    model,
    other,
    part_of,
    ref,
    request,
    tagged,
    write_schema,
)

PROGRAM = Path(__file__).with_name("old_names_program.py")
UNTIL = "9.0.0"
_SESSION = model(["sessionId"], sessionId=STRING)
DEFINITIONS: Schema = {
    **initialize(),
    **request("session/new", "New", model(["cwd"], cwd=STRING), _SESSION),
    "UpdateNotification": part_of("session/update", "client", model(["block"], block=ref("Block"), size=ref("Size"))),
    "Words": model(["words"], words=STRING),
    "Block": {"anyOf": [tagged("type", "text", "Words"), other("type", "text")]},
    "Size": enum("small", "large"),
}
_V1 = ("v1",)
RENAMES = (
    Rename(_V1, "OldBlock", "Block", UNTIL),
    Rename(_V1, "OldSize", "Size", UNTIL),
    Rename(_V1, "OldWords", "Words", UNTIL),
    Rename(_V1, "CreateRequest", "NewRequest", UNTIL),
)


def write_renames(path: Path, *renames: Rename) -> Path:
    path.write_text("\n\n".join(map(to_toml, renames)), "utf-8")
    return path


def generate_with(folder: Path, *renames: Rename, definitions: Schema = DEFINITIONS) -> Path:
    """Generate a package with old names, and return the folder that contains it."""
    schema = write_schema(folder / "schema", acp_schema(definitions))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("codegen.regen.RENAMES_TOML", write_renames(folder / "renames.toml", *renames))
        regenerate(schema, folder / "generated", pinned=False)
    return folder / "generated"
