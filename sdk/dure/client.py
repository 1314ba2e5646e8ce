"""The client for plain code: the methods of `AsyncClient`, without `await`."""

import functools
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from dure.async_client import AsyncClient
from dure.transport import BlockingTransport

P = ParamSpec("P")
T = TypeVar("T")


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine over a `BlockingTransport`: it never suspends, so its first step is its last."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    coroutine.close()
    raise RuntimeError("A blocking call was suspended.")


def blocking(
    method: Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]],
) -> "Callable[Concatenate[Client, P], T]":
    def call(client: "Client", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return run(method(client._client, *args, **kwargs))

    functools.update_wrapper(call, method)
    return call


def iterating(
    method: Callable[Concatenate[AsyncClient, P], AsyncIterator[T]],
) -> "Callable[Concatenate[Client, P], Iterator[T]]":
    def call(client: "Client", /, *args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        iterator = method(client._client, *args, **kwargs)
        while True:
            try:
                yield run(_next(iterator))
            except StopAsyncIteration:
                return

    functools.update_wrapper(call, method)
    return call


async def _next(iterator: AsyncIterator[T]) -> T:
    return await anext(iterator)


class Client:
    """Calls Dure's API.

    `url`, `token` and `office` come from the arguments, else from `DURE_URL`, `DURE_TOKEN` and `DURE_OFFICE`,
    else from `dure login`. An office is an id or a name; a member of one office only needs to name none.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        office: str | None = None,
        timeout: float = 30.0,
    ) -> None:
        self._client = AsyncClient(url, token, office=office, timeout=timeout, transport=BlockingTransport())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    close = blocking(AsyncClient.close)

    offices = blocking(AsyncClient.offices)
    office_id = blocking(AsyncClient.office_id)
    tasks = blocking(AsyncClient.tasks)
    task = blocking(AsyncClient.task)

    submit = blocking(AsyncClient.submit)
    submit_batch = blocking(AsyncClient.submit_batch)
    job = blocking(AsyncClient.job)
    jobs = blocking(AsyncClient.jobs)
    batch = blocking(AsyncClient.batch)
    batches = blocking(AsyncClient.batches)
    cancel = blocking(AsyncClient.cancel)
    cancel_all = blocking(AsyncClient.cancel_all)
    set_priority = blocking(AsyncClient.set_priority)
    retry = blocking(AsyncClient.retry)
    explain = blocking(AsyncClient.explain)

    run_task = blocking(AsyncClient.run_task)
    executions = blocking(AsyncClient.executions)
    execution = blocking(AsyncClient.execution)
    cancel_execution = blocking(AsyncClient.cancel_execution)

    refresh = blocking(AsyncClient.refresh)
    wait = blocking(AsyncClient.wait)
    log = iterating(AsyncClient.log)
    follow = iterating(AsyncClient.follow)
    follow_events = iterating(AsyncClient.follow_events)

    schedules = blocking(AsyncClient.schedules)
    schedule = blocking(AsyncClient.schedule)
    create_schedule = blocking(AsyncClient.create_schedule)
    change_schedule = blocking(AsyncClient.change_schedule)
    pause_schedule = blocking(AsyncClient.pause_schedule)
    resume_schedule = blocking(AsyncClient.resume_schedule)
    delete_schedule = blocking(AsyncClient.delete_schedule)
    next_times = blocking(AsyncClient.next_times)
    preview_schedule = blocking(AsyncClient.preview_schedule)
    turns = blocking(AsyncClient.turns)

    workflows = blocking(AsyncClient.workflows)
    workflow = blocking(AsyncClient.workflow)
    create_workflow = blocking(AsyncClient.create_workflow)
    change_workflow = blocking(AsyncClient.change_workflow)
    pause_workflow = blocking(AsyncClient.pause_workflow)
    resume_workflow = blocking(AsyncClient.resume_workflow)
    delete_workflow = blocking(AsyncClient.delete_workflow)
    execute = blocking(AsyncClient.execute)
    workflow_runs = blocking(AsyncClient.workflow_runs)
    workflow_run = blocking(AsyncClient.workflow_run)
    cancel_run = blocking(AsyncClient.cancel_run)
    resume_run = blocking(AsyncClient.resume_run)

    config = blocking(AsyncClient.config)
    change_config = blocking(AsyncClient.change_config)
    members = blocking(AsyncClient.members)
    set_member = blocking(AsyncClient.set_member)
    remove_member = blocking(AsyncClient.remove_member)
    webhooks = blocking(AsyncClient.webhooks)
    webhook = blocking(AsyncClient.webhook)
    create_webhook = blocking(AsyncClient.create_webhook)
    change_webhook = blocking(AsyncClient.change_webhook)
    delete_webhook = blocking(AsyncClient.delete_webhook)
    rotate_webhook_secret = blocking(AsyncClient.rotate_webhook_secret)
    test_webhook = blocking(AsyncClient.test_webhook)
    deliveries = blocking(AsyncClient.deliveries)
    send_again = blocking(AsyncClient.send_again)

    roles = blocking(AsyncClient.roles)
    pause_role = blocking(AsyncClient.pause_role)
    resume_role = blocking(AsyncClient.resume_role)

    calendars = blocking(AsyncClient.calendars)
    calendar = blocking(AsyncClient.calendar)
    create_calendar = blocking(AsyncClient.create_calendar)
    change_calendar = blocking(AsyncClient.change_calendar)
    delete_calendar = blocking(AsyncClient.delete_calendar)

    libraries = blocking(AsyncClient.libraries)
    queues = blocking(AsyncClient.queues)
    queue = blocking(AsyncClient.queue)
    create_queue = blocking(AsyncClient.create_queue)
    copy_queue = blocking(AsyncClient.copy_queue)
    delete_queue = blocking(AsyncClient.delete_queue)
    check_queue = blocking(AsyncClient.check_queue)
    run_queue = blocking(AsyncClient.run_queue)
    resume_queue = blocking(AsyncClient.resume_queue)
    cancel_queue = blocking(AsyncClient.cancel_queue)
    queue_events = blocking(AsyncClient.queue_events)
    steps = blocking(AsyncClient.steps)
    step = blocking(AsyncClient.step)
    create_step = blocking(AsyncClient.create_step)
    delete_step = blocking(AsyncClient.delete_step)
    enqueue = blocking(AsyncClient.enqueue)
    move_step = blocking(AsyncClient.move_step)
    remove_step = blocking(AsyncClient.remove_step)
    rerun_backward = blocking(AsyncClient.rerun_backward)

    upload_replay = blocking(AsyncClient.upload_replay)
    replays = blocking(AsyncClient.replays)
    replay = blocking(AsyncClient.replay)
    delete_replay = blocking(AsyncClient.delete_replay)
    export = blocking(AsyncClient.export)
    get_export = blocking(AsyncClient.get_export)
    exports = blocking(AsyncClient.exports)
    cancel_export = blocking(AsyncClient.cancel_export)
    share_export = blocking(AsyncClient.share_export)
    export_links = blocking(AsyncClient.export_links)
    revoke_export_link = blocking(AsyncClient.revoke_export_link)
    download = blocking(AsyncClient.download)
