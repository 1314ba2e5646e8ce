"""A child process reads videos: the caller survives its failures and gets the reason."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import av
import pytest
from PIL import Image

from exports.failures import BadReplay
from exports.render import sandbox
from exports.render.progress import Cancelled, Meter, Report
from exports.states import JobType
from jobs.subprocesses.isolated import ROOT
from jobs.subprocesses.process_tree import PROC
from tests.integration import export_tools as tools
from tests.unit.process_tools import eventually, is_alive, processes_with_mark

pytestmark = pytest.mark.skipif(not PROC.exists(), reason="these look into /proc")
LOAD = "import sys; sys.path.insert(0, sys.argv[1]); from jobs.subprocesses.restrict import *; "


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Half a second of 1280×720 with much detail."""
    path = tmp_path_factory.mktemp("film") / "film.mp4"
    noise = Image.effect_noise((1280, 720), 90).convert("RGB")
    with av.open(str(path), "w") as out:
        stream = out.add_stream("libx264", rate=25, options={"preset": "ultrafast"})
        stream.width, stream.height, stream.pix_fmt = 1280, 720, "yuv420p"
        for turn in range(12):
            out.mux(stream.encode(av.VideoFrame.from_image(noise.rotate(turn))))
        out.mux(stream.encode(None))
    return path.read_bytes()


@pytest.fixture
def video_file(tmp_path: Path, film: bytes) -> Path:
    path = tmp_path / "film.mp4"
    path.write_bytes(film)
    return path


