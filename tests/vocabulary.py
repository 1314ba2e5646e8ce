"""Counts retired words: names and phrases that a plain, conventional term has replaced.

docs/concepts.md defines the terms. `tests/unit/test_vocabulary.py` fails when a file has more retired words
than `tests/vocabulary.json` allows it. `python -m tests.vocabulary [path ...]` lists them, and
`python -m tests.vocabulary --write` records today's counts.
"""

import ast
import io
import json
import re
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ALLOWED = Path(__file__).with_suffix(".json")
FOLDERS = ("config", "jobs", "scheduler", "exports", "workers", "tests", "docs", "sdk")
# The retired words stand here themselves.
EXEMPT = {"tests/vocabulary.py", "tests/unit/test_vocabulary.py"}

# Names that clients read keep a retired word: JSON keys, and the doctor's items.
WIRE_NAMES = {"canary_seconds", "canaries", "notices"}
# Words inside identifiers and module names, with what replaces them.
NAME_WORDS = {
    "bell": "pubsub, publish",
    "bells": "pubsub",
    "bury": "dead_letter",
    "buried": "dead_letter",
    "canary": "queue_probe",
    "canaries": "queue_probes",
    "deaf": "unresponsive",
    "doorbell": "message",
    "farewell": "stop policy",
    "goodbye": "deregister",
    "guardian": "watchdog",
    "handover": "an argument",
    "heal": "close_broken_connection",
    "heart": "lease_keeper",
    "hooked": "has_webhooks",
    "keepsake": "sanitized_copy",
    "ledger": "pidfile",
    "mend": "fix, repair",
    "mute": "unresponsive",
    "parcel": "batch",
    "parcels": "batches",
    "ring": "publish",
    "rung": "published",
    "seat": "membership, access",
    "sing": "queue_probe",
    "spared": "paused",
    "surely": "retry_while_down",
    "tally": "stats",
    "teller": "ProgressPipe",
    "thrift": "memory_budget",
    "voice": "log writer",
    "wish": "form, option",
    "wishes": "forms, options",
}
# Whole names of functions, variables and arguments: participles and pronouns say nothing.
NAMES = {
    "acting",
    "asked",
    "beside",
    "blamed",
    "chosen",
    "claiming",
    "found",
    "given",
    "hear",
    "heard",
    "known",
    "mended",
    "muxed",
    "one",
    "said",
    "shown",
    "told",
    "wanted",
    "written",
}
# In the product a verb or a noun names a function; a participle alone says neither what it does nor what it
# returns. A property may have one (`finished`), as an adjective. These only look like participles:
VERBS_AND_NOUNS = {"feed", "reseed", "seed", "warning"}
_PARTICIPLE = re.compile(
    r"_*(?:[a-z]+(?:ed|ing)|begun|built|caught|chosen|done|drawn|found|given|gone|heard|held|kept|known|left|lost"
    r"|made|met|paid|said|seen|sent|shown|taken|told|thrown|understood|woken|written)"
)
# In comments, docstrings, messages, templates, translations and documentation.
PHRASES = {
    r"bells?|doorbells?": "notification",
    r"canar(?:y|ies)": "queue probe",
    r"carr(?:y|ies|ied|ying) (?:(?:it|them|that|this|work) )?out": "run, execute",
    r"farewells?|goodbyes?": "stop policy, deregistration",
    r"guardian": "watchdog",
    r"heart": "lease keeper",
    r"keepsakes?": "sanitized copy",
    r"let(?:s|ting)? go of": "release, delete",
    r"made anew|made up": "recreated, backfilled",
    r"mend(?:s|ed|ing)?": "fix, repair",
    r"parcels?": "batch",
    r"put(?:s|ting)? aside": "quarantine, fail as poison",
    r"rings|rung|(?:is|be|to|must|will) ring": "publish, notify",
    r"sees? to it": "make sure",
    r"somebody": "a user, another process, ...",
    r"spared": "paused, backed off",
    r"stumbl(?:es?|ed|ing)": "fail",
    r"strangers": "third parties",
    r"the deaf": "unresponsive workers",
    r"the seeds?(?:'s)?": "the v1 contract",
    r"the walk|walks (?:forward|back|round|on)": "the steps, the queue",
    r"thrift": "memory budget",
    r"turn(?:s|ed|ing)? (?:back|round)": "roll back",
    r"(?:a|the|its|each|every|this|that|due|next|last|missed|first|of|such|which|no|these|those) turns?":
    "scheduled run, due time",
    r"whoever": "a subject",
}  # fmt: skip
_PHRASE = re.compile(
    rf"(?<![\w.\-/])(?:{'|'.join(PHRASES)})(?![\w\-/])(?! into| out\b| on\b| off\b)", re.IGNORECASE
)
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
_TEXT_SUFFIXES = {".md", ".html", ".txt", ".sql", ".js", ".css"}


