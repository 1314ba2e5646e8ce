"""Stream messages: parsed, or refused with a reason."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exports import messages
from exports.messages import (
    BadMessage,
    Progress,
    Request,
    Result,
    parse_progress,
    parse_request,
    parse_result,
)
from exports.render.options import RenderOptions
from exports.states import JobType, Status

SUM = "ab" * 32


def raw(**fields: str) -> dict[bytes, bytes]:
    return {name.encode(): value.encode() for name, value in fields.items()}


def request(**changed: object) -> dict[bytes, bytes]:
    options = {
        "inputPath": "/r/1/a.jsonl",
        "outputPath": "/e/1/2/replay.mp4",
        "durationMs": 1000,
        "ownerId": 1,
        "createdAt": "2026-11-18T09:00:00+09:00",
    }
    return raw(jobId="2", jobType="MP4", replayId="3", options=json.dumps(options | changed))


def test_our_own_messages_are_parsed_again() -> None:
    for message, parse in (
        (Request(7, JobType.MP4, 3, "/in", "/out", None, 5, "2026-11-18T09:00:00+09:00"), parse_request),
        (
            Request(7, JobType.GIF, 3, "/in", "/out", 9, 5, "now", RenderOptions("360p", 5, 0, 9)),
            parse_request,
        ),
        (Progress(7, 40, "RENDERING", "골"), parse_progress),
        (Result(7, Status.SUCCEEDED, "/e/1/7/a.mp4", SUM), parse_result),
        (Result(7, Status.FAILED, error_code="DISK_FULL", error_message="Free some space."), parse_result),
    ):
        assert parse(raw(**message.fields())) == message


def test_every_field_on_the_wire_is_a_flat_string() -> None:
    fields = Request(7, JobType.THUMBNAIL, 3, "/in", "/out", 10, 5, "now").fields()
    assert set(fields) == {"jobId", "jobType", "replayId", "options"}
    assert all(isinstance(value, str) for value in fields.values())
    assert set(json.loads(fields["options"])) == {
        "inputPath",
        "outputPath",
        "durationMs",
        "ownerId",
        "createdAt",
    }


def test_only_the_options_that_are_set_are_on_the_wire() -> None:
    some = RenderOptions("720p", from_ms=0, to_ms=9, sound=False)
    fields = Request(7, JobType.WEBM, 3, "/in", "/out", 10, 5, "now", some).fields()
    options = json.loads(fields["options"])
    assert {name: options.get(name) for name in ("resolution", "fps", "fromMs", "toMs", "sound")} == {
        "resolution": "720p",
        "fps": None,
        "fromMs": 0,
        "toMs": 9,
        "sound": False,
    }
    assert "fps" not in options


@pytest.mark.parametrize(
    "wrong",
    [
        {"resolution": "9p"},
        {"resolution": ["360p"]},
        {"fps": "30"},
        {"fromMs": -1},
        {"toMs": 1.5},
        {"sound": 0},
    ],
)
def test_an_invalid_option_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(BadMessage, match=f"options.{next(iter(wrong))}"):
        parse_request(request(**wrong))


@pytest.mark.parametrize("job_id", ["", "0", "-1", "1.0", "1e3", "٣", " 1", "9" * 19, "9" * 5000, "null"])
def test_an_invalid_job_id_is_refused(job_id: str) -> None:
    with pytest.raises(BadMessage, match="jobId"):
        parse_progress(raw(jobId=job_id, progress="1"))


@pytest.mark.parametrize("progress", ["", "101", "-1", "50.5", "NaN", "half"])
def test_progress_outside_0_to_100_is_refused(progress: str) -> None:
    with pytest.raises(BadMessage, match="progress"):
        parse_progress(raw(jobId="1", progress=progress))


@pytest.mark.parametrize("status", ["", "RUNNING", "QUEUED", "succeeded", "DONE"])
def test_a_result_needs_a_terminal_status(status: str) -> None:
    with pytest.raises(BadMessage, match="status"):
        parse_result(raw(jobId="1", status=status))


@pytest.mark.parametrize("checksum", ["", "abc", "g" * 64, SUM + "0"])
def test_success_needs_a_sha_256(checksum: str) -> None:
    with pytest.raises(BadMessage, match="checksum"):
        parse_result(raw(jobId="1", status="SUCCEEDED", resultUri="/e/a", checksum=checksum))


def test_a_checksum_may_say_its_kind_and_be_in_capitals() -> None:
    result = parse_result(
        raw(jobId="1", status="SUCCEEDED", resultUri="/e/a", checksum="SHA256:" + SUM.upper())
    )
    assert result.checksum == SUM


def test_success_needs_a_result_uri() -> None:
    with pytest.raises(BadMessage, match="resultUri"):
        parse_result(raw(jobId="1", status="SUCCEEDED", checksum=SUM))


def test_a_message_too_large_or_of_too_many_fields_is_refused() -> None:
    with pytest.raises(BadMessage, match="larger"):
        parse_progress(raw(jobId="1", progress="1", extra="x" * 70_000))
    with pytest.raises(BadMessage, match="fields"):
        parse_progress(raw(jobId="1", progress="1", **{f"f{n}": "" for n in range(20)}))


def test_bytes_that_are_not_utf8_are_refused() -> None:
    with pytest.raises(BadMessage, match="UTF-8"):
        parse_progress({b"jobId": b"1", b"progress": b"\xff"})


@pytest.mark.parametrize("text", ["a\x00b", "line\nline", "\x1b[31mred", "x" * 1001])
def test_a_text_that_would_break_a_log_line_is_refused(text: str) -> None:
    with pytest.raises(BadMessage, match="message"):
        parse_progress(raw(jobId="1", progress="1", message=text))


@pytest.mark.parametrize("options", ["", "[]", "null", "{", "[" * 100_000, '{"inputPath": 5}', "{}"])
def test_invalid_options_are_refused(options: str) -> None:
    fields = request()
    fields[b"options"] = options.encode()[:60_000]
    with pytest.raises(BadMessage, match="options"):
        parse_request(fields)


@pytest.mark.parametrize(
    "changed", [{"ownerId": "1"}, {"ownerId": True}, {"durationMs": -1}, {"outputPath": "a\x00"}]
)
def test_an_option_of_the_wrong_type_is_refused(changed: dict[str, object]) -> None:
    with pytest.raises(BadMessage, match=f"options.{next(iter(changed))}"):
        parse_request(request(**changed))


@given(st.dictionaries(st.binary(max_size=80), st.binary(max_size=200), max_size=20))
def test_any_message_is_parsed_or_refused_and_can_be_stored(fields: dict[bytes, bytes]) -> None:
    for parse in (parse_request, parse_progress, parse_result):
        with pytest.raises(BadMessage):
            parse(fields)
    kept, _ = messages.sanitized_copy(fields)
    json.dumps(kept).encode()
    assert "\x00" not in "".join(kept) + "".join(kept.values())


def test_a_sanitized_copy_is_complete_unless_it_was_cut() -> None:
    assert messages.sanitized_copy(raw(jobId="1", message="골")) == ({"jobId": "1", "message": "골"}, True)
    assert messages.sanitized_copy(raw(message="x" * 5000))[1] is False
    assert messages.sanitized_copy({b"a": b"\x00"}) == ({"a": "\\x00"}, False)
