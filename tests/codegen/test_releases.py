"""The schemas of other releases give packages that can be imported, without changes to the generator.

`make test` takes one that is newer than the list of them, if there is one. `diff/test_stability.py` writes the code of
two others.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from codegen.pinned.fetch import read_source
from codegen.pinned.pins import load
from codegen.regen import regenerate
from tests.support import scale
from tests.support.codegen.generating import check_package
from tests.support.diff.sides import side_of
from tests.support.releases import ALPHAS, RELEASES, TAGS, schemas_of, since, unpacked
from tests.support.scale import STRESS

pytestmark = [pytest.mark.test_all, pytest.mark.stress, pytest.mark.slow]


@pytest.mark.xdist_group("releases")
@pytest.mark.usefixtures("npm")
def test_the_releases_generate_and_import(tmp_path: Path) -> None:
    versions = (
        since(RELEASES[0]) if STRESS else [release for release in since(RELEASES[0]) if release not in RELEASES][-1:]
    )
    failed = {version: why for version in versions if (why := _fails(unpacked(version) / "schema", tmp_path / version))}
    assert failed == {}


@pytest.mark.xdist_group("releases")
def test_the_tags_generate_and_import(tmp_path: Path) -> None:
    """The first two lack a capability that `methods.toml` names. They are only compared."""
    tags = scale.sample([*TAGS[2:], *ALPHAS], 1)
    assert {tag: why for tag in tags if (why := _fails(schemas_of(tag), tmp_path / tag))} == {}


def test_every_tag_can_be_read() -> None:
    """Those of other releases are read by the tests of the report."""
    assert {tag: side_of(tag).unreadable for tag in (*TAGS, *ALPHAS)} == dict.fromkeys((*TAGS, *ALPHAS), ())


def _fails(schemas: Path, folder: Path) -> str:
    """Return why the schemas of a release can't be generated or imported; empty if they can."""
    try:
        release = read_source(str(schemas))
        regenerate(schemas, folder, pinned=False)
        check_package(folder)
    except Exception as error:
        return repr(error)
    assert len(load(schemas, pinned=False)) == len(release.schemas)
    models = "\n".join(path.read_text("utf-8") for path in sorted(folder.rglob("models/*.py")))
    numbered = re.findall(r"^(?:class )?([A-Z]\w*?\d+)\b(?= ?[(:])", models, re.MULTILINE)
    if [name for name in numbered if not _is_upstreams(name, release.schemas)]:
        return f"names by position: {numbered}"
    return ""


def _is_upstreams(name: str, schemas: dict[str, bytes]) -> bool:
    return any(f'"{name}"'.encode() in content for content in schemas.values())
