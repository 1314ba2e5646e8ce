"""The index moves to the front, and its offsets lead to the same bytes."""

import io
import struct

import pytest

from exports.render.faststart import Reordered, index_first


def box(kind: bytes, *content: bytes) -> bytes:
    body = b"".join(content)
    return struct.pack(">I4s", 8 + len(body), kind) + body


def video_file(table: bytes, offsets: list[int], data: bytes = b"0123456789") -> bytes:
    form = "I" if table == b"stco" else "Q"
    chunks = box(table, struct.pack(f">II{len(offsets)}{form}", 0, len(offsets), *offsets))
    trak = box(
        b"trak", box(b"tkhd", b"x" * 20), box(b"mdia", box(b"minf", box(b"stbl", box(b"stsz", b"y"), chunks)))
    )
    return (
        box(b"ftyp", b"isom")
        + box(b"free")
        + box(b"mdat", data)
        + box(b"moov", box(b"mvhd", b"z"), trak, trak)
    )


def offsets_of(data: bytes, table: bytes) -> list[list[int]]:
    boxes, at = [], 0
    while (at := data.find(table, at)) >= 0:
        (count,) = struct.unpack_from(">I", data, at + 8)
        boxes.append(list(struct.unpack_from(f">{count}{'I' if table == b'stco' else 'Q'}", data, at + 12)))
        at += 4
    return boxes


@pytest.mark.parametrize("table", [b"stco", b"co64"])
def test_chunk_offsets_lead_to_the_same_bytes(table: bytes) -> None:
    plain = video_file(table, [28, 31, 36])
    assert plain[28:31] == b"012"
    reader, data = index_first(io.BytesIO(plain)), b""
    while chunk := reader.read(7):
        data += chunk
    assert len(data) == len(plain)
    assert data.index(b"moov") < data.index(b"mdat")
    for offsets in offsets_of(data, table):
        assert [data[at : at + 1] for at in offsets] == [b"0", b"3", b"8"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x89PNG\r\n",
        bytes(40),
        box(b"ftyp", b"isom") + box(b"moov") + box(b"mdat", b"x"),
        box(b"ftyp", b"isom") + box(b"mdat", b"x"),
        video_file(b"stco", [2**32 - 1]),
    ],
)
def test_a_file_without_a_movable_index_stays_as_it_is(content: bytes) -> None:
    source = io.BytesIO(content)
    assert index_first(source) is source
    assert source.read() == content


def test_pieces_are_read_in_order_in_steps_of_any_size() -> None:
    source = io.BytesIO(b"abcdefghij")
    for step in (1, 2, 3, 100):
        reader, seen = Reordered(source, [(0, 2), b"", b"XYZ", (5, 3)]), b""
        while chunk := reader.read(step):
            seen += chunk
        assert seen == b"abXYZfgh"
