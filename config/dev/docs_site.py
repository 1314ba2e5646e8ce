"""Builds the site of the documentation: `python -m config.dev.docs_site [FOLDER]`.

The pages stay where they are, so that their links work on GitHub too: MkDocs reads a temporary folder that
has the same layout as the checkout and holds links to them.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The files beside docs/ that pages link to.
FILES = (
    "README.md",
    "README.ko.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "LICENSE",
    "compose.yaml",
    "Procfile",
)
KOREAN = ("README.ko/index.html", "docs/ko/*/index.html")


def main() -> int:
    site = Path(sys.argv[1] if len(sys.argv) > 1 else "site").resolve()
    status = build(site)
    if status == 0:
        print(
            f"The site is in {site}. To read it: {sys.executable} -m http.server -b 127.0.0.1 -d {site} 8010"
        )
    return status


def build(site: Path) -> int:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "source"
        source.mkdir()
        for name in (*FILES, "docs"):
            (source / name).symlink_to(ROOT / name)
        config = Path(folder) / "mkdocs.yml"
        config.symlink_to(ROOT / "mkdocs.yml")
        command = [
            sys.executable,
            "-m",
            "mkdocs",
            "build",
            "--quiet",
            "--strict",
            "-f",
            str(config),
            "-d",
            str(site),
        ]
        # The theme advertises its successor at each start.
        done = subprocess.run(command, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, check=False)
    if done.returncode == 0:
        name_language(site)
    return done.returncode


def name_language(site: Path) -> None:
    """Screen readers choose the voice by it; the theme knows one language for all pages."""
    for pattern in KOREAN:
        for page in site.glob(pattern):
            page.write_text(re.sub(r'<html lang="en"', '<html lang="ko"', page.read_text(), count=1))


if __name__ == "__main__":
    sys.exit(main())
