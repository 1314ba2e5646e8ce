"""What is refused in English is told in the reader's language: every sentence of the code is known."""

import pytest
from django.utils import translation

from jobs.pages import refusals


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("numbers: Field required", "numbers: 필수 항목입니다."),
        ("Input should be 'GET' or 'POST'", "다음 중 하나여야 합니다: 'GET' or 'POST'."),
        ("nobody: has ever said this", "nobody: has ever said this"),
    ],
)
def test_places_and_values_stay(said: str, told: str) -> None:
    with translation.override("ko"):
        assert refusals.told(said) == told
