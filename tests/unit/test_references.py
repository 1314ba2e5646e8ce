"""References in arguments: found, refused when malformed, and replaced by the values at their paths."""

import pytest

from jobs.references import MalformedReference, MissingValue, Reference, find_references, replace_references

VALUE = {"rows": [{"id": 7}, {"id": 8}], "0": "a key", "none": None}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("", VALUE),
        ("rows", VALUE["rows"]),
        ("rows.1.id", 8),
        ("rows.-1.id", 8),
        ("0", "a key"),
        ("none", None),
    ],
)
def test_a_path_leads_through_objects_and_lists(path, value):
    assert Reference("a", path).follow(VALUE) == value


@pytest.mark.parametrize("path", ["row", "rows.2", "rows.x", "rows.0.id.x", "none.x", "rows..id", "."])
def test_a_path_to_nothing_is_missing_and_named(path):
    with pytest.raises(MissingValue, match=r"\$result a"):
        Reference("a", path).follow(VALUE)


@pytest.mark.parametrize(
    "value",
    [
        {"$result": "a", "other": 1},
        {"$result": 3},
        {"$result": ""},
        {"$result": "a", "path": 3},
        {"$input": 3},
        {"$input": "a", "path": "b"},
        {"$input": "a", "$result": "b"},
    ],
)
def test_a_malformed_reference_is_refused_wherever_it_stands(value):
    with pytest.raises(MalformedReference):
        list(find_references({"deep": [{"in": value}]}))


def test_all_references_are_found_and_replaced_and_nothing_else_changes():
    args = {
        "a": {"$result": "x", "path": "y"},
        "b": [1, {"$input": "m"}, {"c": {"$result": "z"}}],
        "d": {"path": "no reference"},
    }
    assert list(find_references(args)) == [Reference("x", "y"), Reference("", "m"), Reference("z", "")]
    assert replace_references(args, str) == {
        "a": "$result x, path 'y'",
        "b": [1, "$input, path 'm'", {"c": "$result z"}],
        "d": {"path": "no reference"},
    }
