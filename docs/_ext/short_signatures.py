"""Signatures name the unions of the protocol, such as `ContentBlock`, instead of listing their members.

The functions of a profile are bound methods of a `Connector`, generic in the roles. Sphinx would leave out their first
argument, and show the type variables.

The Markdown builder knows no abbreviations, and Sphinx makes one of the `*` before keyword-only arguments.
"""

from __future__ import annotations

import inspect
import re
from functools import cache
from typing import Annotated, get_origin

from docutils import nodes  # type: ignore[import-untyped]  # mypy brings no stubs of it
from sphinx.addnodes import desc_signature, pending_xref
from sphinx.application import Sphinx
from sphinx.util.inspect import signature as signature_of, stringify_signature
from sphinx.util.typing import stringify_annotation


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("autodoc-process-signature", _shorten)
    app.connect("doctree-read", _look_up_in_own_module)
    app.add_node(nodes.abbreviation, override=True, markdown=(_nothing, _nothing))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _shorten(
    app: Sphinx, _what: str, _name: str, obj: object, _options: object, signature: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    """Return a signature and its result with the names of unions, and of the roles of a profile."""
    if inspect.ismethod(obj):
        # autodoc has stored the bound signature in the function, so that `inspect.signature(obj)` is one too short.
        full = signature_of(obj.__func__, type_aliases=app.config.autodoc_type_aliases)
        full = full.replace(
            parameters=[parameter for parameter in full.parameters.values() if parameter.name != "self"]
        )
        text = stringify_signature(full, unqualified_typehints=True)
        text = re.sub(r"[~.\w]*\b((Remote)?(Agent|Client))T\b", r"\1", text)
        signature, _, returns = text.partition(" -> ")
    return _named(signature), _named(returns)


def _named(text: str | None) -> str | None:
    for members, union in _unions().items() if text and "Annotated[" in text else ():
        text = text.replace(members, union) if text else text
    return text


@cache
def _unions() -> dict[str, str]:
    """The names of the unions by their text in a signature."""
    from acp_bindings import v1

    unions = {name: getattr(v1, name) for name in dir(v1) if get_origin(getattr(v1, name)) is Annotated}
    return {stringify_annotation(union, "smart", short_literals=True): name for name, union in unions.items()}


def _look_up_in_own_module(_app: Sphinx, doctree: nodes.document) -> None:
    """Add the module to references that Sphinx leaves without it, because two modules may have a class of that name."""
    for signature in doctree.findall(desc_signature):
        for reference in signature.findall(pending_xref):
            if reference.get("py:module") is None:
                reference["py:module"] = signature.get("module")


def _nothing(_translator: object, _node: nodes.Node) -> None:
    """Write no markup, only the text inside."""
