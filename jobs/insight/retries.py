"""Why a retry by hand is refused, and what has to be retried first."""

from jobs.errors import Conflict
from jobs.insight.explain import job_facts, names
from jobs.models import Job
from jobs.sql import call, reports


def refusal(job: Job) -> Conflict:
    """The refusal of a job that a retry has not changed."""
    jobs = retry_first(job)
    if jobs:
        return Conflict("retry_dependencies_first", names=names(jobs), extra=job_facts(jobs))
    return Conflict("not_retryable", status=Job.objects.values_list("status", flat=True).get(pk=job.pk))


def retry_first(job: Job) -> list[Job]:
    """The failed and cancelled jobs with which it would fail again, in the order in which to retry them."""
    ids = [number for (number,) in call.rows(reports.RETRY_FIRST, {"job": job.pk})]
    return list(Job.objects.filter(pk__in=ids).only("id", "ref", "status", "seq").order_by("seq"))
