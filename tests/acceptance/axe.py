"""Accessibility violations of a page, as axe-core reports them."""

from collections.abc import Mapping
from functools import cache
from typing import Any

STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
COLOUR_RULES = ["color-contrast", "link-in-text-block"]
# The options of axe.run for all rules, for those that look at colours, and for the others.
ALL: Mapping[str, Any] = {"runOnly": STANDARDS}
COLOURS: Mapping[str, Any] = {"runOnly": COLOUR_RULES}
ELEMENTS: Mapping[str, Any] = ALL | {"rules": {rule: {"enabled": False} for rule in COLOUR_RULES}}
RUN = """async options => (
  await axe.run({resultTypes: ["violations"], selectors: false, ...options})
).violations.flatMap(
  violation => violation.nodes.map(node => `${violation.id}: ${node.html.slice(0, 200)}`))"""

# Until then an element has a colour between those of the two schemes.
END_TRANSITIONS = """() => document.getAnimations()
  .filter(each => each instanceof CSSTransition).forEach(each => each.finish())"""


@cache
def script() -> str:
    from axe_playwright_python.sync_playwright import Axe

    return str(Axe().axe_script)


def violations(page: Any, options: Mapping[str, Any] = ALL) -> list[str]:
    """The violations, each with its element."""
    if page.evaluate("typeof axe === 'undefined'"):
        page.evaluate(script())
    return list(page.evaluate(RUN, options))


def violations_in_the_dark(page: Any) -> list[str]:
    """Those of an open page that is light: a scheme changes colours only."""
    texts = violations_in(page, "dark")
    page.emulate_media(color_scheme="light")
    return texts


def violations_in(page: Any, scheme: str) -> list[str]:
    """Those of the colours, when the open page has changed to this scheme."""
    page.emulate_media(color_scheme=scheme)
    page.evaluate(END_TRANSITIONS)
    return violations(page, COLOURS)
