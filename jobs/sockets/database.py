"""Runs database queries of a socket in a thread, so that the other sockets need not wait for them."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from channels.db import database_sync_to_async

P = ParamSpec("P")
R = TypeVar("R")

# asgiref's default is one thread for everything; each of these keeps its own connection.
_THREADS = ThreadPoolExecutor(max_workers=4, thread_name_prefix="socket")


async def in_database(query: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    result: R = await database_sync_to_async(query, thread_sensitive=False, executor=_THREADS)(
        *args, **kwargs
    )
    return result
