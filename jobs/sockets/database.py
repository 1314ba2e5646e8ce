"""Lets a socket ask the database without making the other sockets wait for it."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from channels.db import database_sync_to_async

P = ParamSpec("P")
R = TypeVar("R")

# asgiref's default is one thread for everything; each of these keeps a connection of its own.
_THREADS = ThreadPoolExecutor(max_workers=4, thread_name_prefix="socket")


async def in_database(ask: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    asked: R = await database_sync_to_async(ask, thread_sensitive=False, executor=_THREADS)(*args, **kwargs)
    return asked
