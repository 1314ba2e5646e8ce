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


def to_sync(
    method: Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]],
) -> "Callable[Concatenate[Client, P], T]":
    def call(client: "Client", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return run(method(client._client, *args, **kwargs))

    functools.update_wrapper(call, method)
    return call


def to_sync_iterator(
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

    close = to_sync(AsyncClient.close)

    offices = to_sync(AsyncClient.offices)
    office_id = to_sync(AsyncClient.office_id)
    tasks = to_sync(AsyncClient.tasks)
    task = to_sync(AsyncClient.task)

    submit = to_sync(AsyncClient.submit)
    submit_batch = to_sync(AsyncClient.submit_batch)
    job = to_sync(AsyncClient.job)
    jobs = to_sync(AsyncClient.jobs)
    batch = to_sync(AsyncClient.batch)
    batches = to_sync(AsyncClient.batches)
    cancel = to_sync(AsyncClient.cancel)
    cancel_all = to_sync(AsyncClient.cancel_all)
    set_priority = to_sync(AsyncClient.set_priority)
    retry = to_sync(AsyncClient.retry)
    explain = to_sync(AsyncClient.explain)

    run_task = to_sync(AsyncClient.run_task)
    executions = to_sync(AsyncClient.executions)
    execution = to_sync(AsyncClient.execution)
    cancel_execution = to_sync(AsyncClient.cancel_execution)

    refresh = to_sync(AsyncClient.refresh)
    wait = to_sync(AsyncClient.wait)
    log = to_sync_iterator(AsyncClient.log)
    follow = to_sync_iterator(AsyncClient.follow)
    follow_events = to_sync_iterator(AsyncClient.follow_events)

    schedules = to_sync(AsyncClient.schedules)
    schedule = to_sync(AsyncClient.schedule)
    create_schedule = to_sync(AsyncClient.create_schedule)
    change_schedule = to_sync(AsyncClient.change_schedule)
    pause_schedule = to_sync(AsyncClient.pause_schedule)
    resume_schedule = to_sync(AsyncClient.resume_schedule)
    delete_schedule = to_sync(AsyncClient.delete_schedule)
    next_times = to_sync(AsyncClient.next_times)
    preview_schedule = to_sync(AsyncClient.preview_schedule)
    turns = to_sync(AsyncClient.turns)

    workflows = to_sync(AsyncClient.workflows)
    workflow = to_sync(AsyncClient.workflow)
    create_workflow = to_sync(AsyncClient.create_workflow)
    change_workflow = to_sync(AsyncClient.change_workflow)
    pause_workflow = to_sync(AsyncClient.pause_workflow)
    resume_workflow = to_sync(AsyncClient.resume_workflow)
    delete_workflow = to_sync(AsyncClient.delete_workflow)
    execute = to_sync(AsyncClient.execute)
    workflow_runs = to_sync(AsyncClient.workflow_runs)
    workflow_run = to_sync(AsyncClient.workflow_run)
    cancel_run = to_sync(AsyncClient.cancel_run)
    resume_run = to_sync(AsyncClient.resume_run)

    config = to_sync(AsyncClient.config)
    change_config = to_sync(AsyncClient.change_config)
    members = to_sync(AsyncClient.members)
    set_member = to_sync(AsyncClient.set_member)
    remove_member = to_sync(AsyncClient.remove_member)
    webhooks = to_sync(AsyncClient.webhooks)
    webhook = to_sync(AsyncClient.webhook)
    create_webhook = to_sync(AsyncClient.create_webhook)
    change_webhook = to_sync(AsyncClient.change_webhook)
    delete_webhook = to_sync(AsyncClient.delete_webhook)
    rotate_webhook_secret = to_sync(AsyncClient.rotate_webhook_secret)
    test_webhook = to_sync(AsyncClient.test_webhook)
    deliveries = to_sync(AsyncClient.deliveries)
    send_again = to_sync(AsyncClient.send_again)

    roles = to_sync(AsyncClient.roles)
    pause_role = to_sync(AsyncClient.pause_role)
    resume_role = to_sync(AsyncClient.resume_role)

    calendars = to_sync(AsyncClient.calendars)
    calendar = to_sync(AsyncClient.calendar)
    create_calendar = to_sync(AsyncClient.create_calendar)
    change_calendar = to_sync(AsyncClient.change_calendar)
    delete_calendar = to_sync(AsyncClient.delete_calendar)

    libraries = to_sync(AsyncClient.libraries)
    queues = to_sync(AsyncClient.queues)
    queue = to_sync(AsyncClient.queue)
    create_queue = to_sync(AsyncClient.create_queue)
    copy_queue = to_sync(AsyncClient.copy_queue)
    delete_queue = to_sync(AsyncClient.delete_queue)
    check_queue = to_sync(AsyncClient.check_queue)
    run_queue = to_sync(AsyncClient.run_queue)
    resume_queue = to_sync(AsyncClient.resume_queue)
    cancel_queue = to_sync(AsyncClient.cancel_queue)
    queue_events = to_sync(AsyncClient.queue_events)
    steps = to_sync(AsyncClient.steps)
    step = to_sync(AsyncClient.step)
    create_step = to_sync(AsyncClient.create_step)
    delete_step = to_sync(AsyncClient.delete_step)
    enqueue = to_sync(AsyncClient.enqueue)
    move_step = to_sync(AsyncClient.move_step)
    remove_step = to_sync(AsyncClient.remove_step)
    rerun_backward = to_sync(AsyncClient.rerun_backward)

    upload_replay = to_sync(AsyncClient.upload_replay)
    replays = to_sync(AsyncClient.replays)
    replay = to_sync(AsyncClient.replay)
    delete_replay = to_sync(AsyncClient.delete_replay)
    export = to_sync(AsyncClient.export)
    get_export = to_sync(AsyncClient.get_export)
    exports = to_sync(AsyncClient.exports)
    cancel_export = to_sync(AsyncClient.cancel_export)
    share_export = to_sync(AsyncClient.share_export)
    export_links = to_sync(AsyncClient.export_links)
    revoke_export_link = to_sync(AsyncClient.revoke_export_link)
    download = to_sync(AsyncClient.download)
