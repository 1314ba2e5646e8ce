"""The tool that takes the pictures of the docs says what it needs, before it starts anything."""

from pathlib import Path

from tests import pictures


def a_program(folder: Path, name: str, output: str = "") -> None:
    program = folder / name
    program.write_text(f"#!/bin/sh\nprintf '%s' '{output}'\n")
    program.chmod(0o755)


def test_pictures_are_refused_without_a_korean_font(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert pictures.main() == 1
    assert "There is no Chromium here" in capsys.readouterr().err
    a_program(tmp_path, "chromium")
    assert pictures.main() == 1
    assert "There is no Korean font here" in capsys.readouterr().err
    a_program(tmp_path, "fc-list")
    assert pictures.main() == 1
    assert "There is no Korean font here" in capsys.readouterr().err
    a_program(tmp_path, "fc-list", "/fonts/NanumGothic.ttf: NanumGothic")
    assert pictures.has_korean_font()
