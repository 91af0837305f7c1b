"""Where the runner finds code and tests, and where it writes."""

from __future__ import annotations

from pathlib import Path

from tools.paths import ROOT

HERE = Path(__file__).parent
BUILD = ROOT / "build/mutants"
PAGE = ROOT / "docs/project/mutants.md"


# The folders of the page. Others, and single files, can be given to the command.
FOLDERS = [
    "runtime/acp_runtime/jsonrpc",
    "runtime/acp_runtime/transports",
    "runtime/acp_runtime/stubs",
    "runtime/acp_runtime/models",
    "runtime/acp_runtime/connection",
    "codegen/read",
    "codegen/diff",
    "codegen/emit",
    "kit/acp_kit/agent",
    "kit/acp_kit/client",
    "kit/acp_kit/history",
    "kit/acp_kit/local",
]
# These generate models and methods for shapes that the pinned schemas don't have.
_TESTS_OF_MODELS = [
    f"tests/codegen/test_{name}.py" for name in ("optional_fields", "rare_shapes", "tagged_unions", "types")
]
# The agents and clients of these tests use the code of each other's folders.
_TESTS_OF_KIT = ["tests/kit/agent", "tests/kit/client", "tests/kit/history", "tests/kit/local"]


# Only older versions of pydantic execute it.
NOT_EXECUTED = "runtime/acp_runtime/models/older_pydantic.py"


def find_files(code: str) -> list[str]:
    """Return the Python files of a folder, in the order of their names, or the file itself."""
    path = ROOT / code
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
    return [str(file.relative_to(ROOT)) for file in files]


def find_tests(code: str) -> list[str]:
    """Return the tests that should notice a change in a folder or file: in codegen and kit its folder's, and others."""
    root, *parts = code.split("/")
    if root in ("runtime", "generated"):
        return ["tests/runtime", "tests/generated", *(_TESTS_OF_MODELS if {"jsonrpc", "models"} & {*parts} else [])]
    inside = parts[1:] if root == "kit" else parts
    folder = Path("tests", root, *inside[:1])
    own = str(folder if (ROOT / folder).is_dir() else folder.parent)
    others = _TESTS_OF_KIT if root == "kit" else _files_in(Path("tests", root))
    return sorted({own, *others})


def is_near(test: str, code: str) -> bool:
    """Return whether a test of the runtime is for the folder of a file, or for generated code. Others always are."""
    root, _, *parts = code.split("/")
    near = ["tests/generated/", "tests/codegen/", "tests/runtime/test_", f"tests/runtime/{parts[0]}/"]
    if parts[0] in ("jsonrpc", "stubs"):
        near.append("tests/runtime/connection/")
    return root != "runtime" or test.startswith(tuple(near))


def _files_in(folder: Path) -> list[str]:
    """Return the tests that are in a folder itself."""
    return sorted(str(path.relative_to(ROOT)) for path in (ROOT / folder).glob("test_*.py"))
