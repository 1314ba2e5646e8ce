"""Every text of the pages has a Korean translation in the compiled catalogue."""

import ast
import gettext
import re
from pathlib import Path

from django.conf import settings

FOLDER = Path(settings.BASE_DIR) / "config" / "locale" / "ko" / "LC_MESSAGES"
APPS = ("config", "jobs", "scheduler", "exports", "workers")
IN_TEMPLATES = re.compile(r"{%\s*translate\s+(\"[^\"]*\"|'[^']*')")
BLOCKS = re.compile(r"{%\s*blocktranslate[^%]*%}(.*?){%\s*(?:plural|endblocktranslate)\s*%}", re.DOTALL)
NAMES = {"_", "gettext", "gettext_lazy", "ngettext"}


def compiled() -> dict[str, str]:
    with (FOLDER / "django.mo").open("rb") as file:
        result = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]
    # The key of a plural is its message and a number.
    return {key if isinstance(key, str) else key[0]: text for key, text in result.items()}


def texts_in_templates() -> set[str]:
    result = set()
    for app in APPS:
        for file in Path(settings.BASE_DIR, app).rglob("*.html"):
            text = file.read_text()
            result |= {quoted[1:-1] for quoted in IN_TEMPLATES.findall(text)}
            result |= {re.sub(r"{{ (\w+) }}", r"%(\1)s", block) for block in BLOCKS.findall(text)}
    return result


def texts_in_code() -> set[str]:
    result = set()
    for app in APPS:
        for file in Path(settings.BASE_DIR, app).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in NAMES:
                    first = node.args[0] if node.args else None
                    if isinstance(first, ast.Constant) and isinstance(first.value, str):
                        result.add(first.value)
    return result


def test_every_text_of_pages_and_mails_has_a_korean_translation():
    translated = compiled()
    source_texts = texts_in_templates() | texts_in_code()
    assert len(source_texts) > 200, "the texts were not found"
    assert sorted(source_texts - {message for message, text in translated.items() if text}) == []


def test_every_translation_is_of_a_text_that_is_shown():
    assert sorted(set(compiled()) - {""} - texts_in_templates() - texts_in_code()) == []


def test_the_compiled_catalogue_is_up_to_date():
    source = (FOLDER / "django.po").read_text()
    translated = compiled()
    texts = re.findall(r'^msgstr(?:\[0\])? "(.+)"$', source, re.MULTILINE)
    assert len(texts) > 200
    missing = set(texts) - {text.replace('"', '\\"').replace("\n", "\\n") for text in translated.values()}
    assert missing == set()


def test_a_translation_keeps_every_placeholder():
    for message, text in compiled().items():
        if message:
            assert set(re.findall(r"%\(\w+\)s", text)) == set(re.findall(r"%\(\w+\)s", message)), message


# Two words for one thing, or two particles for the reader to choose from.
REFUSED_IN_KOREAN = re.compile(
    r"을\(를\)|이\(가\)|은\(는\)|과\(와\)|와\(과\)|\(으\)로|스텝|섬네일|인수[ ,를로가]|일시 정지|계기|Task"
)


def test_korean_has_one_word_for_one_thing_and_no_pair_of_particles():
    assert [text for text in compiled().values() if REFUSED_IN_KOREAN.search(text)] == []
