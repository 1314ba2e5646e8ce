"""What is submitted, and what a submission answers, described in OpenAPI. jobs/submission.py reads it."""

from django.conf import settings
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from jobs import submission
from jobs.api import examples
from jobs.api.documents import Described, JobDocument
from jobs.api.framework.openapi_examples import answered, asked
from jobs.api.framework.serializers import StrictSerializer
from jobs.states import Backoff, OnDependencyFailure

ROLES = [(role, role) for role in settings.DURE_ROLES]


@extend_schema_serializer(component_name="JobSubmission", examples=[asked("one job", examples.ONE_JOB)])
class JobSubmissionDocument(StrictSerializer):
    ref = serializers.CharField(
        required=False,
        allow_null=True,
        allow_blank=True,
        max_length=submission.LONGEST_TEXT,
        help_text="The job's name within this submission.",
    )
    task_id = serializers.CharField(help_text="One of `GET /api/tasks`.")
    args = serializers.DictField(
        required=False, allow_null=True, help_text="As the Task's `args_schema` says; at most 256 KiB."
    )
    role = serializers.ChoiceField(
        ROLES,
        required=False,
        allow_null=True,
        help_text="Whose workers run it; the Task's own, unless given.",
    )
    priority = serializers.IntegerField(
        required=False,
        allow_null=True,
        default=100,
        min_value=-(2**31),
        max_value=2**31 - 1,
        help_text="The lower, the earlier.",
    )
    urgent = serializers.BooleanField(
        required=False, allow_null=True, default=False, help_text="Before everything that is not."
    )
    depends_on = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        allow_null=True,
        help_text="Refs of this submission, or ids of jobs that the office has already; each once.",
    )
    timeout_ms = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=submission.LONGEST_TIMEOUT_MS,
        help_text="How long an attempt may take; the Task's own or the office's, unless given.",
    )
    max_retries = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=0,
        max_value=submission.MOST_RETRIES,
        help_text="How often it is tried again by itself; the Task's own or the office's, unless given.",
    )
    retry_backoff = serializers.ChoiceField(
        Backoff.choices, required=False, allow_null=True, help_text="How the delays between attempts grow."
    )
    retry_base_delay = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=0,
        max_value=submission.LONGEST_DELAY_MS,
        help_text="The first delay, in milliseconds.",
    )
    on_dependency_failure = serializers.ChoiceField(
        OnDependencyFailure.choices,
        required=False,
        allow_null=True,
        default=OnDependencyFailure.BLOCK.value,
        help_text="When a dependency fails or is cancelled: wait until it is retried and done, fail as well, "
        "or run anyway.",
    )
    unique_key = serializers.CharField(
        required=False,
        allow_null=True,
        allow_blank=True,
        max_length=submission.LONGEST_TEXT,
        help_text="No two jobs of the office that have not ended share one.",
    )
    run_at = serializers.DateTimeField(
        required=False, allow_null=True, help_text="Not before this time, with an offset; within ten years."
    )


@extend_schema_serializer(component_name="BatchReference")
class BatchReferenceDocument(StrictSerializer):
    id = serializers.UUIDField(
        required=False, allow_null=True, help_text="One that the office has is added to; a new one is taken."
    )
    name = serializers.CharField(
        required=False, allow_null=True, allow_blank=True, max_length=submission.LONGEST_TEXT
    )


@extend_schema_serializer(
    component_name="BatchSubmission",
    examples=[asked("two jobs, one after the other", examples.TWO_JOBS)],
)
class BatchSubmissionDocument(StrictSerializer):
    batch = BatchReferenceDocument(required=False, allow_null=True)
    jobs = serializers.ListField(
        child=JobSubmissionDocument(),
        allow_empty=False,
        help_text="At most 10,000, with 100,000 dependencies.",
    )


class SubmittedBatchDocument(Described):
    id = serializers.UUIDField()
    name = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField()


@extend_schema_serializer(
    component_name="SubmittedJobs",
    examples=[answered("a batch", examples.SUBMITTED)],
)
class SubmittedDocument(Described):
    batch = SubmittedBatchDocument()
    jobs = JobDocument(many=True)
