"""Retired words are not used again: docs/concepts.md defines the terms that replaced them."""

import json

import pytest

from tests import vocabulary


def test_no_file_has_more_retired_words_than_it_is_allowed():
    allowed = json.loads(vocabulary.ALLOWED.read_text())
    excess = {path: number for path, number in vocabulary.count().items() if number > allowed.get(path, 0)}
    listed = [
        f"{path}:{use.line}: {use.text}" for path in excess for use in vocabulary.uses(vocabulary.ROOT / path)
    ]
    assert not excess, "\n".join(["more retired words than tests/vocabulary.json allows:", *listed])


PYTHON = '''"""A doorbell."""


def told(found, seat_of):  # whoever asks
    raise ValueError("mend it, in turn")
'''
PARTICIPLES = """
def _accepted(job): ...
async def matching(): ...
def sent(): ...
def feed(): ...
class Row:
    @property
    def finished(self): ...
    def skipped(self): ...
"""


@pytest.mark.parametrize(
    ("name", "source", "lines"),
    [
        ("bells.py", PYTHON, [0, 1, 4, 4, 4, 4, 5]),
        ("rows.py", PARTICIPLES, [2, 3, 4, 9]),
        ("tests/rows.py", PARTICIPLES, []),
        ("engine.sql", "SELECT 1;\nSELECT o.hooked, o.has_webhooks FROM offices AS o;\n", [2]),
        ("django.po", 'msgid "The walk"\nmsgstr "The walk"\n', [1]),
    ],
)
def test_retired_words_are_found_where_they_count(tmp_path, monkeypatch, name, source, lines):
    """In names, comments, docstrings and messages; a function of the product is not named by a participle."""
    monkeypatch.setattr(vocabulary, "ROOT", tmp_path)
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(source)
    assert [use.line for use in vocabulary.uses(path)] == lines
