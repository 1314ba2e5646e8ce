"""Workflow runs: start a run and wait for it, list, show, cancel, resume."""

import time
from typing import Annotated, Any, cast
from uuid import UUID

from django.shortcuts import get_object_or_404
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from jobs import serialize
from jobs.api.framework import waiting
from jobs.api.framework.authentication import user_of
from jobs.api.framework.idempotency import idempotent
from jobs.api.framework.openapi_errors import problems
from jobs.api.framework.openapi_examples import in_request, in_response
from jobs.api.framework.reading import read
from jobs.api.views import OPERATOR, accepted_response
from jobs.api_model import ApiIn, Omittable, Uuid
from jobs.models import Job
from jobs.states import MemberRole
from scheduler.access import workflow_for
from scheduler.api import examples
from scheduler.api.schemas import WorkflowRunOut, WorkflowRunWithResultsOut
from scheduler.clock import database_now
from scheduler.models import WorkflowRun
from scheduler.states import RUN_ENDED, RunStatus
from scheduler.workflows import runs

MAX_WAIT_SECONDS = 60
POLL_SECONDS = 0.2


def _not_null(value: object) -> object:
    if value is None:
        raise PydanticCustomError("null", "null")
    return value


class ExecuteIn(ApiIn):
    workflow_id: Uuid
    wait: Omittable[Annotated[float, Field(ge=0, le=MAX_WAIT_SECONDS)]] = Field(
        None, description="How long to wait for the end, in seconds."
    )
    input: Annotated[Any, BeforeValidator(_not_null)] = Field(
        None, description="What the steps read as `$input`; valid for the workflow's `input_schema`."
    )


class RunFilter(filters.FilterSet):  # type: ignore[misc]
    status = filters.ChoiceFilter(choices=RunStatus.choices, help_text="Only those in this state.")


class RunsView(GenericAPIView[WorkflowRun]):
    filterset_class = RunFilter
    queryset = WorkflowRun.objects.none()

    @extend_schema(operation_id="list_runs", responses=list[WorkflowRunOut])
    def get(self, request: Request, workflow_id: UUID) -> Response:
        """List the runs of a workflow, newest first. Each has its starts: the workflow_run_history."""
        workflow = workflow_for(user_of(request), workflow_id)
        all_runs = WorkflowRun.objects.filter(workflow=workflow).order_by("-scheduled_time")
        page = self.paginate_queryset(self.filter_queryset(all_runs.prefetch_related("history")))
        return self.get_paginated_response([WorkflowRunOut.write(row) for row in page or ()])


class RunView(APIView):
    def run(self, needed: str) -> WorkflowRun:
        workflow = workflow_for(user_of(self.request), self.kwargs["workflow_id"], needed)
        return get_object_or_404(WorkflowRun, workflow=workflow, pk=self.kwargs["run_id"])


class OneRunView(RunView):
    @extend_schema(operation_id="show_run", responses=WorkflowRunOut)
    def get(self, request: Request, workflow_id: UUID, run_id: UUID) -> Response:
        """Show a run of a workflow, with its starts."""
        return Response(WorkflowRunOut.write(self.run(MemberRole.VIEWER)))


class ResumeRunView(RunView):
    @extend_schema(
        operation_id="resume_run",
        responses={202: WorkflowRunOut},
        extensions=problems("not_resumable"),
    )
    def post(self, request: Request, workflow_id: UUID, run_id: UUID) -> Response:
        """Retry the failed and cancelled steps of a run. Steps that succeeded are kept."""
        run = self.run(OPERATOR)
        resumed = runs.resume(run.id, actor=user_of(request).get_username(), now=database_now())
        return _accepted_response(request, resumed)


class CancelRunView(RunView):
    @extend_schema(
        operation_id="cancel_run",
        responses={202: WorkflowRunOut},
        extensions=problems("run_not_running"),
    )
    def post(self, request: Request, workflow_id: UUID, run_id: UUID) -> Response:
        """Cancel a run in progress. It ends once its running steps have stopped, and is not retried."""
        run = self.run(OPERATOR)
        cancelled = runs.cancel(run.id, actor=user_of(request).get_username(), now=database_now())
        return _accepted_response(request, cancelled)


class ExecuteView(APIView):
    @extend_schema(
        operation_id="execute_workflow",
        request=ExecuteIn,
        responses={202: WorkflowRunOut, 200: WorkflowRunWithResultsOut},
        examples=[
            in_request("and wait for it", {"workflow_id": examples.WORKFLOW, "wait": 30}),
            in_request("with an input", {"workflow_id": examples.WORKFLOW, "input": {"month": "2026-11"}}),
            in_response("accepted", examples.RUN_WITH_HISTORY, 202),
            in_response("the run has ended", examples.RUN_WITH_RESULTS, 200),
        ],
        extensions=problems("no_steps", "not_found"),
    )
    def post(self, request: Request) -> Response:
        """Run a workflow now, whatever its mode. With `wait`, 200 and the jobs' results once it has ended."""
        wait = read(ExecuteIn, request.data).wait
        started = self._start(request)
        if wait:
            # Wait outside the transaction of the Idempotency-Key, since messages are sent after its commit.
            with waiting.waiting_slot() as may_wait:
                run = _wait_for(_run_id(started), wait) if may_wait else None
            if run is not None and run.status in RUN_ENDED:
                return Response(_with_results(run))
        return cast(Response, started)

    post.is_idempotent = True  # type: ignore[attr-defined]  # the API's schema shows the header

    @idempotent
    def _start(self, request: Request) -> Response:
        values = read(ExecuteIn, request.data)
        user, workflow_id = user_of(request), values.workflow_id
        workflow_for(user, workflow_id, OPERATOR)
        now = database_now()
        run = runs.run_now(workflow_id, user_id=user.pk, now=now, run_input=values.input)
        return _accepted_response(request, run)


def _accepted_response(request: Request, run: WorkflowRun) -> Response:
    location = request.build_absolute_uri(f"/api/workflows/{run.workflow_id}/runs/{run.id}")
    return accepted_response(WorkflowRunOut.write(run), location)


def _run_id(started: Any) -> str:
    # A first and a repeated answer have only the run's URL in common.
    return str(started["Location"]).rpartition("/")[2]


def _wait_for(run_id: str, seconds: float) -> WorkflowRun | None:
    """The run at its end or at the timeout; None if it was deleted."""
    until = time.monotonic() + seconds
    while True:
        runs.settle_runs(database_now(), UUID(run_id))
        run = WorkflowRun.objects.prefetch_related("history").filter(pk=run_id).first()
        if run is None or run.status in RUN_ENDED or time.monotonic() >= until:
            return run
        time.sleep(POLL_SECONDS)


def _with_results(run: WorkflowRun) -> dict[str, Any]:
    jobs = (
        list(serialize.with_job_fields(Job.objects.filter(batch=run.batch_id)).order_by("seq"))
        if run.batch_id
        else []
    )
    serialize.add_dependencies(jobs)
    return WorkflowRunWithResultsOut.write(run, results=jobs)
