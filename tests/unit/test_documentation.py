"""The documentation matches the code: variables, dependencies, links, and both languages."""

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from config.health import CHECKS, OTHER_PROCESSES
from dure.failures import FailureType
from jobs.insight.reasons import Code
from tests.workers import ROOT

PACKAGES = ("config", "jobs", "scheduler", "exports", "workers")
READERS = (
    "text", "flag", "integer", "port", "seconds", "words", "choice", "folder", "postgres", "redis", "issuer",
)  # fmt: skip
# Set by one of our processes for another.
OURS = {"DURE_EMBEDDED_VARIABLES", "DJANGO_SETTINGS_MODULE", "PATH"}
# Read by programs that we start, not by our Python.
FOREIGN = {"PYTHON", "REMAP_SIGTERM", "POSTGRES_PASSWORD", "REDIS_PASSWORD", "DURE_IMAGE"}
PAGES = [
    ROOT / "README.md",
    ROOT / "README.ko.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
# Each Korean page, and the English one.
TRANSLATIONS = {
    ROOT / "README.ko.md": ROOT / "README.md",
    **{page: ROOT / "docs" / page.name for page in sorted((ROOT / "docs" / "ko").glob("*.md"))},
}
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


# --- docs/configuration.md -------------------------------------------------------------------------


def documented() -> dict[str, str]:
    """Each documented variable and its default."""
    text = (ROOT / "docs" / "configuration.md").read_text()
    rows = re.findall(r"^\| `([A-Z][A-Z0-9_]+)` \| (.*?) \|", text, re.MULTILINE)
    assert len(rows) == len({name for name, _ in rows}), "a variable stands there twice"
    return dict(rows)


def calls() -> Iterator[tuple[Path, ast.Call]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Call) and node.args:
                    yield path, node


def is_reader(function: ast.expr) -> bool:
    """`env.text(…)` and its like, and `os.environ.get(…)`."""
    match function:
        case ast.Attribute(value=ast.Name(id="env"), attr=attr):
            return attr in READERS
        case ast.Attribute(value=ast.Attribute(attr="environ") | ast.Name(id="environment"), attr="get"):
            return True
    return False


@cache
def read_by_the_code() -> dict[str, ast.Call]:
    readers: dict[str, ast.Call] = {}
    for _, call in calls():
        match call.args[0]:
            case ast.Constant(value=str(name)) if is_reader(call.func):
                # A call with a default says more.
                if name not in readers or len(call.args) > len(readers[name].args):
                    readers[name] = call
    return readers


def read_by_the_procfile() -> set[str]:
    return set(re.findall(r"\$\{(\w+)", (ROOT / "Procfile").read_text()))


def as_documented(value: object) -> str:
    match value:
        case bool():
            return f"`{str(value).lower()}`"
        case int() | float():
            return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"
        case tuple():
            return f"`{','.join(value)}`" if value else "none"
    return f"`{value}`" if value else "none"


def literal(node: ast.expr) -> object:
    """The default if it is a constant; None for other expressions."""
    names = {sub.id for sub in ast.walk(node) if isinstance(sub, ast.Name)}
    if names or any(isinstance(sub, (ast.Call, ast.JoinedStr, ast.IfExp)) for sub in ast.walk(node)):
        return None
    return eval(compile(ast.Expression(node), "default", "eval"), {})


def test_every_variable_that_is_read_is_documented_and_nothing_else():
    read = {name for name in read_by_the_code() if name.isupper()} | read_by_the_procfile()
    assert read - OURS - documented().keys() == set(), "not documented"
    assert documented().keys() - FOREIGN - read - {"DURE_DEMO_USERS"} == set(), "documented, and never read"


def test_the_search_finds_what_the_settings_read():
    assert {
        "DURE_LEASE_SECONDS",
        "DATABASE_URL",
        "HOST",
        "FLOWER_PORT",
        "NO_COLOR",
    } <= read_by_the_code().keys()


def test_defaults_are_documented_as_they_are():
    documented_defaults = documented()
    checked = 0
    for name, call in read_by_the_code().items():
        if name in OURS or len(call.args) < 2:
            continue
        if (value := literal(call.args[1])) is not None:
            assert documented_defaults[name] == as_documented(value), name
            checked += 1
    assert checked > 30


def test_the_refusals_of_production_are_documented():
    text = (ROOT / "docs" / "configuration.md").read_text().split("## What production refuses")[1]
    settings = (ROOT / "config" / "settings.py").read_text()
    refusals = settings.split("_missing = [")[1].split("if _missing")[0]
    for variable in set(re.findall(r'"((?:DURE|DATABASE|REDIS|FLOWER)_\w+)', refusals)):
        assert f"`{variable}`" in text, variable


# --- docs/dependencies.md --------------------------------------------------------------------------


def requirements() -> Iterator[str]:
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text())
    for group in (pyproject["project"]["dependencies"], *pyproject["dependency-groups"].values()):
        for line in group:
            yield re.split(r"[\[<>=~!; ]", line)[0]


