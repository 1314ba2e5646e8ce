"""Checks that a history kept the promises. Each function returns the violations as texts."""

from collections import Counter, defaultdict
from collections.abc import Callable
from datetime import timedelta

from dure.failures import FailureType
from jobs.insight.reasons import Code
from jobs.states import EXECUTION_LIVE, EventType, JobStatus, OnDependencyFailure, Outcome
from tests.chaos.bodies import EXCLUSIVE, LIMITED
from tests.chaos.history import ENDS, Happening, History, JobAtTheEnd
from tests.chaos.limits import exclusive_runs_are_alone, limits_hold, starts_keep_the_rate
from tests.chaos.recovery import PROMISED

T = EventType
FINAL = (T.JOB_COMPLETED, T.JOB_FAILED, T.JOB_CANCELLED)
BAD = (JobStatus.FAILED, JobStatus.CANCELLED)
# The retry's time is written with the database's clock and read by the sweep: no slack but rounding.
ROUNDING = timedelta(milliseconds=5)


def nothing_is_lost(history: History) -> list[str]:
    """Every job has ended, or its policy lets it wait for a failed dependency; so has every other run."""
    wrong = []
    stuck: set[str] = set()
    for job in in_order(history):
        if job.status in (JobStatus.DONE, *BAD):
            continue
        blockers = [history.jobs[p] for p in job.parents]
        lawful = job.policy == OnDependencyFailure.BLOCK and any(
            parent.status in BAD or parent.id in stuck for parent in blockers
        )
        lawful = lawful or any(parent.id in stuck for parent in blockers)
        if lawful and job.status == JobStatus.PENDING:
            stuck.add(job.id)
        else:
            wrong.append(f"{job.id} never ended: it is {job.status}")
    return wrong + [
        f"{execution}, without a job, never ended: it is {run.status}"
        for execution, run in history.runs.items()
        if run.job is None and run.status in EXECUTION_LIVE
    ]


def in_order(history: History) -> list[JobAtTheEnd]:
    from jobs import graph

    ordered = graph.order({job.id: job.parents for job in history.jobs.values()})
    return [history.jobs[name] for name in ordered]


def one_result_each(history: History) -> list[str]:
    """Each Execution has one accepted end, reported by the owner of its fence."""
    wrong = []
    events_of = history.events_of()
    for job_id in history.jobs:
        events = events_of.get(job_id, [])
        finals = Counter(
            event.details["execution_id"]
            for event in events
            if event.type in FINAL and "execution_id" in event.details
        )
        wrong += [
            f"Execution {execution} of {job_id} ended {n} times" for execution, n in finals.items() if n > 1
        ]
        job = history.jobs[job_id]
        done = [event for event in events if event.type == T.JOB_COMPLETED]
        if job.status == JobStatus.DONE:
            if len(done) != 1:
                wrong.append(f"{job_id} is done and completed {len(done)} times")
            elif not isinstance(job.result, dict) or job.result.get("fence") != done[0].fence:
                wrong.append(f"{job_id} has the result of another owner: {job.result}, not {done[0].fence}")
        elif done:
            wrong.append(f"{job_id} completed and is {job.status}")
    return wrong


def one_owner_at_a_time(history: History) -> list[str]:
    """The end of an attempt is recorded before the next starts, and fences only grow."""
    wrong = []
    owner: dict[str, int] = {}
    highest: dict[str, int] = {}
    for event in history.events:
        execution = event.details.get("execution_id")
        if execution is None or event.fence is None:
            continue
        if event.type == T.JOB_STARTED:
            if execution in owner:
                wrong.append(
                    f"{execution} was started at fence {event.fence} while {owner[execution]} owned it"
                )
            if event.fence <= highest.get(execution, 0):
                wrong.append(f"{execution}: fence {event.fence} came after {highest[execution]}")
            owner[execution] = highest[execution] = event.fence
        elif event.type in ENDS:
            if owner.get(execution) != event.fence:
                wrong.append(
                    f"{execution}: fence {event.fence} ended it while {owner.get(execution)} owned it"
                )
            owner.pop(execution, None)
    return wrong


def dependencies_come_first(history: History) -> list[str]:
    """A job starts after each of its dependencies ended as its policy requires."""
    ended: dict[str, dict[str, int]] = defaultdict(dict)
    wrong = []
    for event in history.events:
        if event.type in FINAL:
            ended[event.job].setdefault(event.type, event.id)
        elif event.type == T.JOB_STARTED:
            job = history.jobs[event.job]
            enough = FINAL if job.policy == OnDependencyFailure.RUN else (T.JOB_COMPLETED,)
            wrong += [
                f"{job.id} started before its dependency {parent} had ended"
                for parent in job.parents
                if not any(kind in ended[parent] for kind in enough)
            ]
    return wrong


