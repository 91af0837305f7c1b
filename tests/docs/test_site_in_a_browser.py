"""The site in a real browser: it fits the window, its texts can be read, and the search leads where one means."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.browser import Browser, browser
from tests.support.codegen import reference
from tests.support.docs.blocks import DOCS, GENERATED
from tests.support.programs import run_command
from tools.paths import ROOT

pytestmark = [pytest.mark.test_all, pytest.mark.slow, pytest.mark.xdist_group("site in a browser")]

FAULTS = (Path(__file__).parent / "layout.js").read_text("utf-8")
WIDTHS = (360, 768, 1024, 1280, 1366, 1440, 1920)
# Together they have every kind of element: code, messages, tables, notes, signatures, definitions, results, an index.
PAGES = (
    "index.html",
    "learn/install.html",
    "learn/quickstart-client.html",
    "which-sdk.html",
    "guides/connections.html",
    "guides/seeing-the-wire.html",
    "reference/acp_runtime.html",
    "reference/command-line.html",
    "reference/protocol/session_prompt.html",
    "reference/specification.html",
    "project/performance.html",
    "search.html?q=permission",
    "genindex.html",
)

SHOWN_RESULTS = """
new Promise((resolve) => {
  const look = () => {
    const title = document.querySelector("#search-results h2").textContent;
    if (title !== "Search Results") return setTimeout(look, 10);
    resolve([...document.querySelectorAll("#search-results li a")].map((link) => link.getAttribute("href")));
  };
  look();
})
"""


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as tab:
        yield tab


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, tab: Browser) -> Path:
    """Build the site as `make docs` does, but without the texts for language models, which take half of the time."""
    folder = tmp_path_factory.mktemp("site")
    for path in ROOT.iterdir():
        if path != DOCS:
            (folder / path.name).symlink_to(path)
    docs = folder / "docs"
    shutil.copytree(DOCS, docs, ignore=lambda *_: [GENERATED.name])
    (docs / GENERATED.relative_to(DOCS)).mkdir()
    for name, text in reference.pages().items():
        (docs / GENERATED.relative_to(DOCS) / name).write_text(text, "utf-8")
    conf = docs / "conf.py"
    conf.write_text(conf.read_text("utf-8").replace('"sphinx_llm.txt",', ""), "utf-8")
    built = folder / "built"
    # `make docs` fails at a warning.
    run_command(sys.executable, "-m", "sphinx", "--quiet", "--jobs", "auto", str(docs), str(built))
    return built


def address(site: Path, page: str) -> str:
    return f"{site.as_uri()}/{page}"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", PAGES)
def test_a_page_fits_every_window_and_its_texts_have_enough_contrast(
    page: str, scheme: str, site: Path, tab: Browser
) -> None:
    tab.show(WIDTHS[0], scheme=scheme)
    tab.open(address(site, page))
    if page.startswith("search"):
        assert tab.evaluate(SHOWN_RESULTS)
    faults = {}
    for width in WIDTHS:
        tab.show(width, scheme=scheme)
        faults[width] = tab.evaluate(FAULTS)
    assert faults == {width: [] for width in WIDTHS}


def test_what_does_not_fit_or_is_hard_to_read_is_found(site: Path, tab: Browser) -> None:
    tab.show(1280)
    tab.open(address(site, "learn/install.html"))
    tab.evaluate("document.querySelector('article p').style = 'width: 2000px; opacity: 0.4'")
    page, text, *boxes = tab.evaluate(FAULTS)
    assert page.startswith("the page is ")
    assert text.startswith("contrast 2.")
    assert any("section > p: You need Python" in box for box in boxes)


def test_the_first_screen_of_a_laptop_has_the_whole_program(site: Path, tab: Browser) -> None:
    tab.show(1366, 768)
    tab.open(address(site, "index.html"))
    code = "document.querySelector('article .highlight-python')"
    assert "session.ask(" in tab.evaluate(f"{code}.textContent")
    assert tab.evaluate(f"{code}.getBoundingClientRect().bottom") < 768


def test_a_page_has_a_description_and_an_icon(site: Path, tab: Browser) -> None:
    tab.open(address(site, "guides/kit.html"))
    assert "Agent Client Protocol" in tab.evaluate("document.querySelector('meta[name=description]').content")
    assert (
        site / "guides" / tab.evaluate("document.querySelector('link[rel~=icon]').getAttribute('href')").split("?")[0]
    ).is_file()


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("uv", "learn/install.html#uv"),
        ("tap", "reference/command-line.html#tap"),
        ("permission", "guides/permissions.html"),
        ("session/new", "reference/protocol/session_new.html"),
        ("PermissionPolicy", "reference/acp_kit/client.html#acp_kit.client.PermissionPolicy"),
    ],
)
def test_the_search_leads_where_one_means(words: str, first: str, site: Path, tab: Browser) -> None:
    tab.open(address(site, f"search.html?q={words}"))
    assert tab.evaluate(SHOWN_RESULTS)[0] == first


def test_tables_of_names_come_last_in_the_search(site: Path, tab: Browser) -> None:
    tab.open(address(site, "search.html?q=permission"))
    tables = [link.startswith(("reference/acp_", "reference/specification")) for link in tab.evaluate(SHOWN_RESULTS)]
    assert any(tables)
    assert tables == sorted(tables)
