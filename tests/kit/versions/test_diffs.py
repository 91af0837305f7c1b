"""Diffs of version 1 become patches that Git applies."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from acp_kit.versions.diffs import diff_to_v2, git_patch

LINES = ("", "a", "b", "  c", "\x0cform feed", "d\r", "é")


def random_text(generator: random.Random) -> str:
    text = "\n".join(generator.choices(LINES, k=generator.randrange(12)))
    return text + "\n" * generator.randrange(2)


@pytest.mark.parametrize("name", ["file.txt", "with space.txt", "é.txt"])
def test_git_applies_the_patches_of_random_changes(tmp_path: Path, name: str) -> None:
    generator = random.Random(name)
    for _ in range(15):
        before, after = random_text(generator), random_text(generator)
        if before == after:
            continue
        file = tmp_path / name
        file.write_text(before, "utf-8", newline="")
        patch = git_patch(f"/{name}", before, after)
        subprocess.run(["git", "apply", "-p1", "-"], input=patch.encode(), cwd=tmp_path, check=True)
        assert file.read_bytes() == after.encode()


def test_git_creates_a_new_file(tmp_path: Path) -> None:
    patch = git_patch("/new.txt", None, "one\ntwo")
    subprocess.run(["git", "apply", "-p1", "-"], input=patch.encode(), cwd=tmp_path, check=True)
    assert (tmp_path / "new.txt").read_text("utf-8") == "one\ntwo"


def test_a_diff_has_its_change_and_a_patch_with_absolute_paths() -> None:
    old = {"type": "diff", "path": "x", "oldText": "a\n", "newText": "b\n", "_meta": {"id": 1}}
    assert diff_to_v2(old, "/work/x") == {
        "type": "diff",
        "changes": [{"operation": "modify", "path": "/work/x", "fileType": "text"}],
        "patch": {
            "format": "git_patch",
            "text": "diff --git /work/x /work/x\n--- /work/x\n+++ /work/x\n@@ -1 +1 @@\n-a\n+b\n",
        },
        "_meta": {"id": 1},
    }


def test_long_texts_and_names_that_git_quotes_have_no_patch() -> None:
    long = {"type": "diff", "path": "/x", "oldText": "a" * 600_000, "newText": "b" * 600_000}
    assert "patch" not in diff_to_v2(long, "/x")
    assert "patch" not in diff_to_v2({"type": "diff", "path": '/"', "newText": ""}, '/"')
