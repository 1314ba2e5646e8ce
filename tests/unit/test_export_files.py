"""Access to files: bad paths, links and swaps; placing a result."""

import hashlib
import io
import os
import threading
import time
from pathlib import Path

import pytest

from exports.files import AlreadyThere, PathRefused, Store, checksum, split

ROOT = Path("/srv/exports")
PLACE = ("1", "2", "a.mp4")
BAD_NAMES = [
    *(".", "..", "/", "//", "./.", "a/./b", "a//b", "a/", "a.", "a./b", ".hidden", "a/.part"),
    *("../x", "a/../../b", "..%2fx", "%2e%2e/x", "%252e%252e%252fx", "..\\x", "a\\..\\x", "C:\\x"),
    *("/etc/passwd", "//etc/passwd", "/proc/self/environ"),
    *("/srv", "/srv/exports", "/srv/exports/", "/srv/exports-evil/x", "/srv/exportsx", "/srv/exports/../x"),
    *("file:///srv/exports/../x", "http://host/x"),
]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    root = tmp_path / "exports"
    (root / "1" / "2").mkdir(parents=True)
    return Store(root)


def put(store: Store, *parts: str, content: bytes = b"film") -> Path:
    path = store.root.joinpath(*parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("name", ["/srv/exports/1/2/a.mp4", "1/2/a.mp4", "결과/영상 1.mp4"])
def test_a_plain_name_below_the_root_is_split_into_its_components(name: str) -> None:
    assert split(ROOT, name) == tuple(name.removeprefix("/srv/exports/").split("/"))


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_suspect_name_is_refused(name: str) -> None:
    with pytest.raises(PathRefused):
        split(ROOT, name)


@pytest.mark.parametrize(
    "codes",
    [
        [],
        [0x61, 0x00, 0x62],  # NUL
        [0x61, 0x0A, 0x62],  # a line break
        [0x61, 0x20],  # a space at the end
        [0xFF0E, 0xFF0E, 0x2F, 0x78],  # full-width dots
        [0x2024, 0x2024, 0x2F, 0x78],  # one-dot leaders
        [0x61, 0xFFFD, 0x62],  # what an overlong encoding decodes to
        [0xD800],  # half of a pair
        [0x202E, 0x61],  # right-to-left override
        [0x78] * 5000,
        [0x79] * 300,
    ],
)
def test_a_name_of_suspect_characters_is_refused(codes: list[int]) -> None:
    with pytest.raises(PathRefused):
        split(ROOT, "".join(map(chr, codes)))


def test_a_plain_file_is_opened(store: Store) -> None:
    put(store, *PLACE)
    with store.open(PLACE) as file:
        assert file.read() == b"film"


def test_a_missing_file_is_missing_and_not_refused(store: Store) -> None:
    for parts in (PLACE, ("no", "such", "folder")):
        with pytest.raises(FileNotFoundError):
            store.open(parts)


def test_a_file_other_than_a_plain_one_with_one_name_is_refused(store: Store, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"secret")
    folder = store.root / "1" / "2"
    (folder / "link").symlink_to(secret)
    (folder / "dangling").symlink_to(tmp_path / "nothing")
    (folder / "folder").mkdir()
    os.mkfifo(folder / "fifo")
    os.link(secret, folder / "hard")
    (store.root / "away").symlink_to(tmp_path)
    for parts in (
        *[("1", "2", n) for n in ("link", "dangling", "folder", "fifo", "hard")],
        ("away", "secret"),
    ):
        with pytest.raises(PathRefused):
            store.open(parts)


def test_a_fifo_does_not_block_the_caller(store: Store) -> None:
    os.mkfifo(store.root / "1" / "2" / "fifo")
    with pytest.raises(PathRefused):  # an open that blocks would wait for a writer for ever
        store.open(("1", "2", "fifo"))


def test_a_file_swapped_for_a_link_is_never_followed_in_10000_tries(store: Store, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"secret")
    folder = store.root / "1" / "2"
    path, stop = folder / "a.mp4", threading.Event()
    path.write_bytes(b"film")

    def swap() -> None:
        while not stop.is_set():
            (folder / "link").symlink_to(secret)
            (folder / "link").rename(path)
            (folder / "spare").write_bytes(b"film")
            (folder / "spare").rename(path)

    swapper = threading.Thread(target=swap)
    swapper.start()
    opened = refused = 0
    try:
        for _ in range(10_000):
            try:
                with store.open(PLACE) as file:
                    opened += 1
                    assert file.read() == b"film"
            except PathRefused:
                refused += 1
    finally:
        stop.set()
        swapper.join()
    assert opened and refused


def test_a_result_is_placed_with_its_checksum(store: Store) -> None:
    content = os.urandom(3_000_000)
    sizes: list[int] = []
    placed = store.place(("7", "8", "out.mp4"), io.BytesIO(content), sizes.append)
    assert (placed.size, placed.sha256) == (len(content), hashlib.sha256(content).hexdigest())
    assert sizes[-1] == len(content)
    with store.open(("7", "8", "out.mp4")) as file:
        assert checksum(file) == placed
    assert [path.name for path in (store.root / "7" / "8").iterdir()] == ["out.mp4"]


def test_a_file_in_its_place_is_never_overwritten(store: Store) -> None:
    path = put(store, *PLACE, content=b"first")
    with pytest.raises(AlreadyThere):
        store.place(PLACE, io.BytesIO(b"second"))
    assert path.read_bytes() == b"first"
    assert [left.name for left in path.parent.iterdir()] == ["a.mp4"]


def test_placing_does_not_follow_a_link_out_of_the_root(store: Store, tmp_path: Path) -> None:
    (store.root / "9").symlink_to(tmp_path)
    with pytest.raises(PathRefused):
        store.place(("9", "x.mp4"), io.BytesIO(b"film"))
    assert not (tmp_path / "x.mp4").exists()


def test_an_interrupted_placing_leaves_nothing(store: Store) -> None:
    def stop(size: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.place(PLACE, io.BytesIO(b"film"), stop)
    assert not list((store.root / "1" / "2").iterdir())


def test_a_placing_killed_between_its_two_names_is_repaired_by_the_next(store: Store) -> None:
    path = put(store, *PLACE)
    os.link(path, path.parent / ".a.mp4.abc.part")
    with pytest.raises(PathRefused):
        store.open(PLACE)
    with pytest.raises(AlreadyThere):
        store.place(PLACE, io.BytesIO(b"film"))
    with store.open(PLACE) as file:
        assert file.read() == b"film"


def test_a_workspace_is_gone_afterwards(store: Store) -> None:
    with store.workspace() as folder:
        (folder / "half").write_bytes(b"x")
    assert not folder.exists()


def test_the_sweep_removes_workspaces_of_dead_processes_only(store: Store) -> None:
    dead = store.root / ".work" / "dead"
    (dead / "inner").mkdir(parents=True)
    with store.workspace() as live:
        assert store.sweep(time.time()) == 0  # too young
        assert store.sweep(time.time() + 3600) == 1
        assert live.exists()
    assert not dead.exists()


def test_a_removed_file_takes_its_empty_folder_along(store: Store) -> None:
    put(store, *PLACE)
    assert store.remove(PLACE)
    assert not store.remove(PLACE)
    assert not (store.root / "1" / "2").exists()


def test_sweep_and_removal_do_not_follow_links_out_of_the_root(store: Store, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    for name in ("dead", "2", "7/8"):
        (outside / name).mkdir(parents=True)
        (outside / name / ".a.mp4.abc.part").write_bytes(b"not ours")
    (outside / "empty").mkdir()
    (store.root / ".work").symlink_to(outside)
    (store.root / "5").symlink_to(outside)
    (store.root / "1" / "9").symlink_to(outside / "dead")
    (store.root / "1" / "2" / ".b.mp4.abc.part").symlink_to(outside / "dead" / ".a.mp4.abc.part")
    before = sorted(outside.rglob("*"))
    assert store.sweep(time.time() + 3600) == 0
    for parts in (("5", "2", ".a.mp4.abc.part"), ("1", "9", ".a.mp4.abc.part"), ("5", "empty", "x")):
        assert not store.remove(parts)
    with pytest.raises(PathRefused), store.workspace():
        pass
    assert sorted(outside.rglob("*")) == before