def test_every_direct_dependency_has_its_reason():
    text = (ROOT / "docs" / "dependencies.md").read_text().split("## Rejected alternatives")[0]
    named = set(re.findall(r"^\| `([a-z0-9_-]+)` \| \S", text, re.MULTILINE))
    assert set(requirements()) == named


# --- the Korean pages --------------------------------------------------------------------------------


def outline(path: Path) -> list[int]:
    """The level of each heading."""
    return [len(marks) for marks in re.findall(r"^(#+) ", FENCE.sub("", path.read_text()), re.MULTILINE)]


def fences(path: Path) -> list[str]:
    return [re.sub(r"\s*# .*", "", fence) for fence in FENCE.findall(path.read_text())]


def tables(path: Path) -> list[int]:
    """The number of columns of each row of each table."""
    return [line.count("|") for line in FENCE.sub("", path.read_text()).splitlines() if line.startswith("|")]


def targets(path: Path) -> list[Path]:
    """The files that a page links to, as its English form does."""
    files = [
        (path.parent / link).resolve()
        for link in re.findall(r"\]\(([^)#]+)", FENCE.sub("", path.read_text()))
    ]
    return sorted(TRANSLATIONS.get(file, file) for file in files)


@pytest.mark.parametrize("korean", TRANSLATIONS, ids=lambda page: page.name)
def test_a_korean_page_has_the_sections_commands_tables_links_and_pictures_of_the_english(korean):
    english = TRANSLATIONS[korean]
    assert outline(english) == outline(korean)
    assert fences(english) == fences(korean)
    assert fences(english)
    assert tables(english) == tables(korean)
    assert targets(english) == targets(korean)


# --- docs/architecture.md ----------------------------------------------------------------------------


def test_the_files_and_tests_that_are_named_exist():
    text = FENCE.sub("", (ROOT / "docs" / "architecture.md").read_text())
    files = re.findall(r"`((?:jobs|scheduler|exports|workers|config|tests)/[\w/]+\.(?:py|sql))`", text)
    assert len(files) > 10
    assert [file for file in files if not (ROOT / file).exists()] == []
    tests = set(re.findall(r"`(?:tests/\w+/)?(test_\w+)`", text))
    assert len(tests) > 10
    assert tests - {path.stem for path in (ROOT / "tests").rglob("test_*.py")} == set()


# --- docs/troubleshooting.md -------------------------------------------------------------------------


def test_each_reason_failure_and_missing_part_has_its_row():
    text = (ROOT / "docs" / "troubleshooting.md").read_text()
    for name in (*Code, *FailureType, *CHECKS, *OTHER_PROCESSES):
        assert f"`{name}`" in text, name


# --- all of them -----------------------------------------------------------------------------------


def anchors(path: Path) -> set[str]:
    """The anchors that GitHub makes of headings."""
    titles = re.findall(r"^#+ (.*)$", FENCE.sub("", path.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_each_block_of_commands_is_tested_or_says_why_not(page):
    """tests/acceptance/test_docs_commands.py and its neighbours run those that are tested."""
    marks = re.findall(r"^(.*)\n```sh$", page.read_text(), re.MULTILINE)
    assert [mark for mark in marks if not re.fullmatch(r"<!-- (tested|not tested: .+) -->", mark)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_file_or_a_section_leads_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)|<img src=\"([^\"]+)\"", FENCE.sub("", page.read_text())):
        address = target[0] or target[1]
        if re.match(r"[a-z]+:", address):
            continue
        file, _, section = address.partition("#")
        path = (page.parent / file).resolve() if file else page
        assert path.exists(), address
        if section and path.suffix == ".md":
            assert section in anchors(path), address
