"""`dure tasks`."""

from dure.cli.arguments import Options, Parsers, command, group
from dure.cli.output import write_list, write_record
from dure.client import Client
from dure.errors import ConfigurationError

COLUMNS = ["task_id", "role"]


def add(parsers: Parsers) -> None:
    of_tasks = group(parsers, "tasks", "list Tasks, and show what one takes")
    command(of_tasks, "list", list_tasks, "list the Tasks that you may use")
    show = command(of_tasks, "show", show_task, "show a Task", example="dure tasks show demo.sum")
    show.add_argument("task", metavar="TASK", help="the id of the Task")


def list_tasks(options: Options, client: Client) -> int:
    return write_list(options, client.tasks(), COLUMNS)


def show_task(options: Options, client: Client) -> int:
    for task in client.tasks():
        if task.task_id == options.task:
            return write_record(options, task)
    raise ConfigurationError(f"There is no Task {options.task!r}. `dure tasks list` names all.")
