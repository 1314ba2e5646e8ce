"""The account PostgreSQL runs under. It refuses to run as root, so root hands it to somebody with less.

That account may be unable to enter the folder: a clone in /root lies behind a door that only root
opens. It then keeps one single capability, to walk through folders, and no other right of root's.
"""

import os
import pwd
from dataclasses import dataclass, replace
from pathlib import Path

from config.embedded import CannotStart, kernel

NAMES = ("postgres", "nobody")


@dataclass(frozen=True)
class Account:
    name: str
    uid: int
    gid: int
    capability: int | None = None

    def become(self) -> None:
        """Turns the calling process, a fresh child of root's, into this account's."""
        if self.capability is not None:
            kernel.keep_identity_fixups_off()
        os.setgroups([])
        os.setresgid(self.gid, self.gid, self.gid)
        os.setresuid(self.uid, self.uid, self.uid)
        if self.capability is not None:
            kernel.hold_only(self.capability)


def unprivileged(folder: Path, must_reach: tuple[Path, ...]) -> Account | None:
    """Whom to run the server of this folder as; None for ourselves, who are not root."""
    if os.geteuid() != 0:
        return None
    account = _owner(folder) or _first_known()
    for capability in (None, kernel.CAP_DAC_READ_SEARCH, kernel.CAP_DAC_OVERRIDE):
        candidate = replace(account, capability=capability)
        if all(_reaches(candidate, path) for path in must_reach):
            return candidate
    if not _reaches(account, Path("/")):
        raise CannotStart(
            f"PostgreSQL does not run as root, and this root may not change into the user {account.name}: "
            "do not run as root, or set DATABASE_URL."
        )
    blocked = next(path for path in must_reach if not _reaches(account, path))
    raise CannotStart(
        f"PostgreSQL runs as the user {account.name}, who cannot reach {blocked}: "
        "keep the checkout and DURE_HOME in a folder that all users may enter, or do not run as root."
    )


def _owner(folder: Path) -> Account | None:
    """Data that is there already belongs to somebody: PostgreSQL insists on the same user."""
    try:
        found = folder.stat()
    except FileNotFoundError:
        return None
    if found.st_uid == 0:
        return None
    try:
        name = pwd.getpwuid(found.st_uid).pw_name
    except KeyError:
        name = str(found.st_uid)
    return Account(name, found.st_uid, found.st_gid)


def _first_known() -> Account:
    for name in NAMES:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(name, entry.pw_uid, entry.pw_gid)
    raise CannotStart(
        "PostgreSQL does not run as root, and this machine has no user called postgres or nobody: "
        "do not run as root, or set DATABASE_URL."
    )


def _reaches(account: Account, path: Path) -> bool:
    """Asks the kernel, by trying it: modes, access lists and mounts all have their say."""
    child = os.fork()
    if child == 0:
        verdict = 1
        try:
            account.become()
            path.stat()
            verdict = 0
        finally:
            os._exit(verdict)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
