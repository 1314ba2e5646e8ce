"""Accessibility violations of a page, as axe-core reports them."""

from functools import cache
from typing import Any

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
# Those that a change of colours alone may break.
RULES_OF_COLOURS = ["color-contrast", "link-in-text-block"]
RUN = """async rules => (await axe.run({resultTypes: ["violations"], runOnly: rules})).violations.flatMap(
  violation => violation.nodes.map(node => `${violation.id}: ${node.html.slice(0, 200)}`))"""


@cache
def script() -> str:
    from axe_playwright_python.sync_playwright import Axe

    return str(Axe().axe_script)


def violations(page: Any, rules: list[str] = RULES) -> list[str]:
    """The violations, each with its element."""
    if page.evaluate("typeof axe === 'undefined'"):
        page.evaluate(script())
    return list(page.evaluate(RUN, rules))
