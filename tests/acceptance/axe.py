"""Accessibility violations of a page, as axe-core reports them."""

from typing import Any

RULES = {"resultTypes": ["violations"], "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}


def violations(page: Any) -> list[str]:
    """The violations, each with its element."""
    from axe_playwright_python.sync_playwright import Axe

    results = Axe().run(page, options=RULES).response["violations"]
    return [
        f"{violation['id']}: {node['html'][:200]}" for violation in results for node in violation["nodes"]
    ]
