"""What is refused in English is told in the reader's language: every sentence of the code is known."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.utils import translation

from exports.results import failure
from exports.states import ErrorCode
from jobs.pages import refusals
from jobs.states import FailureType

ROOT = Path(__file__).resolve().parents[2]
SAYS = {"BadReplay", "_unreadable"}


def sentences(path: Path) -> Iterator[str]:
    """Of each refusal the text, with a 7 for every value in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and node.args and _name(node.func) in SAYS:
            text = node.args[0]
            if isinstance(text, ast.Constant):
                yield str(text.value)
            elif isinstance(text, ast.JoinedStr):
                yield "".join(
                    str(part.value) if isinstance(part, ast.Constant) else "7" for part in text.values
                )


def _name(function: ast.expr) -> str:
    return function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")


REPLAYS = sorted(
    {
        sentence
        for path in (ROOT / "exports").rglob("*.py")
        for sentence in sentences(path)
        if sentence != "7: 7."  # it is put together there of two others
    }
)


def test_the_sentences_are_found() -> None:
    assert len(REPLAYS) > 40


@pytest.mark.parametrize("sentence", REPLAYS)
def test_what_is_said_of_a_replay_is_known(sentence: str) -> None:
    # Where a value stands for "Line 3: name", it is the place of what follows it.
    placed = f"Line 7: name{sentence[1:]}" if sentence.startswith("7 ") else sentence
    placed = f"Line 7: player 7{sentence[1:]}" if sentence.startswith("7: ") else placed
    known = [one for one in (placed, placed.replace("name ", "", 1), f"{sentence}: reason.") if _told(one)]
    assert known, sentence


def _told(sentence: str) -> bool:
    with translation.override("ko"):
        said = refusals.in_words(sentence)
    return bool(said) and not any(word in said for word in (" must ", " is ", " the "))


@pytest.mark.parametrize("kind", [FailureType.TIMEOUT, FailureType.POISON, FailureType.ERROR])
def test_why_an_export_failed_is_known(kind: str) -> None:
    assert _told(failure(kind, "ValueError")[1])


def test_a_code_in_front_is_not_part_of_the_sentence() -> None:
    code, sentence = failure(
        FailureType.INVALID_ARGS, "DISK_FULL: No space is left for the export. Free some."
    )
    assert code == ErrorCode.DISK_FULL
    assert _told(sentence)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("numbers: Field required", "numbers: 필수 항목입니다."),
        (
            "Line 3: player 2: name is longer than 40 characters.",
            "3번째 줄: 2번째 플레이어: name: 40자보다 깁니다.",
        ),
        (
            "minute: 61 is out of range; allowed: 0-59.",
            "분: 61은(는) 범위를 벗어났습니다. 허용: 0-59.",
        ),
        ("Input should be 'GET' or 'POST'", "다음 중 하나여야 합니다: 'GET' or 'POST'."),
        ("nobody: has ever said this", "nobody: has ever said this"),
    ],
)
def test_places_and_values_stay(said: str, told: str) -> None:
    with translation.override("ko"):
        assert refusals.told(said) == told


def test_of_arguments_each_problem_is_told() -> None:
    with translation.override("ko"):
        told = refusals.all_told({"args": ["a: Field required; b: Extra inputs are not permitted"]})
    assert [one.partition(": ")[0] for one in told["args"]] == ["a", "b"]
    assert not any("required" in one or "permitted" in one for one in told["args"])
