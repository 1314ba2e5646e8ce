"""`make docs` builds the site: each page is in it, and nothing is loaded from elsewhere."""

import json
import re
from pathlib import Path

import pytest

from config.dev import docs_site

ROOT = docs_site.ROOT
LOADED = re.compile(r"<(?:script|img|iframe)[^>]*\bsrc=\"?(?:https?:)?//|<link[^>]*\bhref=\"?(?:https?:)?//")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    assert docs_site.build(folder, docs_site.ROOT) == ""
    return folder


def test_a_broken_link_fails_the_build(tmp_path):
    root = tmp_path / "checkout"
    root.mkdir()
    (root / "README.md").write_text("# A page\n\n[nowhere](docs/missing.md), [no section](#missing)\n")
    (root / "docs").mkdir()
    (root / "mkdocs.yml").write_text((ROOT / "mkdocs.yml").read_text().split("nav:")[0])
    problems = docs_site.build(tmp_path / "site", root)
    assert "docs/missing.md" in problems
    assert "#missing" in problems


def test_every_page_is_in_the_site_and_the_readme_is_its_home(site):
    assert "<h1" in (site / "index.html").read_text()
    for page in (ROOT / "docs").rglob("*.md"):
        built = site / page.relative_to(ROOT).with_suffix("") / "index.html"
        assert "<h1" in built.read_text(), built
        language = "ko" if page.parent.name == "ko" else "en"
        assert f'<html lang="{language}"' in built.read_text(), built


def test_the_pages_load_nothing_from_elsewhere(site):
    assert LOADED.search('<script src="https://cdn.example/x.js">')
    for page in site.rglob("*.html"):
        assert not LOADED.search(page.read_text()), page
    for style in site.rglob("*.css"):
        assert not re.search(r"url\(\"?(?:https?:)?//|@import", style.read_text()), style


def test_the_search_finds_words_of_both_languages(site):
    index = json.loads((site / "search" / "search_index.json").read_text())
    assert index["config"]["lang"] == ["en", "ko"]
    texts = {entry["location"].split("#")[0]: "" for entry in index["docs"]}
    for entry in index["docs"]:
        texts[entry["location"].split("#")[0]] += entry["title"] + entry["text"]
    assert "PgBouncer" in texts["docs/operations/"]
    assert "작업" in texts["docs/ko/concepts/"]
