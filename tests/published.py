"""Check that the wheel works in an environment with nothing else installed. `make check-dist` runs this file there.

It uses the standard library only, because pytest isn't installed there.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from importlib import import_module
from importlib.metadata import distribution
from pathlib import Path
from pkgutil import iter_modules

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 60
# Stands in pyproject.toml until the repository has a public address.
PLACEHOLDER = "https://repository.invalid/acp-bindings"


def main(tag: str) -> None:
    """Check the installed wheel, and exit with a sentence if something is wrong.

    Args:
        tag: the release's tag; empty if this is not a release.
    """
    wheel = distribution("acp-bindings")
    found = wheel.version
    need(tag in ("", f"v{found}"), f"The tag is {tag}, and the wheel's version is {found}. Set it in pyproject.toml.")
    need(
        not tag or PLACEHOLDER not in str(wheel.read_text("METADATA")),
        f"The address of the repository is not set. Replace {PLACEHOLDER} with it everywhere in pyproject.toml.",
    )
    for package in ("acp_bindings", "acp_kit", "acp_runtime"):
        home = Path(str(import_module(package).__file__)).parent
        need(ROOT / "build" in home.parents, f"{package} was imported from {home} instead of the installed wheel.")
        need((home / "py.typed").is_file(), f"{package} has no py.typed.")
    profiles = [module.name for module in iter_modules(import_module("acp_bindings").__path__) if module.ispkg]
    need("v1" in profiles, "The wheel has no acp_bindings.v1.")
    for profile in profiles:
        use(profile)
    run_readme()
    command = subprocess.run(
        [Path(sys.executable).with_name("acp-bindings"), "--help"], capture_output=True, check=False
    )
    need(command.returncode == 0, f"The command acp-bindings doesn't run: {command.stderr.decode()}")
    python = sys.version.split()[0]
    sys.stdout.write(f"acp-bindings {found} ({tag or 'no tag'}) works on Python {python}: {', '.join(profiles)}\n")


def use(profile: str) -> None:
    """Load all public names of a profile."""
    module = import_module(f"acp_bindings.{profile}")
    for name in module.__all__:
        getattr(module, name)


def run_readme() -> None:
    """Run the README's script with the README's agent, exactly as printed there."""
    blocks = re.findall(r"```python\n# (\S+\.py)\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    with tempfile.TemporaryDirectory() as folder:
        for name, text in blocks:
            (Path(folder) / name).write_text(text, "utf-8")
        command = [sys.executable, "ask.py", sys.executable, "echo_agent.py"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)
    asked = "What is the capital of France?\n"
    need(done.stdout == asked, f"The README's script printed {done.stdout!r}.\n{done.stderr}")


def need(condition: bool, sentence: str) -> None:
    """Exit with a sentence unless a condition holds."""
    if not condition:
        sys.exit(sentence)


if __name__ == "__main__":
    main(sys.argv[1])
