"""The documentation of a hostile schema: nothing of its text is live on the site."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from codegen.diff.sources import Snapshot
from codegen.pinned.profiles import Profile
from codegen.reference.pages import reference_pages
from codegen.regen import read_schema, regenerate
from tests.support.codegen.build import Schema, acp_schema, ref, write_schema
from tests.support.codegen.hostile import SECRET, hostile_definitions, texts, with_hostile_texts
from tests.support.paths import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("hostile site")]

DOCS = ROOT / "docs"
INDEX = """\
# Home

```{toctree}
reference/protocol/index
reference/acp_bindings
docstrings
```
"""
DOCSTRINGS = """\
# Docstrings

```{eval-rst}
.. automodule:: hostile_docstrings
   :members:
```
"""
# Copies of the pages for language models, which take half of the time.
COPIES = '    "sphinx_llm.txt",\n'
# The table of contents of every page has no function, which takes a third of the rest.
FASTER = "toc_object_entries = False\n"
# A file beside the pages, as directives and roles name it.
FILE = Path("/secret.txt")
METHODS = ("initialize", "session/new", "session/set_mode", "session/cancel", "fs/read_text_file")
FILES = {"v1": "v1/schema.json", "v1_unstable": "v1/schema.unstable.json"}


def hostile_schema(file: str) -> Schema:
    """Return a few methods of a pinned schema, and what they refer to, with hostile text everywhere."""
    pinned = json.loads((ROOT / "schema" / file).read_text("utf-8"))["$defs"]
    names = ["ErrorCode", *(name for name, each in pinned.items() if each.get("x-method") in METHODS)]
    for name in names:  # goes on with those that are added
        names += sorted(set(re.findall(r'"#/\$defs/(\w+)"', json.dumps(pinned[name]))) - set(names))
    schema = with_hostile_texts(acp_schema({name: pinned[name] for name in names}), FILE)
    schema["$defs"] |= hostile_definitions(FILE)
    schema["$defs"]["NewSessionRequest"]["properties"]["hostile"] = ref("Hostile")
    return schema


def docstrings() -> str:
    """Return a module of functions, each with a hostile text as its docstring."""
    supply = texts(FILE)
    return "\n".join(f"def f{number}():\n    {next(supply)!r}\n" for number in range(300))


def write_docs(folder: Path, pages: dict[str, str]) -> None:
    for name in ("_ext", "_static"):
        shutil.copytree(DOCS / name, folder / "docs" / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    conf = (DOCS / "conf.py").read_text("utf-8")
    assert COPIES in conf
    bindings = (DOCS / "reference/acp_bindings.md").read_text("utf-8")
    own = {
        FILE.name: SECRET,
        "conf.py": conf.replace(COPIES, "") + FASTER,
        "index.md": INDEX,
        "docstrings.md": DOCSTRINGS,
    }
    for name, text in {**own, "reference/acp_bindings.md": bindings, **pages}.items():
        path = folder / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of the built site, and what the build printed."""
    folder = tmp_path_factory.mktemp("site")
    raw = {name: hostile_schema(file) for name, file in FILES.items()}
    schemas = {
        Profile(name, FILES[name], "", "", "1"): Snapshot(FILES[name], each, read_schema(each, "v1"))
        for name, each in raw.items()
    }
    pages = {f"reference/protocol/{name}.md": text for name, text in reference_pages(schemas).items()}
    write_docs(folder, pages)
    regenerate(write_schema(folder / "schema", raw["v1"]), folder / "generated", pinned=False)
    (folder / "generated/hostile_docstrings.py").write_text(docstrings(), "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "--quiet", "--keep-going", "docs", "site"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder / "generated")},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder / "site", done.stderr


def test_nothing_is_included_or_offered_for_download(site: tuple[Path, str]) -> None:
    folder, _ = site
    files = [each for each in folder.rglob("*") if each.is_file()]
    assert len(files) > 50
    assert not [each for each in files if SECRET.encode() in each.read_bytes()]
    assert not (folder / "_downloads").exists()
    assert not (folder / "_images").exists()


def test_no_description_is_a_directive_or_a_role(site: tuple[Path, str]) -> None:
    lines = site[1].splitlines()
    assert not [line for line in lines if "directive" in line or "role" in line or "CRITICAL" in line]


def test_no_description_is_a_script_an_image_or_a_link_elsewhere(site: tuple[Path, str]) -> None:
    pages = [Page(each) for each in sorted(site[0].rglob("*.html"))]
    assert any("<script>alert(1)</script>" in each.text for each in pages)
    assert not [each.path.name for each in pages if "alert(1)" in each.script]
    assert not [(each.path.name, found) for each in pages for found in each.live]
    assert not [each.path.name for each in pages if "Heading" in each.headings and each.path.parent.name == "protocol"]


class Page(HTMLParser):
    """The text of a page, its scripts, its headings, and what it loads, links or runs that it may not."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.text = self.script = ""
        self.headings: list[str] = []
        self.live: list[str] = []
        self._tags: list[str] = []
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._tags.append(tag)
        for key, value in attrs:
            address = (value or "").partition("/")[0]
            if key.startswith("on") or (
                key in ("href", "src") and ":" in address and address not in ("https:", "http:")
            ):
                self.live.append(f"{tag} {key}={value}")
            if tag in ("img", "iframe", "object", "embed") or (tag, key) == ("a", "download"):
                self.live.append(f"{tag} {key}={value}")

    def handle_data(self, data: str) -> None:
        last = self._tags[-1] if self._tags else ""
        self.text += data
        self.script += data if last == "script" else ""
        self.headings += [data] if last in ("h1", "h2", "h3", "h4", "h5", "h6") else []
