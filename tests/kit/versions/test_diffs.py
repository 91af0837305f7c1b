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


@pytest.mark.parametrize("name", ["file.txt", "with space.txt", "é.txt", 'a "quote" \\ \t\x01.txt'])
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
            "text": "diff --git /work/x /work/x\n--- /work/x\n+++ /work/x\n@@ -1,1 +1,1 @@\n-a\n+b\n",
        },
        "_meta": {"id": 1},
    }


def test_a_diff_that_changes_no_text_has_no_patch() -> None:
    for before, after in (("a", "a"), (None, ""), ("", "")):
        assert "patch" not in diff_to_v2({"type": "diff", "path": "/x", "oldText": before, "newText": after}, "/x")


def test_texts_with_too_many_changes_are_replaced_from_first_to_last(tmp_path: Path) -> None:
    same = [f"{number}\n" for number in range(10)]
    before = "".join([*same, *(f"old {number}\n" for number in range(20_000)), *same])
    after = "".join([*same, *(f"{number % 3}\n" for number in range(20_000)), *same])
    (tmp_path / "x").write_text(before, "utf-8")
    patch = git_patch("/x", before, after)
    assert patch.count("\n@@ ") == 1
    assert patch.count("\n ") == 6
    subprocess.run(["git", "apply", "-p1", "-"], input=patch.encode(), cwd=tmp_path, check=True)
    assert (tmp_path / "x").read_text("utf-8") == after


def test_a_change_of_a_long_text_is_compared_alone() -> None:
    before = [f"{number}\n" for number in range(100_000)]
    after = [*before[:50_000], "new\n", *before[50_001:]]
    patch = git_patch("/x", "".join(before), "".join(after))
    assert patch.endswith("@@ -49998,7 +49998,7 @@\n 49997\n 49998\n 49999\n-50000\n+new\n 50001\n 50002\n 50003\n")