@dataclass(frozen=True, order=True)
class Use:
    line: int
    text: str


def uses(path: Path) -> list[Use]:
    """The retired words of a file, by line."""
    relative = path.relative_to(ROOT)
    name = [Use(0, word) for part in relative.parts for word in _retired_words(Path(part).stem)]
    if path.suffix == ".py":
        in_tests = relative.parts[0] == "tests"
        return sorted([*name, *_python_uses(path.read_text(), participles=in_tests)])
    if path.suffix == ".po":
        return sorted([*name, *_prose(_message_ids(path.read_text()))])
    if path.suffix == ".sql":
        name += _sql_names(path.read_text())
    return sorted([*name, *_prose(path.read_text())])


def count() -> dict[str, int]:
    """The number of retired words of each file that has some."""
    counts = {str(path.relative_to(ROOT)): len(uses(path)) for path in files()}
    return {path: number for path, number in sorted(counts.items()) if number}


def files() -> Iterator[Path]:
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in _TEXT_SUFFIXES | {".py", ".po"} and _is_ours(path.relative_to(ROOT)):
                yield path
    yield from ROOT.glob("*.md")


def _is_ours(path: Path) -> bool:
    return str(path) not in EXEMPT and not {"migrations", "vendor", "__pycache__"} & set(path.parts)


def _retired_words(identifier: str) -> list[str]:
    if identifier in WIRE_NAMES:
        return []
    return [word for word in _WORD.findall(identifier) if word.lower() in NAME_WORDS]


def _sql_names(text: str) -> Iterator[Use]:
    for number, line in enumerate(text.splitlines(), 1):
        code, _, _ = line.partition("--")
        yield from (Use(number, word) for word in _retired_words(code))


def _prose(text: str, first_line: int = 1) -> Iterator[Use]:
    for match in _PHRASE.finditer(text):
        yield Use(first_line + text.count("\n", 0, match.start()), match.group())


def _python_uses(source: str, *, participles: bool) -> Iterator[Use]:
    # To find the comments takes far longer than to find nothing.
    if _PHRASE.search(source):
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                yield from _prose(token.string, token.start[0])
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield from _prose(node.value, node.lineno)
        for identifier in _defined_names(node):
            bad = [identifier] if identifier in NAMES else _retired_words(identifier)
            yield from (Use(node.lineno, f"{identifier} ({word})") for word in bad)  # type: ignore[attr-defined]
        if not participles and _is_named_by_participle(node):
            yield Use(node.lineno, f"{node.name} (a participle)")  # type: ignore[attr-defined]


def _is_named_by_participle(node: ast.AST) -> bool:
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node.name in VERBS_AND_NOUNS | NAMES:
        return False
    is_property = any("property" in ast.unparse(decorator) for decorator in node.decorator_list)
    return not is_property and bool(_PARTICIPLE.fullmatch(node.name))


def _defined_names(node: ast.AST) -> list[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
            return [name]
        case ast.arg(arg=name):
            return [name]
        case _:
            return []


def _message_ids(text: str) -> str:
    """The English of a catalogue, each line where it was; the translations are blank lines."""
    lines, is_id = [], False
    for line in text.splitlines():
        if line.startswith("msg"):
            is_id = line.startswith("msgid")
        lines.append(line if is_id and not line.startswith("#") else "")
    return "\n".join(lines)


def main(arguments: list[str]) -> None:
    if arguments == ["--write"]:
        ALLOWED.write_text(json.dumps(count(), indent=1) + "\n")
        return
    folders = [Path(argument).resolve() for argument in arguments] or [ROOT]
    for path in sorted(files()):
        if any(path.is_relative_to(folder) for folder in folders):
            for use in uses(path):
                print(f"{path.relative_to(ROOT)}:{use.line}: {use.text}")


if __name__ == "__main__":
    main(sys.argv[1:])
