"""Builds the site of the documentation: `python -m config.dev.docs_site [FOLDER]`.

The pages stay where they are, so that their links work on GitHub too: MkDocs reads a temporary folder that
has the same layout as the checkout and holds links to them, and to the files that they link to.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KOREAN = ("README.ko/index.html", "docs/ko/*/index.html")
LINK = re.compile(r"\]\(([^)\s:#]+)")


def main() -> int:
    site = Path(sys.argv[1] if len(sys.argv) > 1 else "site").resolve()
    if problems := build(site, ROOT):
        print(problems, file=sys.stderr)
        return 1
    print(f"The site is in {site}. To read it: {sys.executable} -m http.server -b 127.0.0.1 -d {site} 8010")
    return 0


def build(site: Path, root: Path) -> str:
    """Write the site; return the output of MkDocs if it fails, as it does for a broken link."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lay_out(folder / "source", root)
        config = folder / "mkdocs.yml"
        config.symlink_to(root / "mkdocs.yml")
        # Not --quiet: it hides warnings from --strict too.
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(config), "-d", str(site)]
        # The theme advertises its successor at each start.
        environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        return done.stdout + done.stderr
    name_language(site)
    return ""


def lay_out(source: Path, root: Path) -> None:
    source.mkdir()
    (source / "docs").symlink_to(root / "docs")
    pages = [*root.glob("*.md"), *(root / "docs").rglob("*.md")]
    for path in {*root.glob("*.md"), *linked_files(pages)}:
        relative = path.relative_to(root)
        if relative.parts[0] != "docs":
            (source / relative).parent.mkdir(parents=True, exist_ok=True)
            (source / relative).symlink_to(path)


def linked_files(pages: list[Path]) -> Iterator[Path]:
    for page in pages:
        for target in LINK.findall(page.read_text()):
            path = (page.parent / target).resolve()
            if path.is_file():
                yield path


def name_language(site: Path) -> None:
    """Screen readers choose the voice by it; the theme knows one language for all pages."""
    for pattern in KOREAN:
        for page in site.glob(pattern):
            page.write_text(re.sub(r'<html lang="en"', '<html lang="ko"', page.read_text(), count=1))


if __name__ == "__main__":
    sys.exit(main())
