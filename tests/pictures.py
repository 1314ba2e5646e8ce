"""Takes the pictures of docs/pictures/ from the demonstration: `make pictures`.

Starts the whole system, signs in as Alice with a real browser, and keeps each page as a small PNG. Refuses
without a Korean font.
"""

import io
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image

from tests.acceptance.browser import MISSING, find_chromium, launched
from tests.acceptance.system import CHECKOUT, System

FOLDER = CHECKOUT / "docs" / "pictures"
WIDTH, HEIGHT = 1180, 820
# Flat pages: so many colors look the same as all of them, at a third of the size.
COLORS = 64


def main() -> int:
    if find_chromium() is None:
        print(MISSING, file=sys.stderr)
        return 1
    if not has_korean_font():
        text = "There is no Korean font here, so 한국어 is boxes: apt-get install fontconfig fonts-nanum"
        print(text, file=sys.stderr)
        return 1
    with (
        tempfile.TemporaryDirectory(prefix="dure-pictures-") as folder,
        system(Path(folder)) as stack,
        launched() as browser,
    ):
        context = browser.new_context(
            base_url=stack.base_url,
            locale="en",
            color_scheme="light",
            viewport={"width": WIDTH, "height": HEIGHT},
        )
        page = context.new_page()
        sign_in(page, stack)
        for name, path in addresses(stack).items():
            page.goto(path)
            page.wait_for_timeout(1_500)  # what is drawn live has settled
            keep(name, page.screenshot())
    return 0


def has_korean_font() -> bool:
    """Whether fontconfig, which Chromium asks, knows one."""
    fc_list = shutil.which("fc-list")
    if fc_list is None:
        return False
    return bool(subprocess.run([fc_list, ":lang=ko"], capture_output=True, check=True, text=True).stdout)


@contextmanager
def system(folder: Path) -> Iterator[System]:
    stack = System(folder)
    stack.start()
    try:
        yield stack
    finally:
        stack.stop()


def sign_in(page: Any, stack: System) -> None:
    page.goto("/")
    page.fill("#id_username", "alice")
    page.fill("#id_password", stack.user("alice")["password"])
    page.click("main button")
    page.wait_for_selector("#tile-waiting")
    page.wait_for_timeout(15_000)  # the release is under way


def addresses(stack: System) -> dict[str, str]:
    """The address of each picture's page."""
    alice, office = stack.client("alice"), f"/offices/{stack.office_id}"
    batch = alice.get(f"/api{office}/batches").json["results"][0]["id"]
    failed = alice.get(f"/api{office}/jobs?status=failed").json["results"][0]["id"]
    schedule = alice.get("/api/schedules?name=weekday%20report").json["results"][0]["id"]
    workflow = alice.get("/api/workflows").json["results"][0]["id"]
    return {
        "monitor": "/",
        "batch": f"{office}/batches/{batch}",
        "jobs": f"{office}/jobs",
        "job": f"{office}/jobs/{failed}",
        "schedule": f"/schedules/{schedule}",
        "workflow": f"/workflows/{workflow}/edit#step-box-2",
        "exports": "/exports",
    }


def keep(name: str, png: bytes) -> None:
    small = Image.open(io.BytesIO(png)).convert("RGB").quantize(COLORS, dither=Image.Dither.NONE)
    path = FOLDER / f"{name}.png"
    small.save(path, optimize=True)
    print(f"{path.relative_to(CHECKOUT)}: {path.stat().st_size // 1024} KiB")


if __name__ == "__main__":
    sys.exit(main())
