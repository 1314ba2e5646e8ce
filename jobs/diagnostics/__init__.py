"""Checks of a running system, with the messages of Django's check framework.

They ask PostgreSQL, Redis and workers, so `manage.py doctor` runs them and `manage.py check` does not. A
check yields messages: Info if all is well, else Warning or Error with a hint. `obj` is the message's name.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from django.core.checks import ERROR, CheckMessage, Error, Info, Warning
from django.db import connection

from jobs.texts import first_line

CONNECT_SECONDS = 3.0

Check = Callable[[], Iterable[CheckMessage]]

# The checks by subject.
_checks: dict[str, list[Check]] = defaultdict(list)


@dataclass(frozen=True)
class Subject:
    """A group of checks, and when they run."""

    name: str
    # Subjects without whose success this one cannot be checked.
    needs: tuple[str, ...] = ()
    # The first check says whether the server answers. If it fails, the others are skipped; only it counts for
    # the subjects that need this one.
    is_server: bool = False


def ok(name: str, text: str) -> CheckMessage:
    return Info(text, obj=name)


def warning(name: str, text: str, hint: str) -> CheckMessage:
    return Warning(text, hint=hint, obj=name)


def error(name: str, text: str, hint: str) -> CheckMessage:
    return Error(text, hint=hint, obj=name)


def run(subjects: Iterable[Subject]) -> Iterator[tuple[str, CheckMessage]]:
    """Each message with the name of its subject, as soon as there is one."""
    # For each subject, the failed subjects that prevent its check or explain its failure.
    causes: dict[str, set[str]] = {}
    for subject in subjects:
        blocking = {cause for need in subject.needs for cause in causes.get(need, ())}
        if blocking:
            causes[subject.name] = blocking
            text = f"not checked, because of {' and '.join(sorted(blocking))}"
            yield subject.name, warning(subject.name, text, "fix that, and run this again")
            continue
        messages = []
        for message in _messages(subject):
            messages.append(message)
            yield subject.name, message
        decisive = messages[:1] if subject.is_server else messages
        if any(message.level >= ERROR for message in decisive):
            causes[subject.name] = {subject.name}


def _messages(subject: Subject) -> Iterator[CheckMessage]:
    for number, check in enumerate(_checks[subject.name]):
        failed = False
        try:
            for message in check():
                failed |= message.level >= ERROR
                yield message
        except Exception as problem:
            # A check that raises is a message too, and the others continue.
            connection.close()
            text = f"could not be checked: {type(problem).__name__}: {first_line(problem)}"
            yield error(subject.name, text, "fix what is named above, and run this again; else report this")
        if failed and subject.is_server and number == 0:
            return


def register(subject: str) -> Callable[[Check], Check]:
    """Adds a check to a subject. A subject's checks run in the order of their registration."""

    def add(check: Check) -> Check:
        _checks[subject].append(check)
        return check

    return add
