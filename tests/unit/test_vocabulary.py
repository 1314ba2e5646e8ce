"""Retired words are not used again: docs/concepts.md defines the terms that replaced them."""

import json

from tests import vocabulary


def test_no_file_has_more_retired_words_than_it_is_allowed():
    allowed = json.loads(vocabulary.ALLOWED.read_text())
    excess = {path: number for path, number in vocabulary.count().items() if number > allowed.get(path, 0)}
    listed = [
        f"{path}:{use.line}: {use.text}" for path in excess for use in vocabulary.uses(vocabulary.ROOT / path)
    ]
    assert not excess, "\n".join(["more retired words than tests/vocabulary.json allows:", *listed])


def test_retired_words_are_found_in_names_comments_docstrings_and_messages(tmp_path, monkeypatch):
    monkeypatch.setattr(vocabulary, "ROOT", tmp_path)
    path = tmp_path / "bells.py"
    path.write_text(
        '"""A doorbell."""\n\n\n'
        "def told(found, seat_of):  # whoever asks\n"
        '    raise ValueError("mend it, in turn")\n'
    )
    assert [use.line for use in vocabulary.uses(path)] == [0, 1, 4, 4, 4, 4, 5]


def test_a_function_of_the_product_is_not_named_by_a_participle(tmp_path, monkeypatch):
    monkeypatch.setattr(vocabulary, "ROOT", tmp_path)
    source = (
        "def _accepted(job): ...\nasync def matching(): ...\ndef sent(): ...\ndef feed(): ...\n"
        "class Row:\n    @property\n    def finished(self): ...\n    def skipped(self): ...\n"
    )
    (tmp_path / "tests").mkdir()
    for folder, lines in ((tmp_path, [1, 2, 3, 8]), (tmp_path / "tests", [])):
        path = folder / "rows.py"
        path.write_text(source)
        assert [use.line for use in vocabulary.uses(path)] == lines


def test_names_in_sql_are_searched(tmp_path, monkeypatch):
    monkeypatch.setattr(vocabulary, "ROOT", tmp_path)
    path = tmp_path / "engine.sql"
    path.write_text("SELECT 1;\nSELECT o.hooked, o.has_webhooks FROM offices AS o;\n")
    assert [use.line for use in vocabulary.uses(path)] == [2]


def test_only_the_english_of_a_translation_catalogue_is_searched(tmp_path, monkeypatch):
    monkeypatch.setattr(vocabulary, "ROOT", tmp_path)
    path = tmp_path / "django.po"
    path.write_text('msgid "The walk"\nmsgstr "The walk"\n')
    assert [use.line for use in vocabulary.uses(path)] == [1]
