"""A simple model of the engine: one office, in memory, one operation at a time."""

from collections.abc import Iterable
from dataclasses import dataclass, field

LIVE = ("pending", "timeout", "ready", "processing")
WAITING = ("pending", "timeout")
BAD = ("failed", "cancelled")
MAX_CRASHES = 3


@dataclass
class ModelJob:
    number: int
    deps: list[int]
    policy: str
    role: str
    priority: int
    urgent: bool
    max_retries: int
    status: str = "pending"
    run: str = ""  # "", "sent", "running", or "waits" for its retry
    later: bool = False  # due in the future
    retries: int = 0
    crashes: int = 0
    stop_requested: bool = False
    ended_before: bool = False


@dataclass
class ModelOffice:
    limit: int = 2
    by_role: dict[str, int] = field(default_factory=dict)
    paused: bool = False
    jobs: list[ModelJob] = field(default_factory=list)

    # --- what follows from a change ---

    def free(self, job: ModelJob) -> bool:
        statuses = [self.jobs[dep].status for dep in job.deps]
        return all(status == "done" or (job.policy == "run" and status in BAD) for status in statuses)

    def make_ready(self, jobs: Iterable[ModelJob]) -> None:
        for job in jobs:
            if job.status in WAITING and not job.later and self.free(job):
                job.status = "ready"

    def dispatch(self) -> None:
        if self.paused:
            return
        for job in sorted(self.jobs, key=lambda job: (not job.urgent, job.priority, job.number)):
            running = [other for other in self.jobs if other.status == "processing"]
            of_role = sum(other.role == job.role for other in running)
            if (
                job.status == "ready"
                and len(running) < self.limit
                and of_role < self.by_role.get(job.role, self.limit)
            ):
                job.status, job.run = "processing", "sent"

    def after_end(self, ended: list[ModelJob], direct: bool) -> None:
        wave = ended
        everything = list(ended)
        while True:
            numbers = {job.number for job in wave if job.status in BAD}
            wave = [
                job
                for job in self.jobs
                if job.status in WAITING and job.policy == "fail" and numbers.intersection(job.deps)
            ]
            if not wave:
                break
            for job in wave:
                job.status, job.ended_before, job.later = "failed", True, False
            everything += wave
            direct = True
        for parent in everything:
            for job in self.jobs:
                if parent.number in job.deps and (len(job.deps) == 1 or direct or parent.ended_before):
                    self.make_ready([job])

    # --- the verbs ---

    def submit(self, new: list[ModelJob]) -> None:
        self.jobs += new
        old = len(self.jobs) - len(new)
        self.make_ready(job for job in new if not job.deps)
        joined = [job for job in new if any(dep < old for dep in job.deps)]
        failed = [self.jobs[dep] for job in joined for dep in job.deps if self.jobs[dep].status in BAD]
        if failed:
            self.after_end(failed, True)
        self.make_ready(joined)
        self.dispatch()

    def process(self, *, later_too: bool = False) -> None:
        for job in self.jobs:
            job.later = job.later and not later_too
        self.make_ready(self.jobs)
        self.dispatch()

    def end(self, job: ModelJob, status: str) -> None:
        job.status, job.run = status, ""
        self.after_end([job], job.ended_before)
        self.dispatch()

    def finish(self, job: ModelJob, outcome: str, *, again: bool = False) -> None:
        if job.stop_requested:
            self.end(job, "cancelled")
        elif outcome == "success":
            self.end(job, "done")
        elif again and job.retries < job.max_retries:
            job.status, job.run = ("timeout" if outcome == "timeout" else "pending"), "waits"
            job.retries += 1
            job.later = True
            self.dispatch()
        else:
            self.end(job, "failed")

    def lose(self, job: ModelJob) -> None:
        if job.stop_requested:
            self.end(job, "cancelled")
            return
        job.crashes += 1
        if job.crashes >= MAX_CRASHES:
            self.end(job, "failed")
        else:
            job.run = "sent"
            self.dispatch()

    def cancel(self, jobs: list[ModelJob]) -> None:
        ended = []
        for job in jobs:
            if job.status not in LIVE:
                continue
            if job.run == "running":
                job.stop_requested = True
            else:
                job.status, job.run, job.later = "cancelled", "", False
                ended.append(job)
        if ended:
            self.after_end(ended, True)
        self.dispatch()

    def would_fail_again(self, job: ModelJob, retried: list[ModelJob]) -> bool:
        parents = [self.jobs[dep] for dep in job.deps]
        return job.policy == "fail" and any(p.status in BAD and p not in retried for p in parents)

    def retry(self, jobs: list[ModelJob]) -> None:
        again = [job for job in jobs if job.status in (*BAD, "timeout")]
        while blocked := [job for job in again if self.would_fail_again(job, again)]:
            again = [job for job in again if job not in blocked]
        for job in again:
            job.ended_before = job.ended_before or job.status != "timeout"
            job.status, job.run, job.later, job.stop_requested = "pending", "", False, False
            job.retries = job.crashes = 0
        self.make_ready(again)
        self.dispatch()
