"""A fake GitHub in a folder: a repository, its pull requests and issues, and the `gh` that uses them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from compileall import compile_dir
from pathlib import Path
from py_compile import PycInvalidationMode
from typing import Any

from codegen.__main__ import ROOT, main
from codegen.files import write_files
from tests.support.codegen.build import STRING, Schema, acp_schema, model, part_of, write_schema
from tests.support.codegen_copy import use_own_data
from tests.support.skipping import skip_or_fail
from tests.support.workflows.jobs import Job, run_job

SHARED = ["CHANGELOG.md", "codegen", "Makefile", "pyproject.toml", "requirements.txt", ".gitignore", ".gitattributes"]
GH = Path(__file__).with_name("gh.py")
AUTHOR = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.com"]
# Results of the first job of Schema upgrade, with its artifacts, by main's commit, the source and the source's content.
_generated: dict[tuple[object, ...], tuple[Job, dict[str, bytes]]] = {}


class Hub:
    """A fake GitHub. The attributes `pulls`, `comments`, `issues`, `labels`, `runs`, `settings` and `writes` are
    read from its state.

    Attributes:
        home: the folder of everything.
        origin: the repository.
        clones: the number of clones made so far.
        compiled: a folder with the compiled modules of codegen, so that no clone has to compile them.
    """

    def __init__(self, home: Path) -> None:
        self.home = home
        self.origin = home / "origin.git"
        self.clones = 0
        self.compiled: Path | None = None
        (home / "bin").mkdir()
        (home / "bin/gh").write_text(
            f'#!/bin/sh\nFAKE_GITHUB="{home}/github.json" exec "{sys.executable}" -I -S "{GH}" "$@"\n', "utf-8"
        )
        (home / "bin/gh").chmod(0o755)
        settings = {
            "issues": True,
            "pages": True,
            "workflows": {"1": "active", "2": "disabled_manually", "3": "dynamic"},
        }
        self.write(pulls=[], comments=[], issues=[], labels={}, runs=[], settings=settings, writes=[])

    def copy(self, home: Path) -> Hub:
        """Return a copy in another folder, which a test can change."""
        home.mkdir()
        made = Hub(home)
        made.compiled = self.compiled
        shutil.copytree(self.origin, made.origin)
        shutil.copy(self.home / "github.json", home)
        return made

    def __getattr__(self, name: str) -> Any:
        return json.loads((self.home / "github.json").read_text("utf-8"))[name]

    def write(self, **state: Any) -> None:
        path = self.home / "github.json"
        old = json.loads(path.read_text("utf-8")) if path.exists() else {}
        path.write_text(json.dumps({**old, **state}), "utf-8")

    def git(self, *words: str, cwd: Path | None = None) -> str:
        command = ["git", *AUTHOR, *words]
        done = subprocess.run(command, cwd=cwd or self.origin, capture_output=True, text=True, check=True, timeout=60)
        return done.stdout.strip()

    def checkout(self, branch: str = "main", *, compiled: bool = False) -> Path:
        """Return a new clone with a branch checked out and a `.venv`; with compiled modules if it is to run codegen."""
        self.clones += 1
        clone = self.home / f"clone-{self.clones}"
        self.git("clone", "--quiet", "--branch", branch, f"file://{self.origin}", str(clone), cwd=self.home)
        link_environment(clone)
        if compiled and self.compiled:
            shutil.copytree(self.compiled, clone / "codegen", dirs_exist_ok=True, copy_function=os.link)
        return clone

    def push(self, clone: Path, message: str, branch: str) -> None:
        self.git("add", "--all", cwd=clone)
        self.git("commit", "--quiet", "--message", message, cwd=clone)
        self.git("push", "--quiet", "origin", f"HEAD:{branch}", cwd=clone)

    def upgrade(self, source: object, *, fresh: bool = False) -> tuple[Job, Job | None]:
        """Run Schema upgrade, and return its two jobs; the second is None if it was skipped.

        Args:
            source: the source of the schema.
            fresh: don't reuse the first job's result for the same source and the same commit of main.
        """
        shutil.rmtree(self.home / "temp", ignore_errors=True)
        key = self.git("rev-parse", "main"), str(source), *_contents(Path(str(source))).items()
        if fresh or key not in _generated:
            job = run_job(
                "schema-upgrade.yml", "generate", self.checkout(compiled=True), self.home, inputs__source=str(source)
            )
            _generated[key] = job, _contents(self.home / "temp")
        generated, artifacts = _generated[key]
        write_files(self.home / "temp", artifacts)
        if generated.failed or not generated.outputs["verdict"]:
            return generated, None
        return generated, self.propose(generated.outputs["verdict"])

    def propose(self, verdict: str) -> Job:
        """Run the second job of Schema upgrade, with the artifacts of the first one."""
        return self.job("schema-upgrade.yml", "propose", needs__generate__outputs__verdict=verdict)

    def job(self, workflow: str, name: str, **given: str) -> Job:
        """Run a job that may write."""
        values = {
            "github__token": "token",
            "github__repository": "acp/bindings",
            "github__server_url": "https://github.test",
        }
        return run_job(workflow, name, self.checkout(), self.home, **values, github__run_id="7", **given)


def _contents(folder: Path) -> dict[str, bytes]:
    paths = sorted(folder.rglob("*")) if folder.is_dir() else []
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths if path.is_file()}


def link_environment(clone: Path) -> None:
    """Link the running environment as the clone's `.venv`, so that make doesn't create one."""
    (clone / ".venv").mkdir()
    for name in ("bin", "lib", "pyvenv.cfg"):
        (clone / ".venv" / name).symlink_to(Path(sys.prefix) / name)
    (clone / ".venv/.ready").touch()


def release(folder: Path, version: str, definitions: Schema) -> Path:
    """Write an unpacked release of the package that ships the schemas. Its updates name their session."""
    update = part_of("session/update", "client", model(sessionId=STRING))
    write_schema(folder / "schema", acp_schema({**definitions, "SessionNotification": update}))
    package = {"name": "@agentclientprotocol/sdk", "version": version, "license": "Apache-2.0"}
    (folder / "package.json").write_text(json.dumps(package), "utf-8")
    return folder


def new_hub(tmp_path: Path) -> Hub:
    """Return an empty hub. Skips the test if jq, which every GitHub runner has, is not installed."""
    if shutil.which("jq") is None:
        skip_or_fail("tools", "jq is needed.")
    (tmp_path / "hub").mkdir()
    return Hub(tmp_path / "hub")


def compiled_codegen(folder: Path) -> Path:
    """Return a folder with the compiled modules of codegen. Python uses each one whose source has not changed."""
    shutil.copytree(ROOT / "codegen", folder, ignore=shutil.ignore_patterns("__pycache__"))
    compile_dir(folder, quiet=1, invalidation_mode=PycInvalidationMode.CHECKED_HASH)
    for path in folder.rglob("*"):
        if path.is_file() and path.suffix != ".pyc":
            path.unlink()
    return folder


def start(hub: Hub, source: Path) -> Hub:
    """Create the repository with a pinned schema and the code generated from it."""
    work = hub.home / "work"
    work.mkdir()
    for name in SHARED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, work / name)
    hub.compiled = compiled_codegen(hub.home / "compiled")
    use_own_data(work / "codegen")
    assert main(["fetch", str(source), "--schema", str(work / "schema")]) == 0
    assert main(["regen", "--schema", str(work / "schema"), "--output", str(work / "generated")]) == 0
    hub.git("init", "--quiet", "--bare", "--initial-branch=main", str(hub.origin), cwd=hub.home)
    hub.git("init", "--quiet", "--initial-branch=main", cwd=work)
    hub.git("remote", "add", "origin", str(hub.origin), cwd=work)
    hub.push(work, "The project", "main")
    return hub
