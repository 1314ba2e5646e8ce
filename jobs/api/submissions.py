"""Submissions and the answer to them in OpenAPI; jobs/submission.py reads them."""

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from jobs import schemas
from jobs.api import examples
from jobs.api.batches import SubmittedBatchOut
from jobs.api.framework.openapi_examples import in_request, in_response
from jobs.api.framework.serializers import RoleField, StrictSerializer
from jobs.api_model import ApiOut
from jobs.serialize import JobOut
from jobs.states import Backoff, OnDependencyFailure


@extend_schema_serializer(component_name="JobSubmission", examples=[in_request("one job", examples.ONE_JOB)])
class JobSubmissionDocument(StrictSerializer):
    ref = serializers.CharField(
        required=False,
        allow_null=True,
        allow_blank=True,
        max_length=schemas.LONGEST_TEXT,
        help_text="The job's name within this submission.",
    )
    task_id = serializers.CharField(help_text="One of `GET /api/tasks`.")
    args = serializers.DictField(
        required=False, allow_null=True, help_text="Valid for the Task's `args_schema`; at most 256 KiB."
    )
    role = RoleField(
        required=False,
        allow_null=True,
        help_text="The role whose workers run it; default: the Task's.",
    )
    priority = serializers.IntegerField(
        required=False,
        allow_null=True,
        default=100,
        min_value=-(2**31),
        max_value=2**31 - 1,
        help_text="Lower runs earlier.",
    )
    urgent = serializers.BooleanField(
        required=False, allow_null=True, default=False, help_text="Runs before all jobs that are not urgent."
    )
    depends_on = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        allow_null=True,
        help_text="Refs of this submission, or ids of existing jobs of the office; each once.",
    )
    timeout_ms = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=schemas.LONGEST_TIMEOUT_MS,
        help_text="Time limit of an attempt; default: the Task's or the office's.",
    )
    queue_timeout_ms = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=schemas.LONGEST_TIMEOUT_MS,
        help_text="If the job has not started so long after it became ready, it fails with `timeout`.",
    )
    max_retries = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=0,
        max_value=schemas.MOST_RETRIES,
        help_text="Maximum number of automatic retries; default: the Task's or the office's.",
    )
    retry_backoff = serializers.ChoiceField(
        Backoff.choices, required=False, allow_null=True, help_text="How the delay grows from retry to retry."
    )
    retry_base_delay = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=0,
        max_value=schemas.LONGEST_DELAY_MS,
        help_text="The first delay, in milliseconds.",
    )
    on_dependency_failure = serializers.ChoiceField(
        OnDependencyFailure.choices,
        required=False,
        allow_null=True,
        default=OnDependencyFailure.BLOCK.value,
        help_text="When a dependency fails or is cancelled: wait until a retry succeeds, fail as well, "
        "or run anyway.",
    )
    unique_key = serializers.CharField(
        required=False,
        allow_null=True,
        allow_blank=True,
        max_length=schemas.LONGEST_TEXT,
        help_text="Unique among the unfinished jobs of the office.",
    )
    run_at = serializers.DateTimeField(
        required=False, allow_null=True, help_text="Earliest start, with an offset; within ten years."
    )


@extend_schema_serializer(component_name="BatchReference")
class BatchReferenceDocument(StrictSerializer):
    id = serializers.UUIDField(
        required=False,
        allow_null=True,
        help_text="Jobs are added to an existing batch.",
    )
    name = serializers.CharField(
        required=False, allow_null=True, allow_blank=True, max_length=schemas.LONGEST_TEXT
    )


@extend_schema_serializer(
    component_name="BatchSubmission",
    examples=[in_request("two jobs, one after the other", examples.TWO_JOBS)],
)
class BatchSubmissionDocument(StrictSerializer):
    batch = BatchReferenceDocument(required=False, allow_null=True)
    jobs = serializers.ListField(
        child=JobSubmissionDocument(),
        allow_empty=False,
        help_text="At most 10,000, with 100,000 dependencies.",
    )


@extend_schema_serializer(examples=[in_response("a batch", examples.SUBMITTED)])
class SubmittedJobsOut(ApiOut):
    batch: SubmittedBatchOut
    jobs: list[JobOut]
