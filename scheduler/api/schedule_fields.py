"""The fields of schedules, and of rules that are previewed, in requests."""

from rest_framework import serializers

from jobs.api.framework.serializers import StrictSerializer
from jobs.schemas import LONGEST_DELAY_MS, LONGEST_TIMEOUT_MS
from jobs.states import Backoff, OnLost
from scheduler.api.schemas import KINDS, POLICIES
from scheduler.schedules.catchup import DEFAULT_GRACE_SECONDS
from scheduler.schedules.timezones import KOREAN_TIME
from scheduler.schedules.validation import (
    MAX_GRACE_SECONDS,
    MAX_INTERVAL_SECONDS,
    MAX_NOTIFY_AFTER,
    MAX_RETRIES,
)
from scheduler.states import Overlap

MAX_TIMES = 100


# The fields of a preview, which a schedule has too.
class RuleSerializer(StrictSerializer):
    kind = serializers.ChoiceField(KINDS, help_text="Each kind takes its own field below.")
    cron = serializers.CharField(
        required=False,
        allow_null=True,
        allow_blank=True,
        max_length=1000,
        help_text="For the kind cron: five fields, like `0 9 * * 1-5`, or six with the second first.",
    )
    every_seconds = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=MAX_INTERVAL_SECONDS,
        help_text="For the kind interval.",
    )
    at = serializers.DateTimeField(
        required=False, allow_null=True, help_text="For the kind once. Without an offset it is Korean time."
    )
    timezone = serializers.CharField(default=KOREAN_TIME, max_length=64, help_text="The time zone of `cron`.")
    starts_at = serializers.DateTimeField(
        required=False, allow_null=True, help_text="The schedule does not fire before this time."
    )
    ends_at = serializers.DateTimeField(
        required=False, allow_null=True, help_text="The schedule does not fire after this time."
    )

    def validate_cron(self, text: str | None) -> str:
        return text or ""


class PreviewSerializer(RuleSerializer):
    count = serializers.IntegerField(default=5, min_value=1, max_value=MAX_TIMES, help_text="How many times.")


class ScheduleSerializer(RuleSerializer):
    name = serializers.CharField(max_length=200)
    task_id = serializers.CharField(max_length=200, help_text="One of `GET /api/tasks`.")
    args = serializers.DictField(default=dict, help_text="Arguments that match the Task's `args_schema`.")
    enabled = serializers.BooleanField(default=True)
    overlap = serializers.ChoiceField(
        Overlap.choices,
        default=Overlap.SKIP.value,
        help_text="What happens if the previous run is still in progress.",
    )
    catch_up = serializers.ChoiceField(
        POLICIES,
        default="latest",
        help_text="Which of the runs missed in an outage are run afterwards.",
    )
    grace = serializers.IntegerField(
        default=DEFAULT_GRACE_SECONDS,
        min_value=1,
        max_value=MAX_GRACE_SECONDS,
        help_text="With the `catch_up` policy none: how many seconds late a run may still start.",
    )
    calendar = serializers.UUIDField(
        required=False, allow_null=True, help_text="A calendar of yours: at its days and times no run starts."
    )
    max_retries = serializers.IntegerField(default=3, min_value=0, max_value=MAX_RETRIES)
    retry_backoff = serializers.ChoiceField(
        Backoff.choices,
        required=False,
        allow_null=True,
        help_text="How the delay grows; null: exponential.",
    )
    retry_base_delay = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=0,
        max_value=LONGEST_DELAY_MS,
        help_text="The first delay, in milliseconds; default: the Task's.",
    )
    timeout_ms = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=LONGEST_TIMEOUT_MS,
        help_text="Time limit of an attempt; default: the Task's.",
    )
    on_lost = serializers.ChoiceField(
        OnLost.choices,
        required=False,
        allow_null=True,
        help_text="What happens if the worker dies; default: as the Task says.",
    )
    notify_after_failures = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=MAX_NOTIFY_AFTER,
        help_text="Notify when so many runs in a row have failed for good; null: never.",
    )
    notify_after_missed = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=MAX_NOTIFY_AFTER,
        help_text="Notify when so many scheduled runs were missed since the last success; null: never.",
    )
    notify_office = serializers.UUIDField(
        required=False,
        allow_null=True,
        help_text="An office in which you may act: its webhooks and mail addresses are notified too.",
    )

    def validate_retry_backoff(self, value: str | None) -> str:
        return value or ""

    def validate_on_lost(self, value: str | None) -> str:
        return value or ""