def retries_follow_their_policy(history: History) -> list[str]:
    """Attempts are numbered without a gap, no more are charged than allowed, and none starts early."""
    wrong = []
    for execution, attempts in history.attempts.items():
        numbers = [attempt.number for attempt in attempts]
        if numbers != list(range(1, len(attempts) + 1)):
            wrong.append(f"{execution}: its attempts are {numbers}")
    due: dict[str, Happening] = {}
    charged: Counter[str] = Counter()
    for event in history.events:
        if is_by_hand(event):  # it starts at once, and the count starts again
            due.pop(event.job, None)
            charged.pop(event.job, None)
        elif event.type == T.JOB_RETRYING and "retry_at" in event.details:
            due[event.job] = event
            if event.details.get("failure_type") != FailureType.WORKER_LOST:
                charged[event.job] += 1
                if charged[event.job] > history.jobs[event.job].max_retries:
                    wrong.append(f"{event.job} was retried {charged[event.job]} times (event {event.id})")
        elif event.type == T.JOB_STARTED and event.job in due:
            from django.utils.dateparse import parse_datetime

            retry_at = parse_datetime(due.pop(event.job).details["retry_at"])
            if retry_at is not None and event.at < retry_at - ROUNDING:
                wrong.append(f"{event.job} was retried {retry_at - event.at} too early")
    return wrong


def cancelled_stays_cancelled(history: History) -> list[str]:
    wrong = []
    for job_id, events in history.events_of().items():
        gone = False
        for event in events:
            gone = gone and not is_by_hand(event)
            if gone and event.type in (T.JOB_STARTED, T.JOB_COMPLETED, T.JOB_FAILED, T.JOB_RETRYING):
                wrong.append(f"{job_id}: {event.type} after it was cancelled (event {event.id})")
            gone = gone or event.type == T.JOB_CANCELLED
        job = history.jobs[job_id]
        if (gone or job.cancelled_at) and job.status != JobStatus.CANCELLED:
            wrong.append(f"{job_id} was cancelled and is {job.status}")
    return wrong


def bodies_ran_for_what_was_accepted(history: History) -> list[str]:
    """Each accepted success has a physical start under its fence in the witness file."""
    wrong = []
    for event in history.events:
        if event.type == T.JOB_COMPLETED:
            execution = event.details["execution_id"]
            if event.fence not in {fence for fence, _ in history.starts.get(execution, [])}:
                wrong.append(f"{execution} was accepted at fence {event.fence}, and no body started there")
    return wrong


def waits_are_explained(history: History) -> list[str]:
    """A job that waits for a failed dependency says so, or names the dependencies that wait for it."""
    wrong = []
    for job in history.jobs.values():
        states = {history.jobs[parent].status for parent in job.parents}
        runs_anyway = job.policy == OnDependencyFailure.RUN
        enough = {JobStatus.DONE, *(BAD if runs_anyway else ())}
        if job.status != JobStatus.PENDING or states <= enough:
            continue
        failed = not runs_anyway and bool(states.intersection(BAD))
        if (Code.DEPENDENCY_FAILED if failed else Code.DEPENDENCIES_UNFINISHED) not in job.explained:
            wrong.append(f"{job.id} waits for a dependency, and is explained by {job.explained}")
    return wrong


def programs_end_with_their_run(history: History) -> list[str]:
    return list(history.surviving_programs)


def lost_runs_start_again_soon(history: History) -> list[str]:
    """After its worker died, a run starts again within the lease and 10 s in which that was possible."""
    return [
        f"{execution}, attempt {number}: started again {able:.1f} s after its worker was lost"
        f" ({seconds:.1f} s by the clock), {PROMISED:.0f} s are promised"
        for execution, number, able, seconds in history.restarts()
        if able > PROMISED
    ]


def is_by_hand(event: Happening) -> bool:
    return event.type == T.JOB_RETRYING and bool(event.details.get("by_hand"))


CHECKS: tuple[Callable[[History], list[str]], ...] = (
    nothing_is_lost,
    one_result_each,
    one_owner_at_a_time,
    dependencies_come_first,
    limits_hold,
    exclusive_runs_are_alone,
    starts_keep_the_rate,
    retries_follow_their_policy,
    cancelled_stays_cancelled,
    bodies_ran_for_what_was_accepted,
    waits_are_explained,
    programs_end_with_their_run,
    lost_runs_start_again_soon,
)


def check(history: History) -> dict[str, list[str]]:
    return {rule.__name__: rule(history) for rule in CHECKS}


def figures(history: History) -> dict[str, int]:
    """The contents of the history, so that a green result means something."""
    outcomes = Counter(attempt.outcome for attempts in history.attempts.values() for attempt in attempts)
    restarted = sorted(seconds for _, _, seconds, _ in history.restarts())
    return {
        "jobs": len(history.jobs),
        "done": sum(job.status == JobStatus.DONE for job in history.jobs.values()),
        "failed": sum(job.status == JobStatus.FAILED for job in history.jobs.values()),
        "cancelled": sum(job.status == JobStatus.CANCELLED for job in history.jobs.values()),
        "blocked": sum(job.status == JobStatus.PENDING for job in history.jobs.values()),
        "attempts": sum(outcomes.values()),
        "lost attempts": outcomes[Outcome.LOST],
        "retried by hand": sum(is_by_hand(event) for event in history.events),
        "exclusive attempts": attempts_of(history, EXCLUSIVE),
        "limited attempts": attempts_of(history, LIMITED),
        "held at most": history.most_held,
        "runs without a job": sum(run.job is None for run in history.runs.values()),
        "restarts": len(restarted),
        "ms for the median restart": round(1000 * restarted[len(restarted) // 2]) if restarted else 0,
        "ms for the slowest": round(1000 * restarted[-1]) if restarted else 0,
        "physical starts": sum(len(starts) for starts in history.starts.values()),
        "events": len(history.events),
    }


def attempts_of(history: History, task: str) -> int:
    return sum(len(history.attempts.get(execution, ())) for execution in history.runs_of(task))
