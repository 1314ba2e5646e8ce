"""Lists the queues of all roles, and pauses and resumes them for all offices."""

from functools import partial
from typing import Any

from jobs import queues
from jobs.api.queues import RoleQueueOut
from jobs.cli.command import DONE, LIST, Complaint, Console, add_author
from jobs.display import local_time


class Command(Console):
    help = __doc__ or ""

    def add_parts(self) -> None:
        self.part(LIST, self.show_list, "the queues, and which are paused; the default")
        self.verb("pause", "let no run of a role start until it is resumed")
        self.verb("resume", "let the runs of a role start again")

    def verb(self, name: str, help: str) -> None:
        parser = self.part(name, partial(self.act, name), help)
        parser.add_argument("role", metavar="ROLE")
        add_author(parser)

    def show_list(self, options: dict[str, Any]) -> int:
        rows = queues.queues()
        self.show(
            {"results": [RoleQueueOut.write(queue) for queue in rows]}, [line_of(queue) for queue in rows]
        )
        return DONE

    def act(self, verb: str, options: dict[str, Any]) -> int:
        role, actor = options["role"], options["actor"]
        find(role)
        if verb == "pause":
            queues.pause_queue(role, actor, options["reason"])
        else:
            queues.resume_queue(role, actor)
        queue = find(role)
        self.show(RoleQueueOut.write(queue), [line_of(queue)])
        return DONE


def find(role: str) -> queues.Queue:
    queue = queues.find_queue(role)
    if queue is None:
        raise Complaint(f"There is no queue {role!r}.")
    return queue


def line_of(queue: queues.Queue) -> str:
    served = "served" if queue.is_served else "no worker"
    if queue.pause is None:
        return f"{queue.role:<20}  {served}"
    reason = f": {queue.pause.reason}" if queue.pause.reason else ""
    return (
        f"{queue.role:<20}  {served}  paused at {local_time(queue.pause.since)} by {queue.pause.by}{reason}"
    )