@pytest.fixture
def fake_child(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Replaces the program of the child, as an exploited decoder could."""

    def put(program: str) -> None:
        monkeypatch.setattr(
            sandbox, "COMMAND", (sys.executable, "-I", "-c", LOAD + program, str(ROOT), str(tmp_path))
        )

    return put


def convert(
    tmp_path: Path, source: Path | None = None, cancelled=lambda: False, **limits: int
) -> list[Report]:
    """The progress reports."""
    reports: list[Report] = []
    if source is None:
        source = tmp_path / "source"
        source.write_bytes(b"whatever")
    with source.open("rb") as file:
        sandbox.convert(
            JobType.MP4,
            "mp4",
            file,
            tmp_path / "out",
            Meter(reports.append, cancelled),
            limits=replace(sandbox.LIMITS, **limits),
        )
    return reports


def test_a_video_is_converted_and_its_progress_reported(tmp_path, video_file) -> None:
    reports = convert(tmp_path, video_file)
    with av.open(str(tmp_path / "out")) as video:
        assert video.streams.video[0].frames == 12
    assert {report.total for report in reports} == {12}


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE])
def test_a_crashing_decoder_is_a_bad_replay(tmp_path, fake_child, number) -> None:
    fake_child(f"import os; os.kill(os.getpid(), {int(number)})")
    with pytest.raises(BadReplay, match=f"its decoder crashed .{number.name}.") as crashed:
        convert(tmp_path)
    assert not crashed.value.too_large


def test_a_child_killed_for_its_memory_had_too_large_a_replay(tmp_path, fake_child) -> None:
    fake_child("import os; os.kill(os.getpid(), 9)")
    with pytest.raises(BadReplay, match="memory") as killed:
        convert(tmp_path)
    assert killed.value.too_large


def test_a_video_that_needs_too_much_memory_is_refused(tmp_path, video_file) -> None:
    with pytest.raises(BadReplay, match="needs more than 60 MiB") as refused:
        convert(tmp_path, video_file, memory=60 * 2**20)
    assert refused.value.too_large


def recorded(path: Path, size: tuple[int, int], pixels: str) -> Path:
    """A video of one picture in the pixel format."""
    with av.open(str(path), "w") as out:
        stream = out.add_stream("libx264", rate=25, options={"preset": "ultrafast"})
        stream.width, stream.height, stream.pix_fmt = *size, pixels
        out.mux(
            stream.encode(av.VideoFrame.from_image(Image.new("RGB", size, "navy")).reformat(format=pixels))
        )
        out.mux(stream.encode(None))
    return path


@pytest.mark.parametrize(("pixels", "size"), [("yuv420p", (1920, 1080)), ("yuv420p10le", (1280, 720))])
def test_a_video_is_as_large_as_its_memory_allows(tmp_path, pixels, size) -> None:
    convert(tmp_path, recorded(tmp_path / "film.mp4", (3840, 2160), pixels))
    with av.open(str(tmp_path / "out")) as video:
        assert (video.streams.video[0].width, video.streams.video[0].height) == size


def test_a_video_beyond_every_profile_is_refused_at_once(tmp_path) -> None:
    video_file = recorded(tmp_path / "film.mp4", (3840, 2160), "yuv444p10le")
    with pytest.raises(BadReplay, match="too large, or it is too long") as refused:
        convert(tmp_path, video_file)
    assert refused.value.too_large


def test_the_memory_of_the_parent_does_not_count(tmp_path, video_file) -> None:
    """The maximum of getrusage outlives exec."""
    big = bytearray(sandbox.LIMITS.memory)
    big[::4096] = b"x" * len(big[::4096])
    video_file.write_bytes(video_file.read_bytes()[:5_000])
    with pytest.raises(BadReplay, match="cannot be read: ") as refused:
        convert(tmp_path, video_file)
    assert not refused.value.too_large


def test_an_endless_child_is_ended(tmp_path, fake_child) -> None:
    fake_child("confine(Limits(2**28, 1, 2**20))\nwhile True: pass")
    with pytest.raises(BadReplay, match="too long"):
        convert(tmp_path)


def test_a_video_that_grows_too_large_is_refused(tmp_path, video_file) -> None:
    with pytest.raises(BadReplay, match="exported video would be larger") as refused:
        convert(tmp_path, video_file, output=100_000)
    assert refused.value.too_large


def test_a_full_disk_is_not_a_bad_replay(tmp_path, video_file) -> None:
    with tools.no_file_larger_than(100_000), pytest.raises(OSError, match="too large"):
        convert(tmp_path, video_file)


@pytest.mark.parametrize(
    "message",
    [
        "print",
        "{}",
        "[1]",
        "9" * 9_000,
        "[" * 4_000,
        '{"end": false}',
        '{"end": "loud"}',
        '{"done": "1", "of": 2}',
        "",
    ],
)
def test_an_invalid_message_of_the_child_is_refused(tmp_path, fake_child, message) -> None:
    """The number of the pipe is the fifth of its arguments, behind the two of `fake_child`."""
    fake_child(f"import os; os.write(int(sys.argv[7]), {message!r}.encode() + b'\\n')")
    with pytest.raises(sandbox.RenderFailed):
        convert(tmp_path)


def test_an_impossible_progress_is_ignored(tmp_path, fake_child) -> None:
    message = b'{"done": 5, "of": 3}\n{"done": -1, "of": 3}\n{"done": 1, "of": 4}\n{"end": true}\n'
    fake_child(f"import os; os.write(int(sys.argv[7]), {message!r})")
    assert [(report.done, report.total) for report in convert(tmp_path)] == [(1, 4)]


def test_a_cancel_ends_the_child_and_its_processes(tmp_path, fake_child) -> None:
    started = tmp_path / "started"
    fake_child(
        "import os, subprocess, time; subprocess.Popen([sys.executable, '-c', "
        "'import time; time.sleep(600)', sys.argv[2]], start_new_session=True); "
        "open(sys.argv[2] + '/started', 'w').close(); time.sleep(600)"
    )
    with pytest.raises(Cancelled):  # the child itself would sleep for ten minutes
        convert(tmp_path, cancelled=started.exists)
    assert eventually(lambda: not processes_with_mark(str(tmp_path)))


def test_the_child_ends_with_its_parent(tmp_path, video_file) -> None:
    parent = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path\n"
        "from exports.render import sandbox\n"
        "from exports.render.progress import Meter\n"
        "sandbox.COMMAND = (sys.executable, '-I', '-c',\n"
        "    'import sys, time; sys.path.insert(0, sys.argv[1]);'\n"
        "    'from jobs.subprocesses.linux import die_with_parent; die_with_parent(int(sys.argv[8]));'\n"
        '    \'open(sys.argv[2] + "/tied", "w").close(); time.sleep(600)\', sys.argv[1], sys.argv[2])\n'
        "sandbox.convert(\n"
        "    'MP4', 'mp4', open(sys.argv[3], 'rb'), Path(sys.argv[2], 'out'), Meter(lambda r: None))\n"
    )
    command = [sys.executable, "-I", "-c", parent, str(ROOT), str(tmp_path), str(video_file)]
    with subprocess.Popen(command) as process:
        assert eventually((tmp_path / "tied").exists)
        (child,) = processes_with_mark(str(tmp_path)) - {process.pid}
        process.kill()
        process.wait()
        assert eventually(lambda: not is_alive(child))


def test_the_child_inherits_no_secrets_and_no_other_files(tmp_path, fake_child, monkeypatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://secret@host/db")
    fake_child(
        "import os, json; files = sorted(os.listdir('/proc/self/fd')); os.write(int(sys.argv[7]), "
        'json.dumps({"bad": "unreadable", "params": {"reason": " ".join([*sorted(os.environ), *files])}})'
        '.encode() + b"\\n")'
    )
    with (tmp_path / "ours").open("w") as ours:
        os.set_inheritable(ours.fileno(), True)
        with pytest.raises(BadReplay) as refused:
            convert(tmp_path)
    words = str(refused.value.params["reason"]).split()
    names, files = [word for word in words if not word.isdigit()], [word for word in words if word.isdigit()]
    assert set(names) == set(sandbox.ENVIRONMENT)
    assert len(files) == 3 + 3 + 1  # its own three, the three of the contract, and that of the listing


ATTEMPTS: dict[str, Any] = {
    "open": "os.open('/etc/passwd', os.O_RDONLY)",
    "listen": "socket.socket().bind(('127.0.0.1', 0))",
    "datagram": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
    "memory": "bytearray(300 * 2**20)",
    "write": "os.write(target, bytes(2 * 2**20)) and os.write(target, b'x')",
    "loosen": "resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)) if os.getuid() else 1 / 0",
    "start": "os.fork() if os.getuid() else 1 / 0",
}
BY_LANDLOCK = {
    "remove": "os.unlink(sys.argv[2] + '/target')",
    "rename": "os.rename(sys.argv[2] + '/target', sys.argv[2] + '/other')",
    "cut": "os.truncate(sys.argv[2] + '/target', 0)",
    "make": "os.mkdir(sys.argv[2] + '/folder')",
    "run": "os.execv(sys.executable, [sys.executable, '-c', ''])",
    "signal": "os.kill(os.getppid(), 0)",
}


def test_a_confined_process_can_only_compute(tmp_path) -> None:
    tries = "\n".join(
        f"try: {attempt}; refused = ''\nexcept Exception as e: refused = type(e).__name__\n"
        f"os.write(1, f'{name}={{refused}}\\n'.encode())"
        for name, attempt in {**ATTEMPTS, **BY_LANDLOCK}.items()
    )
    program = (
        f"{LOAD}\nimport os, resource, socket\n"
        "target = os.open(sys.argv[2] + '/target', os.O_CREAT | os.O_RDWR)\n"
        f"confine(Limits(2**28, 5, 2**20))\n{tries}"
    )
    command = [sys.executable, "-I", "-c", program, str(ROOT), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    refused = dict(line.split("=") for line in done.stdout.splitlines())
    expected = set(ATTEMPTS) | (set(BY_LANDLOCK) if has_landlock() else set())
    assert {name for name, why in refused.items() if why} >= expected
    assert (tmp_path / "target").stat().st_size == 2**20


def has_landlock() -> bool:
    return Path("/proc/sys/kernel/osrelease").read_text().split(".")[0].isdigit() and (
        "landlock" in Path("/sys/kernel/security/lsm").read_text()
        if Path("/sys/kernel/security/lsm").exists()
        else asked_for_landlock()
    )


def asked_for_landlock() -> bool:
    import ctypes

    return bool(ctypes.CDLL(None).syscall(444, None, ctypes.c_size_t(0), ctypes.c_uint32(1)) >= 6)
