"""The calls of the kernel that Python does not offer. On macOS they do nothing, and nothing needs them."""

import ctypes
import os
import signal
import sys
from pathlib import Path

IS_LINUX = sys.platform.startswith("linux")

PR_SET_PDEATHSIG = 1
PR_SET_SECUREBITS = 28
PR_SET_CHILD_SUBREAPER = 36
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_RAISE = 2
# Without it a change of the user id, and every access(2) after it, drops what was handed on.
SECBIT_NO_SETUID_FIXUP = 1 << 2
CAPABILITY_VERSION_3 = 0x20080522

CAP_DAC_OVERRIDE = 1
CAP_DAC_READ_SEARCH = 2

# Loaded here, since loading between fork and exec could meet a lock that nobody will ever release.
_libc = ctypes.CDLL(None, use_errno=True) if IS_LINUX else None


class _Header(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]


class _Data(ctypes.Structure):
    _fields_ = [
        ("effective", ctypes.c_uint32),
        ("permitted", ctypes.c_uint32),
        ("inheritable", ctypes.c_uint32),
    ]


def _prctl(option: int, value: int, more: int = 0) -> None:
    if _libc is None:
        return
    numbers = [ctypes.c_ulong(number) for number in (value, more, 0, 0)]
    if _libc.prctl(option, *numbers) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def die_with_parent(parent: int, number: signal.Signals) -> None:
    """Sends the calling process this signal when its parent ends, however that ends."""
    _prctl(PR_SET_PDEATHSIG, number)
    if IS_LINUX and os.getppid() != parent:
        os._exit(1)  # the parent was gone before we had asked


def die_with_make() -> None:
    """When make started us and is killed without a word to us, we stop everything as after a TERM."""
    parent = os.getppid()
    name = Path(f"/proc/{parent}/comm")
    if IS_LINUX and name.exists() and name.read_text().strip() in ("make", "gmake"):
        die_with_parent(parent, signal.SIGTERM)


def adopt_orphans() -> None:
    """Makes us the parent of every descendant whose own parent ends, so that none escapes our view."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def keep_identity_fixups_off() -> None:
    _prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP)


def hold_only(capability: int) -> None:
    """Gives up every capability but this one, which the programs we turn into keep."""
    if _libc is None:
        return
    bit = 1 << capability
    header = _Header(CAPABILITY_VERSION_3, 0)
    data = (_Data * 2)(_Data(bit, bit, bit), _Data(0, 0, 0))
    if _libc.capset(ctypes.byref(header), ctypes.byref(data)) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    _prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability)
