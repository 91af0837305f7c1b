"""The schemas of other releases give packages that can be imported, without changes to the generator.

Only `make stress` generates those that were once pinned here. `make test` writes the code of two of them in
`diff/test_stability.py`.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from codegen.pinned.fetch import read_source
from codegen.pinned.pins import load
from codegen.regen import regenerate
from tests.support.import_generated import import_errors
from tests.support.releases import RELEASES, since, unpacked
from tests.support.scale import STRESS, count

pytestmark = [pytest.mark.stress, pytest.mark.slow]


if STRESS:

    @pytest.mark.parametrize("release", RELEASES)
    def test_a_release_generates_and_imports(release: str, tmp_path: Path) -> None:
        assert _fails(unpacked(release), tmp_path) == ""


@pytest.mark.xdist_group("releases")
@pytest.mark.usefixtures("npm")
def test_a_release_newer_than_the_list_generates_and_imports(tmp_path: Path) -> None:
    newer = [each for each in since(RELEASES[0]) if each not in RELEASES]
    failed = {each: why for each in newer[-count(1, 100) :] if (why := _fails(unpacked(each), tmp_path / each))}
    assert failed == {}


def _fails(package: Path, folder: Path) -> str:
    """Return why a release can't be generated or imported; empty if it can."""
    try:
        release = read_source(str(package))
        regenerate(package / "schema", folder, pinned=False)
    except Exception as error:
        return repr(error)
    assert len(load(package / "schema", pinned=False)) == len(release.schemas)
    numbered = re.findall(r"^(?:class )?([A-Z]\w*?\d+)\b(?= ?[(:])", _models(folder), re.MULTILINE)
    if [name for name in numbered if not _is_upstreams(name, release.schemas)]:
        return f"names by position: {numbered}"
    return import_errors([folder]).get(str(folder), "")


def _models(folder: Path) -> str:
    return "\n".join(path.read_text("utf-8") for path in sorted(folder.rglob("models/*.py")))


def _is_upstreams(name: str, schemas: dict[str, bytes]) -> bool:
    return any(f'"{name}"'.encode() in content for content in schemas.values())
