"""The logs of Executions."""

from uuid import UUID

from django.http import HttpResponseBase
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.api.run_logs import TextRenderer, describe_file, describe_page, log_file, log_page
from scheduler.api.executions import ExecutionView


class ExecutionLogView(ExecutionView):
    @describe_page("execution_log", "The log of a run")
    def get(self, request: Request, execution_id: UUID) -> Response:
        return log_page(request, self.execution())


class ExecutionLogFileView(ExecutionView):
    renderer_classes = (JSONRenderer, TextRenderer)

    @describe_file("download_execution_log", "The log of a run as a file")
    def get(self, request: Request, execution_id: UUID) -> HttpResponseBase:
        return log_file(request, self.execution(), str(execution_id))
