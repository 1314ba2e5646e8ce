"""Checks that a history kept the limits of offices and of Tasks."""

from collections import defaultdict
from datetime import timedelta
from itertools import pairwise

from jobs.states import EventType, ExecutionStatus
from tests.chaos.bodies import EXCLUSIVE, LIMITED, MOST_STARTS, PERIOD
from tests.chaos.history import ENDS, History

# From, until, and the Execution.
Span = tuple[float, float, str]


def limits_hold(history: History) -> list[str]:
    """At no point of an office's event order are more runs live than its limits allow."""
    wrong = list(history.sampled_excess)
    running: dict[str, dict[str, str]] = defaultdict(dict)
    for event in history.events:
        job = history.jobs[event.job]
        if event.type == EventType.JOB_STARTED:
            running[event.office][event.job] = job.role
            limit, by_role = history.limits[event.office]
            if len(running[event.office]) > limit:
                wrong.append(
                    f"office {event.office}: {len(running[event.office])} run, {limit} may (event {event.id})"
                )
            of_role = sum(1 for role in running[event.office].values() if role == job.role)
            if of_role > by_role.get(job.role, limit):
                wrong.append(f"office {event.office}: {of_role} of {job.role} run (event {event.id})")
        elif event.type in ENDS:
            running[event.office].pop(event.job, None)
    return wrong


def exclusive_runs_are_alone(history: History) -> list[str]:
    """No two runs of the exclusive Task of one owner overlap: by their attempts, and by what bodies wrote."""
    runs = history.runs_of(EXCLUSIVE)
    attempts: dict[str, list[Span]] = defaultdict(list)
    bodies: dict[str, list[Span]] = defaultdict(list)
    for execution, run in runs.items():
        for attempt in history.attempts.get(execution, ()):
            if attempt.started_at and attempt.ended_at:
                span = (attempt.started_at.timestamp(), attempt.ended_at.timestamp(), execution)
                attempts[run.owner].append(span)
        if run.status == ExecutionStatus.SUCCESS:
            # A body of which a crash of the database undid the claim, and no other, may run beside others.
            ends = dict(history.ends.get(execution, ()))
            last = max(ends, default=0)
            bodies[run.owner] += [
                (at, ends[last], execution)
                for fence, at in history.starts.get(execution, ())
                if fence == last
            ]
    return [
        f"{owner}: the {what} of {later} started {1000 * (end - start):.1f} ms before that of {earlier} ended"
        for what, spans in (("attempt", attempts), ("body", bodies))
        for owner, of_owner in spans.items()
        for (_, end, earlier), (start, _, later) in pairwise(sorted(of_owner))
        if start < end
    ]


def starts_keep_the_rate(history: History) -> list[str]:
    """No period has more starts of the limited Task than its rate limit says, wherever it begins."""
    starts = sorted(
        attempt.started_at
        for execution in history.runs_of(LIMITED)
        for attempt in history.attempts.get(execution, ())
        if attempt.started_at
    )
    return [
        f"{MOST_STARTS + 1} starts within {(later - earlier).total_seconds():.6f} s, from {earlier} on"
        for earlier, later in zip(starts, starts[MOST_STARTS:], strict=False)
        if later - earlier < timedelta(seconds=PERIOD)
    ]
