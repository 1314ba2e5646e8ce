"""Who acts in this thread, and where: each surface says so for the activity log, which reads it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser

from jobs.states import Surface


@dataclass(frozen=True)
class Actor:
    """A user, or another name. The user of a request is read only when something is recorded."""

    surface: Surface
    user: AbstractBaseUser | AnonymousUser | str
    token: str = ""

    @property
    def name(self) -> str:
        return self.user if isinstance(self.user, str) else self.user.get_username()


_current: ContextVar[Actor | None] = ContextVar("actor", default=None)


def current() -> Actor | None:
    """Who acts; None if it is the system itself."""
    return _current.get()


@contextmanager
def act_as(actor: Actor) -> Iterator[None]:
    previous = _current.set(actor)
    try:
        yield
    finally:
        _current.reset(previous)


def identify_by_token(user: AbstractBaseUser, token: str) -> None:
    """Say that the actor of this request is the one with this token."""
    if _current.get() is not None:
        _current.set(Actor(Surface.API, user, token))
