"""`make docs` builds the site: each page is in it, and nothing is loaded from elsewhere."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOADED = re.compile(r"<(?:script|img|iframe)[^>]*\bsrc=\"?(?:https?:)?//|<link[^>]*\bhref=\"?(?:https?:)?//")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "config.dev.docs_site", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


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
    assert "작업" in texts["README.ko/"]
