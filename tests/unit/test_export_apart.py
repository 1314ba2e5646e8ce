"""Videos are read by a process of its own: whatever becomes of it, the caller lives, and knows why."""

import os
import signal
import subprocess
import sys
import time
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
from jobs.subprocesses.orphans import RUN_MARK
from jobs.subprocesses.process_tree import PROC
from tests.integration import export_tools as tools
from tests.unit.process_tools import eventually, is_alive, marked

pytestmark = pytest.mark.skipif(not PROC.exists(), reason="these look into /proc")
LOAD = "import sys; sys.path.insert(0, sys.argv[1]); from jobs.subprocesses.restrict import *; "


@pytest.fixture
def film(tmp_path: Path) -> Path:
    """Two seconds of 1280×720 with much in it."""
    path = tmp_path / "film.mp4"
    noise = Image.effect_noise((1280, 720), 90).convert("RGB")
    with av.open(str(path), "w") as out:
        stream = out.add_stream("libx264", rate=25, options={"preset": "ultrafast"})
        stream.width, stream.height, stream.pix_fmt = 1280, 720, "yuv420p"
        for turn in range(50):
            out.mux(stream.encode(av.VideoFrame.from_image(noise.rotate(turn))))
        out.mux(stream.encode(None))
    return path


@pytest.fixture
def instead(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Another program in the place of ours: what a decoder that was taken over could do."""

    def put(program: str) -> None:
        monkeypatch.setattr(
            sandbox, "COMMAND", (sys.executable, "-I", "-c", LOAD + program, str(ROOT), str(tmp_path))
        )

    return put


def made(tmp_path: Path, source: Path | None = None, cancelled=lambda: False, **limits: int) -> list[Report]:
    """What it told meanwhile."""
    told: list[Report] = []
    if source is None:
        source = tmp_path / "source"
        source.write_bytes(b"whatever")
    with source.open("rb") as given:
        sandbox.convert(
            JobType.MP4,
            "mp4",
            given,
            tmp_path / "out",
            Meter(told.append, cancelled),
            replace(sandbox.LIMITS, **limits),
        )
    return told


def test_the_film_is_made_and_its_progress_told(tmp_path, film) -> None:
    told = made(tmp_path, film)
    with av.open(str(tmp_path / "out")) as found:
        assert found.streams.video[0].frames == 50
    assert {report.total for report in told} == {50}


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE])
def test_a_decoder_that_crashes_is_the_replays_fault(tmp_path, instead, number) -> None:
    instead(f"import os; os.kill(os.getpid(), {int(number)})")
    with pytest.raises(BadReplay, match=f"its decoder crashed .{number.name}.") as crashed:
        made(tmp_path)
    assert not crashed.value.too_large


def test_one_that_is_killed_for_its_memory_was_too_large(tmp_path, instead) -> None:
    instead("import os; os.kill(os.getpid(), 9)")
    with pytest.raises(BadReplay, match="memory") as killed:
        made(tmp_path)
    assert killed.value.too_large


def test_a_film_that_takes_too_much_memory_is_refused_with_words(tmp_path, film) -> None:
    with pytest.raises(BadReplay, match="needs more than 60 MiB") as refused:
        made(tmp_path, film, memory=60 * 2**20)
    assert refused.value.too_large


def recorded(path: Path, size: tuple[int, int], pixels: str) -> Path:
    """A film of one picture, with as many bits in it as its format has."""
    with av.open(str(path), "w") as out:
        stream = out.add_stream("libx264", rate=25, options={"preset": "ultrafast"})
        stream.width, stream.height, stream.pix_fmt = *size, pixels
        out.mux(
            stream.encode(av.VideoFrame.from_image(Image.new("RGB", size, "navy")).reformat(format=pixels))
        )
        out.mux(stream.encode(None))
    return path


@pytest.mark.parametrize(("pixels", "size"), [("yuv420p", (1920, 1080)), ("yuv420p10le", (1280, 720))])
def test_a_film_is_as_large_as_its_memory_allows(tmp_path, pixels, size) -> None:
    made(tmp_path, recorded(tmp_path / "film.mp4", (3840, 2160), pixels))
    with av.open(str(tmp_path / "out")) as found:
        assert (found.streams.video[0].width, found.streams.video[0].height) == size


def test_what_would_take_too_much_memory_in_any_way_is_refused_before_it_begins(tmp_path) -> None:
    film = recorded(tmp_path / "film.mp4", (3840, 2160), "yuv444p10le")
    with pytest.raises(BadReplay, match="too large, or it is too long") as refused:
        made(tmp_path, film)
    assert refused.value.too_large


def test_the_size_of_its_parent_is_not_held_against_it(tmp_path, film) -> None:
    """The largest size that getrusage tells outlives exec."""
    big = bytearray(sandbox.LIMITS.memory)
    big[::4096] = b"x" * len(big[::4096])
    film.write_bytes(film.read_bytes()[:5_000])
    with pytest.raises(BadReplay, match="cannot be read: ") as refused:
        made(tmp_path, film)
    assert not refused.value.too_large


def test_one_that_computes_without_end_is_ended(tmp_path, instead) -> None:
    instead("confine(Limits(2**28, 1, 2**20))\nwhile True: pass")
    with pytest.raises(BadReplay, match="too long"):
        made(tmp_path)


def test_a_film_that_becomes_too_large_is_refused(tmp_path, film) -> None:
    with pytest.raises(BadReplay, match="exported video would be larger") as refused:
        made(tmp_path, film, output=100_000)
    assert refused.value.too_large


def test_a_full_disk_is_no_fault_of_the_film(tmp_path, film) -> None:
    with tools.no_file_larger_than(100_000), pytest.raises(OSError, match="too large"):
        made(tmp_path, film)


@pytest.mark.parametrize(
    "said", ["print", "{}", "[1]", "9" * 9_000, "[" * 4_000, '{"end": false}', '{"done": "1", "of": 2}', ""]
)
def test_what_it_says_is_not_believed(tmp_path, instead, said) -> None:
    """The number of the pipe is the fifth of its arguments, behind the two of `instead`."""
    instead(f"import os; os.write(int(sys.argv[7]), {said!r}.encode() + b'\\n')")
    with pytest.raises(sandbox.RenderFailed):
        made(tmp_path)


def test_a_claim_to_have_done_more_than_all_is_no_progress(tmp_path, instead) -> None:
    said = b'{"done": 5, "of": 3}\n{"done": -1, "of": 3}\n{"done": 1, "of": 4}\n{"end": true}\n'
    instead(f"import os; os.write(int(sys.argv[7]), {said!r})")
    assert [(report.done, report.total) for report in made(tmp_path)] == [(1, 4)]


def test_a_cancel_ends_it_and_all_it_started_within_a_second(tmp_path, instead) -> None:
    started = tmp_path / "started"
    instead(
        "import os, subprocess, time; subprocess.Popen([sys.executable, '-c', "
        "'import time; time.sleep(600)', sys.argv[2]], start_new_session=True); "
        "open(sys.argv[2] + '/started', 'w').close(); time.sleep(600)"
    )
    asked: list[float] = []

    def cancelled() -> bool:
        if started.exists():
            asked.append(time.monotonic())
        return bool(asked)

    with pytest.raises(Cancelled):
        made(tmp_path, cancelled=cancelled)
    assert time.monotonic() - asked[0] < 1
    assert eventually(lambda: not marked(str(tmp_path)))


def test_when_its_parent_is_killed_it_ends_too(tmp_path, film) -> None:
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
    command = [sys.executable, "-I", "-c", parent, str(ROOT), str(tmp_path), str(film)]
    with subprocess.Popen(command) as process:
        assert eventually((tmp_path / "tied").exists)
        (child,) = marked(str(tmp_path)) - {process.pid}
        process.kill()
        process.wait()
        assert eventually(lambda: not is_alive(child))


def test_it_gets_no_secrets_and_no_open_files(tmp_path, instead, monkeypatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://secret@host/db")
    monkeypatch.setenv(RUN_MARK, "0190a0b0-0000-7000-8000-000000000001")
    instead(
        "import os, json; files = sorted(os.listdir('/proc/self/fd')); os.write(int(sys.argv[7]), "
        'json.dumps({"bad": "unreadable", "params": {"reason": " ".join([*sorted(os.environ), *files])}})'
        '.encode() + b"\\n")'
    )
    with (tmp_path / "ours").open("w") as ours:
        os.set_inheritable(ours.fileno(), True)
        with pytest.raises(BadReplay) as told:
            made(tmp_path)
    words = str(told.value.params["reason"]).split()
    names, files = [word for word in words if not word.isdigit()], [word for word in words if word.isdigit()]
    assert set(names) == {*sandbox.ENVIRONMENT, RUN_MARK}
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


def test_once_confined_there_is_nothing_left_but_to_compute(tmp_path) -> None:
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
    wanted = set(ATTEMPTS) | (set(BY_LANDLOCK) if has_landlock() else set())
    assert {name for name, why in refused.items() if why} >= wanted
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
