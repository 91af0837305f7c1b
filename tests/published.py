"""Whether the wheel works where nothing else is installed. `make check-dist` runs it with the Python of such a place.

It knows nothing of pytest, or of anything else that isn't there.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from pkgutil import iter_modules

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 60


def main(tag: str) -> None:
    """Check everything. Exits with a sentence if something is wrong.

    Args:
        tag: what the release is called; empty if there is none.
    """
    found = version("acp-bindings")
    need(tag in ("", f"v{found}"), f"The tag is {tag}, and the wheel's version is {found}. Raise it in pyproject.toml.")
    for package in ("acp_bindings", "acp_runtime"):
        home = Path(str(import_module(package).__file__)).parent
        need(ROOT / "build" in home.parents, f"{package} was imported from {home}, which is not the wheel's.")
        need((home / "py.typed").is_file(), f"{package} has no py.typed.")
    profiles = [module.name for module in iter_modules(import_module("acp_bindings").__path__) if module.ispkg]
    for profile in profiles:
        use(profile)
    need("v1" in profiles, "The wheel has no acp_bindings.v1.")
    run_readme()
    sys.stdout.write(f"acp-bindings {found} works on Python {sys.version.split()[0]}: {', '.join(profiles)}\n")


def use(profile: str) -> None:
    """Load every public name of a profile."""
    module = import_module(f"acp_bindings.{profile}")
    for name in module.__all__:
        getattr(module, name)


def run_readme() -> None:
    """The README's client and agent, each in a process of its own, as they are pasted."""
    blocks = re.findall(r"```python\n# (\S+\.py)\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    with tempfile.TemporaryDirectory() as folder:
        for name, text in blocks:
            (Path(folder) / name).write_text(text, "utf-8")
        command = [sys.executable, "client.py"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)
    need(done.stdout.split() == ["Hello!", "end_turn"], f"The README's client said {done.stdout!r}.\n{done.stderr}")


def need(condition: bool, sentence: str) -> None:
    if not condition:
        sys.exit(sentence)


if __name__ == "__main__":
    main(sys.argv[1])
