"""A body is strict JSON; otherwise the error says what is wrong."""

import json

import pytest

from jobs.api.framework.strict_json import DEEPEST, InvalidJSON, loads


def nested(levels: int) -> bytes:
    return b"[" * levels + b"]" * levels


def test_valid_json_is_read():
    value = {"a": [1, -2.5, True, None, "한글 😀", {"b": {}}], "": 0, "big": 2**63 - 1, "small": -(2**63)}
    assert loads(json.dumps(value).encode()) == value
    assert loads(json.dumps(value, ensure_ascii=False).encode()) == value


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"", "Not valid JSON"),
        (b"{", "Not valid JSON"),
        (b"{'a': 1}", "Not valid JSON"),
        (b'{"a": 1} x', "Not valid JSON"),
        (b"\xff\xfe", "Not UTF-8"),
        (b'{"a": "\xed\xa0\x80"}', "Not UTF-8"),
        (b"\xef\xbb\xbf{}", "BOM"),
        (b'{"a": NaN}', "NaN is not a JSON number"),
        (b'{"a": [Infinity]}', "Infinity is not a JSON number"),
        (b'{"a": -Infinity}', "-Infinity is not a JSON number"),
        (b'{"a": 1e999}', "1e999 is too large"),
        (b'{"a": 9223372036854775808}', "does not fit in 64 bits"),
        (b'{"a": -9223372036854775809}', "does not fit in 64 bits"),
        (b'{"a": ' + b"9" * 5000 + b"}", "does not fit in 64 bits"),
        (b'{"a": 1, "b": 2, "a": 3}', 'The key "a" appears twice'),
        (b'[{"x": {"a": 1, "a": 1}}]', 'The key "a" appears twice'),
        (b'{"a": {"b": ["x", "\\u0000"]}}', "at the body.a.b[1] contains a NUL character"),
        (b'{"\\u0000": 1}', "a key of the body contains a NUL character"),
        (b'{"a": "\\ud800"}', "half of a surrogate pair"),
        (b'{"a": "\\uDFFF"}', "half of a surrogate pair"),
        (b'{"a": "\x00"}', "Not valid JSON"),
        (nested(DEEPEST + 1), "deeper than 32"),
        (nested(990), "deeper than 32"),
        (nested(100_000), "deeper than 32"),
        (b'{"a":' * 2000 + b"1" + b"}" * 2000, "deeper than 32"),
    ],
)
def test_invalid_json_is_rejected_with_a_reason(body, sentence):
    with pytest.raises(InvalidJSON, match=r"^.{1,200}$") as refusal:
        loads(body)
    assert sentence in str(refusal.value)


def test_json_with_the_maximum_nesting_is_read():
    assert loads(nested(DEEPEST)) is not None
    # Many brackets side by side are not deep.
    assert len(loads(b"[" + b"[]," * 1000 + b"[]]")) == 1001


def test_an_escaped_backslash_before_u0000_is_not_a_nul():
    assert loads(rb'{"a": "\\u0000"}') == {"a": "\\u0000"}


def test_a_surrogate_pair_is_one_character():
    assert loads(rb'{"a": "\ud83d\ude00"}') == {"a": "😀"}


def test_long_digits_in_a_text_or_a_fraction_are_read():
    assert loads(b'{"a": "99999999999999999999", "b": 0.12345678901234567890}')["a"] == "9" * 20


def test_a_large_flat_body_is_read():
    body = b'{"numbers": [' + b"1," * 500_000 + b"1]}"
    assert len(loads(body)["numbers"]) == 500_001
