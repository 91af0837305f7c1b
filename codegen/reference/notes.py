"""Says about methods what upstream's descriptions don't: what calls do besides, and where capabilities are read."""

from __future__ import annotations

from codegen.emit.stub_docs import StubDocs
from codegen.ir import Method, Schema
from codegen.names import attribute_name


class Notes:
    """Notes about the methods of one schema. `stubs` has those that the docstrings of the stubs have, too."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self.stubs = StubDocs(schema)

    def effects(self, method: Method, role: str) -> list[str]:
        """Return sentences about a call of a method of a role."""
        facts = dict(method.facts)
        found: list[str] = []
        if "creates" in facts:
            found.append(f"`{facts['creates']}` of the result identifies what the call created.")
        if "ends" in facts:
            found.append(f"When the call returns, what `{facts['ends']}` identifies is gone.")
        return [*found, *self.stubs.caller_notes(method, role)]

    def capability_in_python(self, method: Method) -> str:
        """Return how the caller of a method reads the method's capability."""
        role, path = method.handled_by[0], (method.capability or "").split(".")
        if path[0] != self._schema.properties[f"{role}_capabilities"]:
            return f"response.{attribute_name(path[0])}"
        return ".".join((role, "capabilities", *(attribute_name(each) or each for each in path[1:])))
